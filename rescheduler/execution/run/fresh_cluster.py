"""The snapshot a plan is being carried out on, with its age."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rescheduler.execution.guidance.hold_maker import without_placeholders
from rescheduler.extension_points import Clock, ExecutionTarget
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.plan.leaving_taint import leaving_taints, without_leaving_taints


class FreshCluster:
    """The newest snapshot, without our own placeholders and taints: the room that they keep is the plan's.

    ``as_seen``: what the configured schedulers make of a snapshot. ``taints``: those of ours that stood then, by node.
    """

    def __init__(self, target: ExecutionTarget, clock: Clock, as_seen: Callable[[Cluster], Cluster]) -> None:
        self._target = target
        self._clock = clock
        self._as_seen = as_seen
        self._read_at = float("-inf")
        self._ahead_seconds = 0.0
        self.now = Cluster()
        self.taints: Mapping[str, Taint] = {}

    def read(self) -> Cluster:
        """Take a new snapshot."""
        began = self._clock.monotonic()
        found = self._target.read()
        self.taints = leaving_taints(found)
        self.now = self._as_seen(without_leaving_taints(without_placeholders(found)))
        self._read_at = self._clock.monotonic()
        self._ahead_seconds = found.taken_at - began
        return self.now

    @property
    def age_seconds(self) -> float:
        """Time since the snapshot was there."""
        return self._clock.monotonic() - self._read_at

    @property
    def time(self) -> float:
        """The time by the cluster's clock when it was last read, carried on by ours that never jumps."""
        return self._clock.monotonic() + self._ahead_seconds
