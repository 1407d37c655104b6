"""What a cluster's own metrics API says of its nodes and pods now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.objects.decoding.decode import ObjectError
from rescheduler.adapters.kubernetes.objects.measured_use import METRICS, MetricsList, UseOfMoment
from rescheduler.adapters.metrics.cluster_metrics import ClusterMetrics
from rescheduler.adapters.metrics.metrics_server import NODES_PATH, PODS_PATH
from rescheduler.extension_points import MetricsError
from rescheduler.model.objects.measured_use import MeasuredUse

_SECONDS: Final = 10.0


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
