"""OnDemand: somebody asks, over the REST API, by a signal, or by an annotation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple

from rescheduler.daemon.triggers.setting import Setting, listed
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import Occasion, RoundReport, RoundRequest, Sight
from rescheduler.model.objects.annotations import RESCHEDULE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy_model import PolicyModel

MOST_VALUES: Final = 16
"""Values of one object that are remembered."""
_LONGEST_VALUE: Final = 256


class _Mark(NamedTuple):
    """An annotation found. ``holder``: whose values are one: a Deployment's and those of its ReplicaSets are."""

    holder: str
    where: str
    value: str


class OnDemandArgs(PolicyModel):
    """When somebody asks: over the REST API, by the signal USR1, or by an annotation."""


class OnDemand(Trigger):
    """Asks once for each request, and once for each value of the annotation that was not there before.

    Values that are there at the start are taken as known, but for times (RFC 3339) after it.
    """

    name = "OnDemand"
    arguments = OnDemandArgs

    def __init__(self, args: OnDemandArgs, setting: Setting) -> None:  # noqa: ARG002 - one signature for all
        self._started_at = setting.started_at
        self._known: dict[str, tuple[str, ...]] | None = None

    @classmethod
    def sentence(cls, args: OnDemandArgs) -> str:  # noqa: ARG003
        """In which ways."""
        return f"when somebody asks: over the REST API, by SIGUSR1, or by the annotation {RESCHEDULE}"

    def look(self, sight: Sight) -> Occasion | None:
        """Requests and new annotations, all of them for one round."""
        reasons = [*map(_told, sight.requests), *self._new_marks(sight.cluster)]
        return Occasion(self.name, listed(reasons), sight.cluster.taken_at) if reasons else None

    def wake_at(self, now: float) -> float | None:  # noqa: ARG002
        """Never: requests and annotations bring a look with them."""
        return None

    def answered(self, report: RoundReport) -> None:
        """Who asked gets a round, whatever comes of it."""

    def _new_marks(self, cluster: Cluster) -> list[str]:
        before = self._known
        known: dict[str, tuple[str, ...]] = {}
        told = []
        for mark in _marks(cluster):
            values = known.get(mark.holder) or (before or {}).get(mark.holder, ())
            if mark.value not in values:
                values = (*values, mark.value)[-MOST_VALUES:]
                if before is not None or self._is_after_start(mark.value):
                    told.append(f"annotation {RESCHEDULE}={printable(mark.value, 60)} on {mark.where}")
            known[mark.holder] = values
        self._known = known | _still_there(before or {}, known, cluster)
        return told

    def _is_after_start(self, value: str) -> bool:
        try:
            moment = datetime.fromisoformat(value)
            return moment.tzinfo is not None and moment.timestamp() > self._started_at
        except (ValueError, OverflowError):
            return False


def _marks(cluster: Cluster) -> Iterator[_Mark]:
    for namespace in cluster.namespaces:
        value = namespace.annotations.get(RESCHEDULE)
        if value:
            yield _Mark(f"namespace {namespace.name}", f"namespace {namespace.name}", value[:_LONGEST_VALUE])
    for workload in cluster.workloads:
        value = workload.annotations.get(RESCHEDULE) if workload.annotations else None
        if value:
            holder = workload.owner.uid if workload.owner is not None else workload.uid
            yield _Mark(holder or workload.key, workload.key, value[:_LONGEST_VALUE])


def _still_there(
    before: dict[str, tuple[str, ...]], now: dict[str, tuple[str, ...]], cluster: Cluster
) -> dict[str, tuple[str, ...]]:
    """Values of objects that bear none now, but may again: they are forgotten with the object."""
    left = before.keys() - now.keys()
    if not left:
        return {}
    present = {f"namespace {namespace.name}" for namespace in cluster.namespaces}
    for workload in cluster.workloads:
        present.update((workload.uid, workload.key))
    return {holder: before[holder] for holder in left & present}


def _told(request: RoundRequest) -> str:
    who = f" by {printable(request.who, 120)}" if request.who else ""
    reason = f": {printable(request.reason, 200)}" if request.reason else ""
    return f"{request.how}{who}{reason}"
