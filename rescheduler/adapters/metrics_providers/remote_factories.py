"""Makes the providers of databases and services outside the cluster; each one's code is loaded when it is asked for."""

from __future__ import annotations

from rescheduler.adapters.metrics_providers.credentials import SecretHeader
from rescheduler.adapters.metrics_providers.datadog_arguments import DatadogArguments
from rescheduler.adapters.metrics_providers.elasticsearch_arguments import ElasticsearchArguments
from rescheduler.adapters.metrics_providers.http_session import HttpSession, http_session
from rescheduler.adapters.metrics_providers.influxdb_arguments import InfluxDBArguments
from rescheduler.adapters.metrics_providers.registration import ProviderContext
from rescheduler.adapters.metrics_providers.signalfx_arguments import SignalFxArguments
from rescheduler.extension_points import MetricsProvider
from rescheduler.policy.metrics_access import HttpAccess


def elasticsearch(arguments: ElasticsearchArguments, context: ProviderContext) -> MetricsProvider:
    """Elasticsearch and OpenSearch."""
    from rescheduler.adapters.metrics_providers.elasticsearch import ElasticsearchProvider, elasticsearch_headers

    headers = elasticsearch_headers(arguments)
    session = _session(arguments, context, ElasticsearchProvider.name, arguments.address, headers)
    return ElasticsearchProvider(arguments, session)


def influxdb(arguments: InfluxDBArguments, context: ProviderContext) -> MetricsProvider:
    """InfluxDB 1, 2 and 3."""
    from rescheduler.adapters.metrics_providers.influxdb import InfluxDBProvider, influxdb_headers

    headers = influxdb_headers(arguments)
    return InfluxDBProvider(arguments, _session(arguments, context, InfluxDBProvider.name, arguments.address, headers))


def signalfx(arguments: SignalFxArguments, context: ProviderContext) -> MetricsProvider:
    """SignalFx."""
    from rescheduler.adapters.metrics_providers.signalfx import SignalFxProvider, signalfx_headers

    headers = signalfx_headers(arguments)
    return SignalFxProvider(arguments, _session(arguments, context, SignalFxProvider.name, arguments.address, headers))


def datadog(arguments: DatadogArguments, context: ProviderContext) -> MetricsProvider:
    """Datadog."""
    from rescheduler.adapters.metrics_providers.datadog import DatadogProvider, datadog_headers

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
