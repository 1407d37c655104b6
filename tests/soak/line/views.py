"""What a reader is shown when it is not shown the truth: old snapshots, and new ones with changes missing."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from random import Random

from rescheduler.adapters.simulated.simulated_cluster import as_read
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from tests.soak.world.world import World

EVERY_SECONDS = 20.0
LONGEST_SECONDS = 600.0


class Past:
    """Snapshots of the last ten minutes."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kept: deque[tuple[float, Cluster]] = deque(maxlen=int(LONGEST_SECONDS / EVERY_SECONDS) + 1)
        self._keep()

    def _keep(self) -> None:
        self._kept.append((self._world.clock.monotonic(), as_read(self._world.store.snapshot())))
        self._world.clock.after(EVERY_SECONDS, self._keep, is_background=True)

    def at(self, seconds_ago: float) -> tuple[float, Cluster]:
        """The snapshot nearest to so long ago, and when it was true."""
        wanted = self._world.clock.monotonic() - seconds_ago
        return min(self._kept, key=lambda kept: abs(kept[0] - wanted))

    def stale(self, seconds_ago: float, taken_at: float) -> tuple[float, Cluster]:
        """An old snapshot that claims to be of now."""
        when, cluster = self.at(seconds_ago)
        return when, replace(cluster, taken_at=taken_at)

    def mixed(self, seconds_ago: float, taken_at: float, random: Random) -> tuple[float, Cluster]:
        """The truth, but some pods are as they were: their last events were lost."""
        when, old = self.at(seconds_ago)
        now = as_read(self._world.store.snapshot())
        keys = {pod.key: None for pod in (*now.pods, *old.pods)}
        pods = []
        for key in sorted(keys):
            source = old if random.random() < 0.1 else now
            pod = source.pod_by_key.get(key)
            if pod is not None:
                pods.append(pod)
        pods.sort(key=lambda pod: (pod.namespace, pod.name))
        return when, replace(now, pods=tuple(pods), taken_at=taken_at)

    def pod(self, key: str, seconds_ago: float) -> tuple[float, Pod | None]:
        """A pod as it was."""
        when, cluster = self.at(seconds_ago)
        return when, cluster.pod_by_key.get(key)
