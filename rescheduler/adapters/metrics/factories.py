"""Makes each provider of its arguments; a provider's own code is only loaded when it is asked for."""

from __future__ import annotations

from rescheduler.adapters.metrics.arguments import (
    CustomMetricsArguments,
    MetricsServerArguments,
    PrometheusArguments,
    RecordedArguments,
)
from rescheduler.adapters.metrics.datadog_arguments import DatadogArguments
from rescheduler.adapters.metrics.elasticsearch.elasticsearch_arguments import ElasticsearchArguments
from rescheduler.adapters.metrics.http.credentials import SecretHeader
from rescheduler.adapters.metrics.http.http_session import HttpSession, http_session
from rescheduler.adapters.metrics.influxdb.influxdb_arguments import InfluxDBArguments
from rescheduler.adapters.metrics.registration import ProviderContext
from rescheduler.adapters.metrics.signalfx_arguments import SignalFxArguments
from rescheduler.extension_points import MetricsProvider
from rescheduler.policy.fields.metrics_access import HttpAccess

# Makes the providers of databases and services outside the cluster; each one's code is loaded when it is asked for.


def elasticsearch(arguments: ElasticsearchArguments, context: ProviderContext) -> MetricsProvider:
    """Elasticsearch and OpenSearch."""
    from rescheduler.adapters.metrics.elasticsearch.elasticsearch import ElasticsearchProvider, elasticsearch_headers

    headers = elasticsearch_headers(arguments)
    session = _session(arguments, context, ElasticsearchProvider.name, arguments.address, headers)
    return ElasticsearchProvider(arguments, session)


def influxdb(arguments: InfluxDBArguments, context: ProviderContext) -> MetricsProvider:
    """InfluxDB 1, 2 and 3."""
    from rescheduler.adapters.metrics.influxdb.influxdb import InfluxDBProvider, influxdb_headers

    headers = influxdb_headers(arguments)
    return InfluxDBProvider(arguments, _session(arguments, context, InfluxDBProvider.name, arguments.address, headers))


def signalfx(arguments: SignalFxArguments, context: ProviderContext) -> MetricsProvider:
    """SignalFx."""
    from rescheduler.adapters.metrics.signalfx import SignalFxProvider, signalfx_headers

    headers = signalfx_headers(arguments)
    return SignalFxProvider(arguments, _session(arguments, context, SignalFxProvider.name, arguments.address, headers))


def datadog(arguments: DatadogArguments, context: ProviderContext) -> MetricsProvider:
    """Datadog."""
    from rescheduler.adapters.metrics.datadog import DatadogProvider, datadog_headers

    headers = datadog_headers(arguments)
    return DatadogProvider(
        arguments, _session(arguments, context, DatadogProvider.name, arguments.api_address, headers)
    )


def _session(
    access: HttpAccess, context: ProviderContext, name: str, address: str, headers: dict[str, SecretHeader]
) -> HttpSession:
    return http_session(
        access,
        context.read_secret,
        provider=name,
        address=address,
        folder=context.folder,
        secret_headers=headers,
        warn=context.warn,
    )


def prometheus(arguments: PrometheusArguments, context: ProviderContext) -> MetricsProvider:
    """Prometheus, Thanos, Mimir, VictoriaMetrics."""
    from rescheduler.adapters.metrics.prometheus.prometheus import PrometheusProvider

    session = http_session(
        arguments,
        context.read_secret,
        provider=PrometheusProvider.name,
        address=arguments.address,
        folder=context.folder,
        warn=context.warn,
    )
    return PrometheusProvider(arguments, session)


def metrics_server(arguments: MetricsServerArguments, context: ProviderContext) -> MetricsProvider:
    """The resource metrics API."""
    from rescheduler.adapters.metrics.metrics_server import MetricsServerProvider

    return MetricsServerProvider(arguments, context.connected(MetricsServerProvider.name))


def custom_metrics(arguments: CustomMetricsArguments, context: ProviderContext) -> MetricsProvider:
    """The custom metrics API."""
    from rescheduler.adapters.metrics.custom_metrics import CustomMetricsProvider

    return CustomMetricsProvider(arguments, context.connected(CustomMetricsProvider.name))


def recorded(arguments: RecordedArguments, context: ProviderContext) -> MetricsProvider:
    """A file of load reports."""
    from rescheduler.adapters.metrics.recorded import RecordedProvider

    return RecordedProvider(context.folder / arguments.file)
