"""Waits until nothing stands that another run keeps: two plans at once would take each other's room."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.guidance.guidance_support import PREDICT, GuidanceSupport
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ExecutionTarget, Progress
from rescheduler.model.plan.leaving_taint import LEAVING, is_expired, plan_of

# Taints of ours that other runs left on nodes: those that ran out are removed, the others are waited for.


def remove_expired(fresh: FreshCluster, target: ExecutionTarget, guidance: str, outcomes: Outcomes) -> None:
    """Take taints off that nobody renews any more; where that may not be done they are told. Raises ClusterError."""
    now = fresh.now.taken_at
    nodes = [node for node, taint in fresh.taints.items() if is_expired(taint, now)]
    if not nodes:
        return
    reason = "guidance: Predict writes nothing but evictions" if guidance == PREDICT else target.can_taint()
    if reason is None:
        target.untaint(nodes)
        fresh.taints = {node: taint for node, taint in fresh.taints.items() if node not in nodes}
        return
    more = len(nodes) - MOST_TOLD
    told = ", ".join(nodes[:MOST_TOLD]) + (f" and {more} more" if more > 0 else "")
    outcomes.warnings.append(
        f"an earlier run left its taint {LEAVING} on {told}, which keeps pods off; remove it with `rescheduler clean` "
        f"(not done here: {reason})"
    )


def standing_of_others(fresh: FreshCluster, plan_id: str) -> list[str]:
    """Taints of other plans that still hold, for people."""
    now = fresh.now.taken_at
    return [
        f"taint on {node} of plan {plan_of(taint)}"
        for node, taint in fresh.taints.items()
        if plan_of(taint) != plan_id and not is_expired(taint, now)
    ]


MOST_TOLD: Final = 5


class OtherRuns(NamedTuple):
    """What other runs than that of ``plan_id`` keep in the cluster."""

    plan_id: str
    guidance: str
    support: GuidanceSupport
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
        placeholders = self.target.leftovers() if self.support.has_placeholders else ()
        taints = standing_of_others(self.fresh, self.plan_id)
        if taints:
            self.fresh.read()
            remove_expired(self.fresh, self.target, self.guidance, self.outcomes)
            taints = standing_of_others(self.fresh, self.plan_id)
        return [*placeholders, *taints]
