"""The custom metrics API (custom.metrics.k8s.io), as prometheus-adapter serves it: a request for each metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Final, Self, TypeAlias

import msgspec
from pydantic import StringConstraints

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.metrics.cluster_metrics import (
    ClusterMetrics,
    NotServedMetricsError,
    measured_amount,
    measured_time,
)
from rescheduler.adapters.metrics.provider_context import ProviderContext
from rescheduler.adapters.metrics.samples.node_columns import NodePoint, sample_of_points
from rescheduler.extension_points import MetricsProvider
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import MetricsSample
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds

VERSIONS: Final = ("v1beta1", "v1beta2")


class _Described(msgspec.Struct, gc=False):
    name: str = ""
    kind: str = "Node"


class _Value(msgspec.Struct, rename="camel"):
    described_object: _Described
    timestamp: str | None = None
    value: object = None


class _Values(msgspec.Struct):
    items: list[_Value]


MetricName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_:][-a-zA-Z0-9_:.]*$", max_length=253)]
"""A metric of the custom metrics API."""


class CustomMetricsArguments(PolicyModel):
    """The custom metrics API (custom.metrics.k8s.io), as prometheus-adapter serves it: nodes only, without history."""

    node_cpu: MetricName = "node_cpu_usage_avg"
    """Metric of nodes: use as a fraction of the node's cpu."""
    node_memory: MetricName = "node_memory_usage_avg"
    """Metric of nodes: use as a fraction of the node's memory."""
    timeout: PositiveDurationSeconds = 10.0
    """The longest wait for one answer."""


class CustomMetricsProvider(MetricsProvider):
    """Fractions of capacity by two metrics whose names are configurable; nodes only, without history."""

    name = "CustomMetrics"
    arguments = CustomMetricsArguments

    def __init__(self, arguments: CustomMetricsArguments, connection: Connection) -> None:
        self._cluster = ClusterMetrics(connection, self.name, arguments.timeout)
        self._metrics = {CPU: arguments.node_cpu, MEMORY: arguments.node_memory}
        self._version = VERSIONS[0]

    @classmethod
    def made(cls, arguments: CustomMetricsArguments, context: ProviderContext) -> Self:
        """With the connection to the cluster."""
        return cls(arguments, context.connected(cls.name))

    def sample(self, nodes: Sequence[Node], *, now: float, with_pods: bool) -> MetricsSample:  # noqa: ARG002
        """As MetricsProvider. One metric that is not served is a warning, both an error."""
        points: list[NodePoint] = []
        missing: list[NotServedMetricsError] = []
        for resource, metric in self._metrics.items():
            try:
                points += [_point(resource, value) for value in self._values(metric) if _is_node(value)]
            except NotServedMetricsError as error:
                missing.append(error)
        if len(missing) == len(self._metrics):
            raise missing[0]
        sample = sample_of_points(nodes, points, now)
        return replace(sample, warnings=(*sample.warnings, *map(str, missing)))

    def _values(self, metric: str) -> Sequence[_Value]:
        """The metric of all nodes, in the version of the API that answers; the last one that did is tried first."""
        refused: NotServedMetricsError | None = None
        for version in sorted(VERSIONS, key=lambda one: one != self._version):
            path = f"/apis/custom.metrics.k8s.io/{version}/nodes/*/{metric}"
            try:
                found = self._cluster.read(path, _Values).items
            except NotServedMetricsError as error:
                refused = refused or error
            else:
                self._version = version
                return found
        raise refused or AssertionError("there is a version")


def _is_node(value: _Value) -> bool:
    return value.described_object.kind == "Node"


def _point(resource: str, value: _Value) -> NodePoint:
    amount, problem = measured_amount(value.value)
    return NodePoint(resource, value.described_object.name, amount, measured_time(value.timestamp), problem)
