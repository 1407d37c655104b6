"""LowNodeUtilization by measured use: NodeMetrics and PodMetrics, or one number a node from Prometheus."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.measured_use import MeasuredUse, QueryAnswer
from tests.builders import cluster, node, pod
from tests.unit.descheduler.walking import victims, walk

KUBERNETES = {"source": "KubernetesMetrics"}
LOW: dict[str, Any] = {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 50}, "metricsUtilization": KUBERNETES}
QUERY = "node:cpu"
PROMETHEUS: dict[str, Any] = {
    "thresholds": {"MetricResource": 30},
    "targetThresholds": {"MetricResource": 50},
    "metricsUtilization": {"source": "Prometheus", "prometheus": {"query": QUERY}},
}


def measured(nodes: dict[str, int], pods: dict[str, int]) -> MeasuredUse:
    """Millicores in use; memory next to none."""
    return MeasuredUse(
        {name: {CPU: amount, MEMORY: 1} for name, amount in nodes.items()},
        {f"default/{name}": {CPU: amount, MEMORY: 1} for name, amount in pods.items()},
    )


def crowd(use: MeasuredUse) -> Cluster:
    """Four pods that request next to nothing on one of two nodes, with samples."""
    pods = [pod(f"web-{number}", "1m", node="a", owner="web") for number in range(4)]
    return replace(cluster(node("a"), node("b"), *pods), measured=use)


def answered(**values: float) -> Cluster:
    """The same with an answer of Prometheus."""
    return crowd(MeasuredUse(answers={QUERY: QueryAnswer(values)}))


def test_measured_use_stands_in_for_requests() -> None:
    """3.2 of 4 cores in use, 0.8 each: two leave before it is at half; by requests nobody would."""
    world = crowd(measured({"a": 3200, "b": 100}, {f"web-{number}": 800 for number in range(4)}))
    assert victims(world, "LowNodeUtilization", LOW) == ["web-0", "web-1"]
    assert victims(world, "LowNodeUtilization", {key: LOW[key] for key in ("thresholds", "targetThresholds")}) == []


def test_a_pod_without_sample_is_passed_over() -> None:
    """Nobody knows what would go with it."""
    world = crowd(measured({"a": 3200, "b": 100}, {"web-1": 800, "web-3": 800}))
    assert victims(world, "LowNodeUtilization", LOW) == ["web-1", "web-3"]


def test_prometheus_lets_one_pod_go_or_as_many_as_the_limit() -> None:
    """What a pod has of the one number is not known, so nothing is subtracted."""
    world = answered(a=0.9, b=0.1)
    assert victims(world, "LowNodeUtilization", PROMETHEUS) == ["web-0"]
    limited = {**PROMETHEUS, "evictionLimits": {"node": 3}}
    assert victims(world, "LowNodeUtilization", limited) == ["web-0", "web-1", "web-2"]


@pytest.mark.parametrize(
    ("world", "arguments", "told"),
    [
        (crowd(MeasuredUse()), LOW, "there are no NodeMetrics of a"),
        (crowd(MeasuredUse(problem="metrics.k8s.io: not served")), LOW, "metrics.k8s.io: not served"),
        (crowd(measured({"a": 3200}, {})), LOW, "there are no NodeMetrics of b"),
        (answered(a=0.9), PROMETHEUS, "no sample of b"),
        (answered(a=1.2, b=0.1), PROMETHEUS, "the sample of a is 1.2; wanted one from 0 to 1"),
        (crowd(MeasuredUse()), PROMETHEUS, "no answer of Prometheus"),
        (crowd(MeasuredUse(answers={QUERY: QueryAnswer(problem="refused")})), PROMETHEUS, "refused"),
        (crowd(MeasuredUse()), {**LOW, "metricsUtilization": {}}, "metricsUtilization names no source"),
        (
            crowd(measured({"a": 1, "b": 1}, {})),
            {**LOW, "thresholds": {"gpu": 1}, "targetThresholds": {"gpu": 2}},
            "does not measure gpu",
        ),
    ],
)
def test_what_upstream_does_not_take_ends_in_an_error_that_is_told(
    world: Cluster, arguments: dict[str, Any], told: str
) -> None:
    """Nothing is evicted on load that nobody measured."""
    result = walk(world, "LowNodeUtilization", arguments)
    assert result.chosen == ()
    assert told in result.runs[0].message
    assert "ends with an error" in result.runs[0].message


def test_without_its_provider_in_the_file_the_plugin_ends_with_an_error() -> None:
    """Samples alone are not enough: the file says who is asked."""
    world = crowd(measured({"a": 3200, "b": 100}, {}))
    result = walk(world, "LowNodeUtilization", LOW, providers=frozenset())
    assert result.chosen == ()
    assert "no metrics provider gives KubernetesMetrics" in result.runs[0].message
