"""Arguments of the provider for Prometheus."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import Field, StringConstraints

from rescheduler.adapters.metrics.argument_text import HostPattern
from rescheduler.policy.fields.metrics_access import HttpAccess, HttpAddress
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds

LabelName: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z_][a-zA-Z0-9_]*$", max_length=200)]
"""A Prometheus label."""
PromQL: TypeAlias = Annotated[str, StringConstraints(min_length=1, max_length=20000)]
"""An expression that gives an instant vector."""


class OwnQuery(PolicyModel):
    """PromQL of the operator's own, in place of what is found by probing."""

    query: PromQL
    """One value for each host (or namespace and pod), for all of them at once."""
    time: PromQL | None = None
    """Seconds since the epoch at which each value was measured, by the same labels. Default: timestamp(query), which
    tells the time of the newest sample only where the query is a plain selector."""


class PrometheusQueries(PolicyModel):
    """Own PromQL by metric; what is left out is found by probing."""

    node_cpu: OwnQuery | None = None
    """Use as a fraction of the node's cpu, 0 to 1."""
    node_memory: OwnQuery | None = None
    """Use as a fraction of the node's memory, 0 to 1."""
    node_network: OwnQuery | None = None
    """Bytes per second, received and sent together."""
    node_disk: OwnQuery | None = None
    """Fraction of time in which the busiest device worked."""
    pod_cpu: OwnQuery | None = None
    """Cores, by the labels namespace and pod."""
    pod_memory: OwnQuery | None = None
    """Bytes of working set, by the labels namespace and pod."""


class PrometheusArguments(HttpAccess):
    """Prometheus, and what answers like it: Thanos, Mimir, VictoriaMetrics, managed services."""

    address: HttpAddress
    """Where its API is, with the path before /api/v1 if there is one."""
    matchers: Annotated[dict[LabelName, str], Field(max_length=20)] = Field(default_factory=dict)
    """Labels that series of this cluster have, such as cluster: prod; added to every query but your own."""
    rate_window: PositiveDurationSeconds = 120.0
    """The span over which rates of raw counters are taken, at least four scrape intervals; 5m is tried next."""
    queries: PrometheusQueries = PrometheusQueries()
    """Own PromQL by metric."""
    host_label: LabelName | None = None
    """The label that names the node. Default: node, nodename, kubernetes_node, instance, whichever fits."""
    host_pattern: HostPattern | None = None
    """What of the label's value is the host. Default: the value, with or without its port."""
