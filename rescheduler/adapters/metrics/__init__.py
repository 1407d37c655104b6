"""Metrics providers, one file each behind ``MetricsProvider``; a policy's ``usage.providers`` names them as here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rescheduler.adapters.metrics.arguments import (
    CustomMetricsArguments,
    MetricsServerArguments,
    PrometheusArguments,
    RecordedArguments,
)
from rescheduler.adapters.metrics.datadog_arguments import DatadogArguments
from rescheduler.adapters.metrics.elasticsearch.elasticsearch_arguments import ElasticsearchArguments
from rescheduler.adapters.metrics.factories import (
    custom_metrics,
    datadog,
    elasticsearch,
    influxdb,
    metrics_server,
    prometheus,
    recorded,
    signalfx,
)
from rescheduler.adapters.metrics.influxdb.influxdb_arguments import InfluxDBArguments
from rescheduler.adapters.metrics.registration import ProviderContext, ProviderKind, made_provider
from rescheduler.adapters.metrics.signalfx_arguments import SignalFxArguments
from rescheduler.extension_points import MetricsProvider
from rescheduler.policy.fields.usage import Provider

__all__ = ["PROVIDERS", "MetricsProvider", "ProviderContext", "ProviderKind", "provider_of"]

PROVIDERS: Final[Mapping[str, ProviderKind]] = {
    "Prometheus": ProviderKind(PrometheusArguments, prometheus),
    "MetricsServer": ProviderKind(MetricsServerArguments, metrics_server),
    "CustomMetrics": ProviderKind(CustomMetricsArguments, custom_metrics),
    "Elasticsearch": ProviderKind(ElasticsearchArguments, elasticsearch),
    "InfluxDB": ProviderKind(InfluxDBArguments, influxdb),
    "SignalFx": ProviderKind(SignalFxArguments, signalfx),
    "Datadog": ProviderKind(DatadogArguments, datadog),
    "Recorded": ProviderKind(RecordedArguments, recorded),
}
"""By the name in a policy: the model of its arguments, and what makes it."""


def provider_of(entry: Provider, context: ProviderContext, *, at: int = 0) -> MetricsProvider:
    """The provider that an entry of ``usage.providers`` asks for; sends nothing yet.

    ``at``: the entry's place in the list. Raises PolicyError with every argument that is wrong, and MetricsError where
    the provider needs a cluster and there is none.
    """
    return made_provider(PROVIDERS, entry, context, at)
