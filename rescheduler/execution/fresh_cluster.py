"""The snapshot a plan is being carried out on, with its age."""

from __future__ import annotations

from rescheduler.execution.holding import without_placeholders
from rescheduler.extension_points import Clock, ExecutionTarget
from rescheduler.model.cluster import Cluster


class FreshCluster:
    """The newest snapshot, without our own placeholders: the room that they keep is the plan's."""

    def __init__(self, target: ExecutionTarget, clock: Clock) -> None:
        self._target = target
        self._clock = clock
        self._read_at = float("-inf")
        self.now = Cluster()

    def read(self) -> Cluster:
        """Take a new snapshot."""
        self.now = without_placeholders(self._target.read())
        self._read_at = self._clock.monotonic()
        return self.now

    @property
    def age_seconds(self) -> float:
        """Time since the snapshot was there."""
        return self._clock.monotonic() - self._read_at
