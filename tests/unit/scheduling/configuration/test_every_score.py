"""What holds for the scores of every configuration, whatever the cluster and the load."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf, nan
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.model.usage.usage_readings import Reading, usage_of
from rescheduler.scheduling.configuration import combined
from rescheduler.scheduling.reports import schedule_of, scores_of
from rescheduler.scheduling.schedulers import MeasuredLoad, Schedulers
from tests.unit.scheduling.configuration.reading import kube, read
from tests.unit.scheduling.random_clusters import Draw

# Percentages as providers give them at their worst.
VALUES = (0, 5, 50, 99, 100, 150, -3, nan, inf)
RATIO = """\
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: RequestedToCapacityRatio
        resources: [{name: example.com/gpu, weight: 5}, {name: memory, weight: 1}, {name: cpu, weight: 3}]
        requestedToCapacityRatio: {shape: [{utilization: 0, score: 10}, {utilization: 70, score: 3}]}
"""
LOAD_AWARE = """\
profiles:
- plugins:
    multiPoint: {enabled: [{name: TargetLoadPacking, weight: 7}, {name: LoadVariationRiskBalancing, weight: 3},
      {name: LowRiskOverCommitment}, {name: BestFitBinPack}, {name: SafeBalancing}]}
  pluginConfig:
  - {name: TargetLoadPacking, args: {targetUtilization: 100, watcherAddress: "http://w"}}
  - {name: LoadVariationRiskBalancing, args: {safeVarianceSensitivity: 0.3, safeVarianceMargin: 5}}
  - {name: LowRiskOverCommitment, args: {smoothingWindowSize: 1}}
"""
VOLCANO = """\
actions: "allocate"
tiers:
- plugins:
  - {name: predicates}
  - {name: nodeorder, arguments: {mostrequested.weight: 3}}
  - {name: binpack, arguments: {binpack.weight: 10, binpack.resources: example.com/gpu}}
  - {name: usage, arguments: {usage.weight: 7, thresholds: {cpu: 60, mem: 99}}}
metrics: {type: prometheus, address: "http://p"}
"""


class _Load(MeasuredLoad):
    """Random readings of every node, some of them no percentages."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def windows(self, cluster: Cluster) -> UsageWindows:
        """Alike for every length that is asked for."""
        names = [node.name for node in cluster.nodes]
        found = usage_of(names, {name: tuple(self._readings()) for name in names}, cluster.taken_at, 600.0)
        return UsageWindows(dict.fromkeys((300.0, 600.0, 900.0), found))

    def warnings(self, cluster: Cluster) -> tuple[str, ...]:
        """None."""
        return ()

    def _readings(self) -> Iterator[Reading]:
        for resource in ("CPU", "Memory"):
            for statistic in ("AVG", "STD"):
                if self._random.random() < 0.8:
                    yield Reading(resource, statistic, self._random.choice(VALUES))


def drawn(text: str, seed: int) -> tuple[Schedulers, Cluster]:
    """The default scheduler as a text configures it, over a random cluster under random load."""
    found = read(text, scheduler_name="default-scheduler" if text == VOLCANO else None)
    schedulers = Schedulers(combined([("text", found)]), _Load(Random(seed)))
    return schedulers, schedulers.configured(Draw(seed).cluster())


@pytest.mark.parametrize("text", [kube(RATIO), kube(LOAD_AWARE), VOLCANO], ids=["ratio", "load", "volcano"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_scores_stay_within_their_range_and_add_up(text: str, seed: int) -> None:
    """0 to 100 each after normalisation, a total by weights, and reasons where a pod does not fit."""
    schedulers, cluster = drawn(text, seed)
    model = schedulers.model(cluster)
    weights = {score.plugin.name: score.weight for score in model.profiles["default-scheduler"].scores}
    for pod in cluster.pods[:4]:
        for node in scores_of(model, pod.key).nodes:
            assert node.feasible == (not node.reasons)
            assert list(node.scores) == (list(weights) if node.feasible else [])
            assert all(0 <= score <= 100 for score in node.scores.values())
            total = sum(weights[name] * score for name, score in node.scores.items())
            assert node.total == (total if node.feasible else None)


@pytest.mark.parametrize("text", [kube(RATIO), kube(LOAD_AWARE), VOLCANO], ids=["ratio", "load", "volcano"])
@settings(max_examples=15)
@given(seed=st.integers(0, 2**32))
def test_each_pending_pod_has_a_node_among_the_best_or_a_reason(text: str, seed: int) -> None:
    """Never both, never neither."""
    schedulers, cluster = drawn(text, seed)
    for pod in schedule_of(cluster, schedulers.model(cluster, counts_nominated=True)).pods:
        assert (pod.node in pod.best_nodes) == (pod.node is not None) == bool(pod.best_nodes)
        assert (pod.node is None) == bool(pod.reasons)
