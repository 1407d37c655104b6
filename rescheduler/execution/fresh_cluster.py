"""The snapshot a plan is being carried out on, with its age."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.execution.holding import without_placeholders
from rescheduler.extension_points import Clock, ExecutionTarget
from rescheduler.model.cluster import Cluster


class FreshCluster:
    """The newest snapshot, without our own placeholders: the room that they keep is the plan's.

    ``as_seen``: what the configured schedulers make of a snapshot.
    """

    def __init__(self, target: ExecutionTarget, clock: Clock, as_seen: Callable[[Cluster], Cluster]) -> None:
        self._target = target
        self._clock = clock
        self._as_seen = as_seen
        self._read_at = float("-inf")
        self.now = Cluster()

    def read(self) -> Cluster:
        """Take a new snapshot."""
        self.now = self._as_seen(without_placeholders(self._target.read()))
        self._read_at = self._clock.monotonic()
        return self.now

    @property
    def age_seconds(self) -> float:
        """Time since the snapshot was there."""
        return self._clock.monotonic() - self._read_at
