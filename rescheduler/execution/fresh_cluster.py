"""The snapshot a plan is being carried out on, with its age, and with what one move depends on read anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from rescheduler.execution.guidance.hold_maker import without_placeholders
from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError
from rescheduler.extension_points import Clock, ExecutionTarget
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.leaving_taint import leaving_taints, without_leaving_taints
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity, patched

OLDEST_SNAPSHOT_SECONDS: Final = 9.0
"""A snapshot is taken anew where it is older than this, so that none is older than ten seconds when it is used."""


class FreshCluster:
    """The newest snapshot, without our own placeholders and taints: the room that they keep is the plan's.

    ``as_seen``: what the configured schedulers make of a snapshot. ``taints``: those of ours that stood then, by node.
    Ages are counted from where a reading began, since what it showed first may be as old as that.
    """

    def __init__(self, target: ExecutionTarget, clock: Clock, as_seen: Callable[[Cluster], Cluster]) -> None:
        self._target = target
        self._clock = clock
        self._as_seen = as_seen
        self._asked_at = float("-inf")
        self._took_seconds = 0.0
        self._looked_at = self._pod_read_at = float("-inf")
        self._looked_for: PodReference | None = None
        self._ahead_seconds = 0.0
        self._found = Cluster()
        self.now = Cluster()
        self.taints: Mapping[str, Taint] = {}

    def read(self) -> Cluster:
        """Take a new snapshot."""
        began = self._clock.monotonic()
        found = self._target.read()
        self._asked_at = began
        self._took_seconds = self._clock.monotonic() - began
        self._ahead_seconds = found.taken_at - began
        return self._take(found)

    def look_around(self, move: Move) -> Vicinity:
        """Read anew what one move depends on, and let the snapshot show it; told without its age, which is noted."""
        began = self._clock.monotonic()
        around = self._target.read_vicinity(move, self._found)
        self._looked_at, self._looked_for = began - around.age_seconds, move.pod
        self._pod_read_at = began - max(around.age_seconds, 0.0)
        self._take(patched(self._found, move, around, began + self._ahead_seconds))
        return around._replace(age_seconds=0.0)

    def foresee(self, move: Move) -> None:
        """What this move depends on is looked for next, if all goes well."""
        self._target.foresee(move, self._found)

    def pod_as_seen(self, move: Move) -> tuple[float, Pod | None] | None:
        """The pod of a move as the last look around has it, and when that was asked for; None: it was another's."""
        found = self._found.pod_by_key.get(move.pod.key)
        return (self._pod_read_at, found) if self._looked_for == move.pod else None

    def require_fast(self) -> None:
        """Raise PlanStoppedError if the newest snapshot was too old for any eviction when it was there at last."""
        if self._took_seconds > OLDEST_SNAPSHOT_SECONDS:
            raise PlanStoppedError(
                f"reading the cluster took {self._took_seconds:.0f} s, and nothing is evicted by what was true over "
                f"{OLDEST_SNAPSHOT_SECONDS:g} s ago; see why the API server answers slowly, then apply again to go on"
            )

    @property
    def age_seconds(self) -> float:
        """Time since the snapshot was asked for."""
        return self._clock.monotonic() - self._asked_at

    @property
    def look_age_seconds(self) -> float:
        """Time since what the last look around showed was true for certain."""
        return self._clock.monotonic() - self._looked_at

    @property
    def time(self) -> float:
        """The time by the cluster's clock when it was last read, carried on by ours that never jumps."""
        return self._clock.monotonic() + self._ahead_seconds

    def _take(self, found: Cluster) -> Cluster:
        self._found = found
        _ = found.pods_by_owner_uid  # worked out here once, each later snapshot has it from the one before
        self.taints = leaving_taints(found)
        self.now = self._as_seen(without_leaving_taints(without_placeholders(found)))
        return self.now


def pod_of(move: Move, cluster: Cluster) -> Pod:
    """The pod of a move in the newest snapshot. Raises PlanOvertakenError where it is another by now."""
    pod = cluster.pod_by_key.get(move.pod.key)
    if pod is None or pod.uid != move.pod.uid:
        raise PlanOvertakenError(f"{move.pod.key}, which is to move, is gone or another pod of the same name by now")
    return pod
