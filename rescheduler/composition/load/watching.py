"""The load watcher at work: a collector in a thread of its own, over a live cluster or a recorded one."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Final

from rescheduler.adapters.background import BackgroundThread
from rescheduler.composition.live.cluster_source import ClusterOptions, connected, read_cluster
from rescheduler.composition.load.metrics import Tell, check_store, make_providers, make_store
from rescheduler.extension_points import Clock
from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.usage.collecting.collected import Collected, Observe, Observed, news
from rescheduler.usage.collecting.collector import Collector

if TYPE_CHECKING:
    from rescheduler.adapters.kubernetes.client.connection import Connection


STOP_SECONDS: Final = 5.0
"""How long to wait for a tick to end; what it has not kept yet would be asked for again anyway."""
_ADVICE: Final = 'none; write where load comes from, such as providers: [{name: Prometheus, args: {address: "http://127.0.0.1:9090"}}]'


class UsageWatch:
    """Collects at the policy's beat from ``start`` to ``stop``; ``collected`` may be read from any thread."""

    def __init__(
        self, policy: Policy, options: ClusterOptions, clock: Clock, tell: Tell, *, observe: Observe | None = None
    ) -> None:
        """Look at the cluster once. ``tell`` hears, from any thread, what goes wrong and what is well again.

        ``observe``: how to look at the cluster; None: by reading it time and again.

        Raises PolicyError, SnapshotError and ClusterError.
        """
        if not policy.usage.providers:
            raise PolicyError([ReadingProblem("", 0, 0, "usage.providers", _ADVICE)])
        self._clock = clock
        self._tell = tell
        providers = make_providers(policy, options, tell)
        if not providers:
            raise PolicyError([ReadingProblem("", 0, 0, "usage.providers", "none of them can be asked here")])
        check_store(policy.usage)
        self._store = make_store(policy.usage, clock, tell)
        look = observe or observer(options, clock, policy.usage.pod_interval)
        self._collector = Collector(providers, look, policy.usage, store=self._store)
        self._after_tick: Callable[[], None] = lambda: None
        self._thread = BackgroundThread(self._run, "usage-collector")

    @property
    def collected(self) -> Collected:
        """What was known after the newest tick."""
        return self._collector.collected

    @property
    def is_running(self) -> bool:
        """Whether samples are being collected."""
        return self._thread.is_running

    def start(self, after_tick: Callable[[], None]) -> None:
        """Collect from now on; ``after_tick`` is called after each tick, in the collector's thread."""
        self._after_tick = after_tick
        self._thread.start()

    def stop(self) -> None:
        """Let the tick that runs end, and let go of the file."""
        self._thread.stop()
        if self._thread.join(STOP_SECONDS) and self._store is not None:
            self._store.close()

    def _run(self) -> None:
        before = self.collected

        def wait(seconds: float) -> bool:
            nonlocal before
            for text in news(before, self.collected):
                self._tell(text)
            before = self.collected
            self._after_tick()
            return self._thread.stopping.wait(seconds)

        self._collector.run(self._clock, wait)


def observer(options: ClusterOptions, clock: Clock, pod_interval: float) -> Observe:
    """Looks at the cluster; once now, so that one that cannot be read is found out."""
    if options.filenames:
        cluster = read_cluster(options)
        recorded = Observed(cluster.nodes, cluster.pods)
        return lambda: recorded
    live = LiveObserver(connected(options, read_only=True), clock, pod_interval)
    live()
    return live


class LiveObserver:
    """Looks at nodes each time, and at the many pods only every ``pod_interval`` seconds."""

    def __init__(self, connection: Connection, clock: Clock, pod_interval: float) -> None:
        from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
        from rescheduler.adapters.kubernetes.reading.reader import LiveReader

        node, pod = KIND_BY_NAME["Node"], KIND_BY_NAME["Pod"]
        self._nodes = LiveReader(connection, kinds=(node,))
        self._all = LiveReader(connection, kinds=(pod, node))
        self._clock = clock
        self._pod_interval = pod_interval
        self._pods: tuple[Pod, ...] = ()
        self._due = -inf

    def __call__(self) -> Observed:
        """Nodes as they are, pods as they were lately. Raises ClusterError."""
        if self._clock.monotonic() < self._due:
            return Observed(self._nodes.read().nodes, self._pods)
        cluster = self._all.read()
        self._pods = cluster.pods
        self._due = self._clock.monotonic() + self._pod_interval
        return Observed(cluster.nodes, cluster.pods)
