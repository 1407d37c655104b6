"""A scheduler fed by the watcher over REST places as one that is fed by the provider itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.files.load_recording import read_load_recording
from rescheduler.composition.load.recorded_load import usage_windows
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import DISK, NETWORK, MetricsSample, NodeSamples, PodKey, PodSamples
from rescheduler.model.usage.usage import FloatArray, UsageWindows
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.usage import UsagePolicy
from rescheduler.scheduling.configuration import combined, read_configuration
from rescheduler.scheduling.reports import schedule_of
from rescheduler.scheduling.schedulers import MeasuredLoad, Schedulers
from rescheduler.usage.aligning import aligned
from rescheduler.usage.collecting.collected import Collected, Observed
from rescheduler.usage.collecting.collector import Collector
from tests.builders import NOW, cluster, node, pod
from tests.paths import EXAMPLES
from tests.unit.daemon.api.asking import asked
from tests.unit.daemon.api.records import SetSource

STEP = 15.0


@dataclass
class Noisy:
    """A provider whose nodes have a mean and a spread of load, at any time the same for one seed."""

    means: Sequence[float]
    name: str = "Prometheus"

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """The newest."""
        keys = tuple(PodKey("default", f"old-{place}") for place in range(len(nodes)))
        amounts = {CPU: np.full(len(keys), 150.0), MEMORY: np.full(len(keys), 2.0**28)}
        pods = PodSamples(keys, amounts, np.full(len(keys), now)) if with_pods else None
        return MetricsSample(self._at(nodes, np.array([now])), pods)

    def history(self, nodes: Sequence[Node], *, start: float, end: float, step_seconds: float) -> NodeSamples:
        """A quarter of an hour."""
        return self._at(nodes, np.arange(start + step_seconds, end, step_seconds))

    def _at(self, nodes: Sequence[Node], times: FloatArray) -> NodeSamples:
        spread = 0.04 * np.sin(times[:, None] / 37.0 + np.arange(len(nodes)))
        values = {
            CPU: np.clip(np.array(self.means) + spread, 0.001, 0.999),
            MEMORY: np.clip(np.array(self.means)[::-1] - spread, 0.001, 0.999),
        }
        nothing = np.full(spread.shape, np.nan)
        measured_at = np.broadcast_to(times[:, None], spread.shape).copy()
        return NodeSamples(
            tuple(one.name for one in nodes), times, {**values, NETWORK: nothing, DISK: nothing}, measured_at
        )


@dataclass(frozen=True)
class Given(MeasuredLoad):
    """Load that is known already."""

    known: UsageWindows | None

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """It."""
        return self.known

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """None."""
        return ()


def world(count: int, scheduler_name: str) -> Cluster:
    """Nodes with one old pod each, one pod that was bound lately, and pending pods of several sizes."""
    nodes = [node(f"n{place}", cpu="8", memory="32Gi") for place in range(count)]
    old = [pod(f"old-{place}", "200m", node=f"n{place}") for place in range(count)]
    late = pod("late-1", "2", node="n0", scheduled_at=NOW - 20, started_at=NOW - 20, created_at=NOW - 25)
    sizes = ("100m", "500m", "1", "2", "3")
    pending = [pod(f"new-{at}", size, scheduler_name=scheduler_name) for at, size in enumerate(sizes)]
    return cluster(*nodes, *old, late, *pending)


def scheduled(snapshot: Cluster, configuration: str, load: UsageWindows | None) -> list[tuple[str | None, list[str]]]:
    """Node and best nodes of each pending pod."""
    text = (EXAMPLES / configuration).read_text()
    read = read_configuration(text, configuration, scheduler_name="volcano" if "volcano" in configuration else None)
    schedulers = Schedulers(combined([(configuration, read)]), Given(load))
    found = schedule_of(snapshot, schedulers.model(schedulers.configured(snapshot), counts_nominated=True))
    return [(one.node, list(one.best_nodes)) for one in found.pods]


def collected(snapshot: Cluster, means: Sequence[float]) -> Collected:
    """What the collector knows after one tick over this provider."""
    seen = Observed(snapshot.nodes, snapshot.pods)
    return Collector([Noisy(means)], lambda: seen, UsagePolicy()).tick(NOW)


@pytest.mark.parametrize(
    ("configuration", "scheduler_name", "target"),
    [
        ("kube-scheduler-trimaran.yaml", "by-load", "/watcher"),
        ("kube-scheduler-trimaran.yaml", "by-load", "/watcher?pods=true&statistics=all"),
        ("volcano-scheduler.conf", "volcano", "/watcher?statistics=all&window=10m"),
    ],
)
@settings(max_examples=25)
@given(means=st.lists(st.floats(0.06, 0.94), min_size=2, max_size=6))
def test_both_place_alike(
    tmp_path_factory: pytest.TempPathFactory, configuration: str, scheduler_name: str, target: str, means: list[float]
) -> None:
    """The same nodes tie for the best, and the same is chosen, for every pending pod."""
    snapshot = world(len(means), scheduler_name)
    known = collected(snapshot, means)
    answer = asked(SetSource(known), target)
    assert answer.status == 200, answer.text
    file = tmp_path_factory.mktemp("load") / "load.json"
    file.write_bytes(answer.body)
    told = usage_windows(snapshot, Policy(), read_load_recording(str(file)))
    direct = aligned(known, snapshot.nodes, snapshot.pods)
    assert scheduled(snapshot, configuration, told) == scheduled(snapshot, configuration, direct)


def test_load_decides_at_all() -> None:
    """Else the test above would show nothing."""
    snapshot = world(4, "by-load")
    one, other = ([0.1, 0.5, 0.7, 0.9], [0.9, 0.7, 0.5, 0.1])
    placed = [
        scheduled(
            snapshot,
            "kube-scheduler-trimaran.yaml",
            aligned(collected(snapshot, means), snapshot.nodes, snapshot.pods),
        )
        for means in (one, other)
    ]
    assert placed[0] != placed[1]
