"""Load as a policy's providers tell it at one moment, in the form in which an archive keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.load.metrics import make_providers
from rescheduler.extension_points import MetricsError, MetricsProvider
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.load_report import LoadReport
from rescheduler.model.usage.samples import MetricsSample
from rescheduler.model.usage.usage_readings import Reading, percent_of
from rescheduler.policy.fields.policy import Policy

WINDOW_SECONDS = 60.0
"""What one sample stands for."""
_DIGITS = 3  # of a percentage: finer is noise, and cannot be packed
_TYPES = ((CPU, "CPU"), (MEMORY, "Memory"))


def measured_now(
    cluster: Cluster, policy: Policy, where: ClusterOptions, tell: Callable[[str], None]
) -> LoadReport | None:
    """What the first provider that answers says of a cluster that was just read; ``tell`` hears of the others."""
    return report_of(cluster, make_providers(policy, where, tell), tell)


def report_of(cluster: Cluster, providers: Sequence[MetricsProvider], tell: Callable[[str], None]) -> LoadReport | None:
    """The same of providers that are there already."""
    for provider in providers:
        try:
            sample = provider.sample(cluster.nodes, now=cluster.taken_at, with_pods=True)
        except MetricsError as error:
            tell(f"{provider.name}: {error}")
            continue
        end = cluster.taken_at
        return LoadReport(end, end - WINDOW_SECONDS, end, provider.name, _nodes(sample), _pods(sample, cluster))
    return None


def _nodes(sample: MetricsSample) -> Mapping[str, tuple[Reading, ...]]:
    values = sample.nodes.values
    return {
        name: tuple(
            Reading(kind, "Latest", round(100.0 * float(values[resource][-1][at]), _DIGITS))
            for resource, kind in _TYPES
            if resource in values and values[resource][-1][at] == values[resource][-1][at]
        )
        for at, name in enumerate(sample.nodes.nodes)
    }


def _pods(sample: MetricsSample, cluster: Cluster) -> Mapping[str, tuple[Reading, ...]]:
    if sample.pods is None:
        return {}
    found = {}
    for at, key in enumerate(sample.pods.pods):
        written = f"{key.namespace}/{key.name}"
        pod = cluster.pod_by_key.get(written)
        node = cluster.node_by_name.get(pod.node_name or "") if pod is not None else None
        if node is not None:
            capacity = dict(node.capacity or node.allocatable)
            amounts = {resource: float(sample.pods.values[resource][at]) for resource, _ in _TYPES}
            found[written] = tuple(_pod_readings(amounts, capacity))
    return found


def _pod_readings(amounts: Mapping[str, float], capacity: Mapping[str, int]) -> Iterator[Reading]:
    for resource, kind in _TYPES:
        percent = percent_of(amounts[resource], capacity.get(resource, 0))
        if percent == percent:
            yield Reading(kind, "Latest", round(percent, _DIGITS))
