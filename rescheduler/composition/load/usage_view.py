"""Measured load for people to look at: from a recording, from a running watcher's file, or from the providers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from rescheduler.composition.live.cluster_source import ClusterOptions, read_cluster
from rescheduler.composition.load.metrics import Tell, make_providers
from rescheduler.composition.load.recorded_load import PolicyLoad, usage_windows
from rescheduler.composition.load.watching import observer
from rescheduler.extension_points import Clock, MetricsProvider, StoreError, UsageStore
from rescheduler.model.printable import printable
from rescheduler.model.usage.samples import NodeSamples
from rescheduler.model.usage.usage import no_usage
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.usage import UsagePolicy
from rescheduler.policy.fields.values import format_duration
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem
from rescheduler.report.usage import UsageView
from rescheduler.usage.collecting.collected import Collected
from rescheduler.usage.collecting.collector import Collector

FRESH_INTERVALS: Final = 3.0
"""A watcher's file whose newest tick is older than this many intervals is not being written any more."""
_ADVICE: Final = "none; write where load comes from, or give a recording of it with --usage FILE"


class UsageGlance:
    """Looks at load over one window, as often as it is asked to."""

    def __init__(
        self,
        policy: Policy,
        options: ClusterOptions,
        window: float,
        clock: Clock,
        tell: Tell,
        *,
        usage_file: str | None = None,
        with_pods: bool = False,
    ) -> None:
        """Look at the cluster once. Raises PolicyError, SnapshotError and ClusterError."""
        self._clock = clock
        self._window = window
        self._look: Callable[[], UsageView]
        if usage_file is not None:
            recorded = _recorded(policy, options, usage_file)
            self._look = lambda: recorded
            return
        if not policy.usage.providers:
            raise PolicyError([ReadingProblem("", 0, 0, "usage.providers", _ADVICE)])
        self._observe = observer(options, clock, policy.usage.pod_interval)
        usage = policy.usage.model_copy(update={"windows": (window,)})
        if not with_pods and _is_written(usage, clock.now()):
            self._look = self._kept(usage)
        else:
            self._look = self._asked(make_providers(policy, options, tell), usage)

    def look(self) -> UsageView:
        """Load as it is now. Raises ClusterError and StoreError."""
        return self._look()

    def _asked(self, providers: Sequence[MetricsProvider], usage: UsagePolicy) -> Callable[[], UsageView]:
        collector = Collector(providers, self._observe, usage)
        return lambda: self._view(collector.tick(self._clock.now()))

    def _kept(self, usage: UsagePolicy) -> Callable[[], UsageView]:
        """The file is read anew each time, and judged as the watcher judges it but for what it remembers."""
        assert usage.store is not None
        path = Path(usage.store.path)

        def look() -> UsageView:
            seen = self._observe()
            collector = Collector((), lambda: seen, usage, store=_ReadStore(path))
            found = collector.tick(self._clock.now())
            if found.store_error:
                raise StoreError(found.store_error)
            return self._view(found, f"the watcher's file {usage.store.path}" if usage.store else "")

        return look

    def _view(self, found: Collected, source: str = "") -> UsageView:
        use = found.pod_use.get(self._window)
        return UsageView(
            found.nodes,
            found.pods,
            found.windows.over(self._window) or no_usage(len(found.nodes)),
            found.at,
            format_duration(self._window),
            source or found.source or "no provider",
            None if use is None else use.measured_at,
            tuple(_warnings(found)),
        )


class _ReadStore(UsageStore):
    """A watcher's file that is only read."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, samples: NodeSamples) -> None:
        """There is no provider, so that there is nothing to keep."""

    def restore(self, since: float) -> Sequence[NodeSamples]:
        """As UsageStore."""
        from rescheduler.adapters.files.sqlite.usage_store import read_usage_store

        return read_usage_store(self._path, since, lambda _: None)

    def close(self) -> None:
        """Nothing is open."""


def _is_written(usage: UsagePolicy, now: float) -> bool:
    """Whether a watcher keeps the policy's file up to date."""
    if usage.store is None or not Path(usage.store.path).is_file():
        return False
    try:
        newest = _ReadStore(Path(usage.store.path)).restore(now - FRESH_INTERVALS * usage.interval)
    except StoreError:
        return False
    return any(len(samples.times) for samples in newest)


def _recorded(policy: Policy, options: ClusterOptions, usage_file: str) -> UsageView:
    """A recording's own window, as the commands that plan would take it."""
    from rescheduler.adapters.files.load_recording import read_load_recording

    report = read_load_recording(usage_file)
    cluster = read_cluster(options)
    windows = usage_windows(cluster, policy, report)
    assert windows is not None  # there is a report
    [(seconds, usage)] = windows.by_seconds.items()
    name = printable(usage_file)
    warnings = tuple(PolicyLoad(policy, report, name).warnings(cluster))
    window = format_duration(round(seconds))
    return UsageView(cluster.nodes, cluster.pods, usage, cluster.taken_at, window, name, None, warnings)


def _warnings(found: Collected) -> list[str]:
    texts = [found.cluster_error]
    for health in found.providers:
        texts += [health.error, health.distrust, health.history_error]
        texts += [f"{health.name}: {text}" for text in health.warnings]
    return [text for text in texts if text]
