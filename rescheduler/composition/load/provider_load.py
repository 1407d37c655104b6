"""Measured load for commands that plan once: asked of the policy's providers, for as long as the command runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rescheduler.adapters.files.load_recording import read_load_recording
from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.load.metrics import make_providers
from rescheduler.composition.load.recorded_load import RecordedLoad
from rescheduler.extension_points import Clock, MetricsProvider, Progress, SnapshotError, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import printable
from rescheduler.model.usage.trust import Assessment
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import MeasuredLoad
from rescheduler.usage.aligning import aligned
from rescheduler.usage.collecting.collected import Collected, Observed
from rescheduler.usage.collecting.collector import Collector

if TYPE_CHECKING:
    from rescheduler.usage.collecting.provider_health import ProviderHealth


_IN_PLACE = "requests stand in for measured load"


class ProviderLoad(MeasuredLoad):
    """Load as the policy's providers tell it now, asked again at most once in each ``usage.interval``.

    A provider that fails is a warning, never an error: what is not known is left unknown.
    """

    def __init__(self, policy: Policy, options: ClusterOptions, clock: Clock, progress: Progress = no_progress) -> None:
        """Sends nothing yet. Raises PolicyError for arguments that cannot be used."""
        self._clock = clock
        self._progress = progress
        self._is_recorded = all(provider.name == "Recorded" for provider in policy.usage.providers)
        self._maximum_age = policy.usage.trust.maximum_age if options.filenames else None
        self._interval = policy.usage.interval
        self._told: list[str] = []
        self._providers: Sequence[MetricsProvider] = make_providers(policy, options, self._told.append)
        self._observed = Observed(())
        self._collector = Collector(self._providers, lambda: self._observed, policy.usage)
        self._asked_at: float | None = None
        self._known: WeakKeyDictionary[Cluster, UsageWindows | None] = WeakKeyDictionary()

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """Load of a snapshot's nodes and pods; None where no provider can tell of them. Once for each snapshot."""
        if cluster not in self._known:
            self._known[cluster] = self._measured(cluster)
        return self._known[cluster]

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """Why load is not known or not believed."""
        measured = self.windows(cluster)
        if not self._providers:
            return (*self._told, f"usage: {_IN_PLACE}")
        if self._is_too_old(cluster):
            age = _rounded(self._clock.now() - cluster.taken_at)
            text = f"usage: the recording was taken {age} ago and providers tell of now, so {_IN_PLACE}"
            return (f"{text}; --usage FILE gives the load of that time",)
        collected = self._collector.collected
        doubts = () if measured is None else _doubts(shortest_assessment(measured))
        return (*self._told, *_complaints(collected), *doubts)

    def _measured(self, cluster: Cluster) -> UsageWindows | None:
        if not self._providers or self._is_too_old(cluster):
            return None
        self._observed = Observed(cluster.nodes, cluster.pods)
        now = self._clock.monotonic()
        if self._asked_at is None or now - self._asked_at >= self._interval:
            self._progress(f"asking {', '.join(provider.name for provider in self._providers)} for measured load")
            self._collector.tick(self._time_of(cluster))
            self._asked_at = now
        return aligned(self._collector.collected, cluster.nodes, cluster.pods)

    def _time_of(self, cluster: Cluster) -> float:
        """The time of which load is asked: that of a recording where load is recorded too."""
        is_past = self._is_recorded and self._maximum_age is not None and cluster.taken_at > 0
        return cluster.taken_at if is_past else self._clock.now()

    def _is_too_old(self, cluster: Cluster) -> bool:
        """Whether a recording is of another time than the one of which providers tell."""
        return self._maximum_age is not None and self._time_of(cluster) - cluster.taken_at > self._maximum_age


def recorded_answer(policy: Policy, options: ClusterOptions) -> MeasuredLoad | None:
    """A recorded cluster's load where the policy's one provider is a recording of one answer: as ``--usage`` gives it.

    One answer is a window already, of which no samples can be gathered. None for anything else, a file that cannot be
    read too: a provider's faults are warnings.
    """
    names = [provider.name for provider in policy.usage.providers]
    if names != ["Recorded"] or not options.filenames:
        return None
    file = str(policy.usage.providers[0].args["file"])
    try:
        with Path(file).open("rb") as stream:
            if not stream.read(4096).lstrip().startswith(b"{"):
                return None
        return RecordedLoad(policy, read_load_recording(file), printable(file))
    except (OSError, ValueError, SnapshotError):
        return None


def _rounded(seconds: float) -> str:
    """An age in its largest unit."""
    for size, unit in ((86400.0, "days"), (3600.0, "hours"), (60.0, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} seconds"


def shortest_assessment(windows: UsageWindows) -> Assessment:
    """Trust over the shortest window, which objects to the fewest nodes."""
    found = windows.by_seconds[min(windows.by_seconds)].assessment if windows.by_seconds else None
    return found if found is not None else Assessment(())


def _complaints(collected: Collected) -> Iterator[str]:
    """What providers say, and what is said of them."""
    for health in collected.providers:
        yield from (f"usage: {text}" for text in _texts(health))


def _texts(health: ProviderHealth) -> Iterator[str]:
    for text in (health.error, health.distrust, health.history_error):
        if text:
            yield text
    for text in health.warnings:
        yield f"{health.name}: {text}"


def _doubts(assessment: Assessment) -> Iterator[str]:
    """Nodes that are not believed, counted by state with an example each; and what stands in."""
    doubted = [trust for trust in assessment.nodes if not trust.is_usable]
    for state, count in sorted(Counter(trust.state for trust in doubted).items()):
        reason = min(trust.reason for trust in doubted if trust.state is state)
        nodes = f"{count} of {len(assessment.nodes)} nodes"
        yield f"usage: the load of {nodes} is not believed: {state}: {reason}"
    if assessment.falls_back:
        yield f"usage: {_IN_PLACE}: too few nodes have load that is believed"
    elif assessment.freeze:
        yield f"usage: nothing is moved by measured load: {assessment.freeze}"
