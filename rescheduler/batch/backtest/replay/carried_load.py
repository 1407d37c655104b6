"""Load that follows the pods of a history: what a node uses beyond its pods stays with the node. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isfinite

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.load_report import LoadReport
from rescheduler.model.usage.usage_readings import RESOURCE_OF_TYPE, Reading, statistics_of

_LEVELS = ("", "avg", "latest", "max", "min")
"""Statistics that move with a pod; a deviation stays the node's."""


def carried(report: LoadReport, recorded: Cluster, history: Cluster) -> LoadReport:
    """A report about the archive's cluster as one about the history's, which holds the same nodes and pods."""
    if all(pod.node_name == _node(recorded, pod.key) for pod in history.pods):
        return report
    use = {resource: _use_of_pods(report, recorded, resource) for resource in (CPU, MEMORY)}
    shift = {resource: _shift(amounts, recorded, history) for resource, amounts in use.items()}
    nodes = {name: tuple(_shifted(one, name, shift, history) for one in found) for name, found in report.nodes.items()}
    return report._replace(nodes=nodes, pods=_pods(report, use, history))


def _node(cluster: Cluster, key: str) -> str | None:
    pod = cluster.pod_by_key.get(key)
    return None if pod is None else pod.node_name


def _capacity(cluster: Cluster, node: str, resource: str) -> float:
    found = cluster.node_by_name[node]
    return float(dict(found.capacity or found.allocatable).get(resource, 0))


def _level(readings: Sequence[Reading], resource: str) -> float | None:
    found = statistics_of(readings, resource)
    value = found.get("average", found.get("latest"))
    return value if value is not None and isfinite(value) else None


def _use_of_pods(report: LoadReport, recorded: Cluster, resource: str) -> dict[str, float]:
    """What each pod uses: as measured, else its share of its node's use by requests; one without node as requested."""
    use: dict[str, float] = {}
    for name, pods in recorded.pods_by_node.items():
        if name not in recorded.node_by_name:
            continue
        capacity = _capacity(recorded, name, resource)
        measured = {pod.key: _level(report.pods.get(pod.key, ()), resource) for pod in pods}
        known = {key: value * capacity / 100 for key, value in measured.items() if value is not None}
        requests = {pod.key: float(dict(pod.spec.requests).get(resource, 0)) for pod in pods if pod.key not in known}
        level = _level(report.nodes.get(name, ()), resource)
        left = max(0.0, (level or 0.0) * capacity / 100 - sum(known.values()))
        asked = sum(requests.values())
        part = left / asked if asked else 0.0
        part = 1.0 if level is None else min(part, 1.0) if known else part
        use |= known | {key: part * request for key, request in requests.items()}
    for pod in recorded.pods:
        if pod.node_name is None:
            use[pod.key] = float(dict(pod.spec.requests).get(resource, 0))
    return use


def _shift(use: Mapping[str, float], recorded: Cluster, history: Cluster) -> dict[str, float]:
    """How much more each node uses in the history than in the archive."""
    more: dict[str, float] = defaultdict(float)
    for cluster, sign in ((recorded, -1.0), (history, 1.0)):
        for pod in cluster.pods:
            if pod.node_name is not None and not pod.is_finished:
                more[pod.node_name] += sign * use.get(pod.key, 0.0)
    return more


def _shifted(one: Reading, node: str, shift: Mapping[str, Mapping[str, float]], history: Cluster) -> Reading:
    resource = RESOURCE_OF_TYPE.get(one.type.lower())
    if resource is None or one.operator.lower() not in _LEVELS or node not in history.node_by_name:
        return one
    capacity = _capacity(history, node, resource)
    if not capacity:
        return one
    return one._replace(value=max(0.0, one.value + 100 * shift[resource].get(node, 0.0) / capacity))


def _pods(
    report: LoadReport, use: Mapping[str, Mapping[str, float]], history: Cluster
) -> Mapping[str, tuple[Reading, ...]]:
    """Readings of pods in percent of the nodes on which they stand now."""
    if not report.pods:
        return report.pods
    found = {}
    for pod in history.pods:
        if pod.node_name in history.node_by_name and pod.key in report.pods and pod.node_name is not None:
            found[pod.key] = tuple(_on(one, pod.key, pod.node_name, use, history) for one in report.pods[pod.key])
    return found


def _on(one: Reading, key: str, node: str, use: Mapping[str, Mapping[str, float]], history: Cluster) -> Reading:
    resource = RESOURCE_OF_TYPE.get(one.type.lower())
    capacity = 0.0 if resource is None else _capacity(history, node, resource)
    if resource is None or not capacity or one.operator.lower() not in _LEVELS:
        return one
    return one._replace(value=100 * use[resource].get(key, 0.0) / capacity)
