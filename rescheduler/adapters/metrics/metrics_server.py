"""The resource metrics API (metrics.k8s.io), as metrics-server and others serve it: the newest use, without history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import fsum, isnan, nan
from typing import Any, Final, Self

import msgspec
import numpy as np

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError
from rescheduler.adapters.kubernetes.objects.measured_use import METRICS, MetricsList, UseOfMoment
from rescheduler.adapters.metrics.cluster_metrics import ClusterMetrics, measured_amount, measured_time
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.samples.node_columns import NodePoint, capacities, sample_of_points
from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.measured_use import MeasuredUse
from rescheduler.model.usage.samples import MetricsSample, PodKey, PodSamples
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds

_SECONDS: Final = 10.0


NODES_PATH = "/apis/metrics.k8s.io/v1beta1/nodes"
PODS_PATH = "/apis/metrics.k8s.io/v1beta1/pods"


class _Meta(msgspec.Struct, gc=False):
    name: str = ""
    namespace: str = ""


class _Container(msgspec.Struct, gc=False):
    usage: dict[str, Any] = msgspec.field(default_factory=dict)


class _NodeMetrics(msgspec.Struct):
    metadata: _Meta
    timestamp: str | None = None
    usage: dict[str, Any] = msgspec.field(default_factory=dict)


class _PodMetrics(msgspec.Struct):
    metadata: _Meta
    timestamp: str | None = None
    containers: list[_Container] = msgspec.field(default_factory=list)


class _NodeList(msgspec.Struct):
    items: list[_NodeMetrics]


class _PodList(msgspec.Struct):
    items: list[_PodMetrics]


class MetricsServerArguments(PolicyModel):
    """The resource metrics API (metrics.k8s.io) of the cluster itself; it has no history."""

    timeout: PositiveDurationSeconds = 10.0
    """The longest wait for one answer."""


class MetricsServerProvider(MetricsProvider):
    """Use over metrics-server's own short window, as a share of the node's capacity, at the time that it gives."""

    name = "MetricsServer"
    arguments = MetricsServerArguments

    def __init__(self, arguments: MetricsServerArguments, connection: Connection) -> None:
        self._cluster = ClusterMetrics(connection, self.name, arguments.timeout)

    @classmethod
    def made(cls, arguments: MetricsServerArguments, context: ProviderContext) -> Self:
        """With the connection to the cluster."""
        return cls(arguments, context.connected(cls.name))

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:
        """As MetricsProvider. Pods that cannot be read are a warning."""
        found = self._cluster.read(NODES_PATH, _NodeList).items
        sample = sample_of_points(nodes, _points(found, nodes), now)
        if not with_pods:
            return sample
        try:
            pods = _pods(self._cluster.read(PODS_PATH, _PodList).items)
        except MetricsError as error:
            return replace(sample, warnings=(*sample.warnings, f"pods: {error}"))
        return replace(sample, pods=pods)


def _points(found: Sequence[_NodeMetrics], nodes: Sequence[Node]) -> list[NodePoint]:
    points = []
    for resource in (CPU, MEMORY):
        capacity = dict(zip((node.name for node in nodes), capacities(nodes, resource), strict=True))
        for one in found:
            if resource not in one.usage:
                continue
            amount, problem = measured_amount(one.usage[resource])
            share = amount / float(capacity.get(one.metadata.name, nan))
            points.append(NodePoint(resource, one.metadata.name, share, measured_time(one.timestamp), problem))
    return points


def _pods(found: Sequence[_PodMetrics]) -> PodSamples:
    """Sums over containers; a pod with a container that cannot be read is unknown in that resource."""
    cpu, memory, times = (np.full(len(found), nan) for _ in range(3))
    for at, pod in enumerate(found):
        usages = [container.usage for container in pod.containers]
        cpu[at], memory[at] = 1000.0 * _sum(usages, CPU), _sum(usages, MEMORY)
        times[at] = measured_time(pod.timestamp)
    pods = tuple(PodKey(one.metadata.namespace, one.metadata.name) for one in found)
    has_time = ~np.isnan(times)
    values = {CPU: np.where(has_time, cpu, nan), MEMORY: np.where(has_time, memory, nan)}
    return PodSamples(pods, values, times)


def _sum(usages: Sequence[Mapping[str, Any]], resource: str) -> float:
    amounts = [measured_amount(usage.get(resource))[0] for usage in usages]
    return nan if not amounts or any(map(isnan, amounts)) else fsum(amounts)


def use_from_cluster(connection: Connection) -> MeasuredUse:
    """What the metrics API says now; where it says nothing, why."""
    cluster, use = ClusterMetrics(connection, "metrics.k8s.io", _SECONDS), UseOfMoment()
    try:
        for kind, path in zip(METRICS, (NODES_PATH, PODS_PATH), strict=True):
            use.take_list(kind, cluster.read(path, MetricsList).items)
    except (MetricsError, ObjectError) as error:
        return MeasuredUse(problem=str(error))
    return use.found


def use_of_nodes(connection: Connection) -> Mapping[str, Mapping[str, int]]:
    """Millicores and bytes by node, as the metrics API says now. Raises MetricsError."""
    cluster, use = ClusterMetrics(connection, "metrics.k8s.io", _SECONDS), UseOfMoment()
    try:
        use.take_list(METRICS[0], cluster.read(NODES_PATH, MetricsList).items)
    except ObjectError as error:
        raise MetricsError(str(error)) from None
    return use.found.nodes
