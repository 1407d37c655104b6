"""Waits until nothing stands that another run keeps: two plans at once would take each other's room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rescheduler.execution.earlier_taints import remove_expired, standing_of_others
from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.means import Means
from rescheduler.execution.outcomes import Outcomes
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ExecutionTarget, Progress

MOST_TOLD: Final = 5


class OtherRuns(NamedTuple):
    """What other runs than that of ``plan_id`` keep in the cluster."""

    plan_id: str
    guidance: str
    means: Means
    target: ExecutionTarget
    fresh: FreshCluster
    outcomes: Outcomes

    def wait(self, polls: Iterator[None], progress: Progress) -> None:
        """Wait for them to end, as long as ``polls`` go on. Raises PlanStoppedError, which names what stands."""
        standing: list[str] = []
        for _ in polls:
            standing = self._standing()
            if not standing:
                return
            progress("waiting for the placeholders of another run")
        raise PlanStoppedError(
            f"placeholders of another run stand ({', '.join(standing[:MOST_TOLD])}): let it end first, or remove "
            "them with `rescheduler clean`"
        )

    def _standing(self) -> list[str]:
        """Names of placeholders, and taints that still hold; a fresh look at those that may have run out."""
        placeholders = self.target.leftovers() if self.means.has_placeholders else ()
        taints = standing_of_others(self.fresh, self.plan_id)
        if taints:
            self.fresh.read()
            remove_expired(self.fresh, self.target, self.guidance, self.outcomes)
            taints = standing_of_others(self.fresh, self.plan_id)
        return [*placeholders, *taints]
