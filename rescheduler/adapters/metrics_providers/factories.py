"""Makes each provider of its arguments; a provider's own code is only loaded when it is asked for."""

from __future__ import annotations

from rescheduler.adapters.metrics_providers.arguments import (
    CustomMetricsArguments,
    MetricsServerArguments,
    PrometheusArguments,
    RecordedArguments,
)
from rescheduler.adapters.metrics_providers.http_session import http_session
from rescheduler.adapters.metrics_providers.registration import ProviderContext
from rescheduler.extension_points import MetricsProvider


def prometheus(arguments: PrometheusArguments, context: ProviderContext) -> MetricsProvider:
    """Prometheus, Thanos, Mimir, VictoriaMetrics."""
    from rescheduler.adapters.metrics_providers.prometheus import PrometheusProvider

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
    from rescheduler.adapters.metrics_providers.metrics_server import MetricsServerProvider

    return MetricsServerProvider(arguments, context.connected(MetricsServerProvider.name))


def custom_metrics(arguments: CustomMetricsArguments, context: ProviderContext) -> MetricsProvider:
    """The custom metrics API."""
    from rescheduler.adapters.metrics_providers.custom_metrics import CustomMetricsProvider

    return CustomMetricsProvider(arguments, context.connected(CustomMetricsProvider.name))


def recorded(arguments: RecordedArguments, context: ProviderContext) -> MetricsProvider:
    """A file of load reports."""
    from rescheduler.adapters.metrics_providers.recorded import RecordedProvider

    return RecordedProvider(context.folder / arguments.file)
