"""Metrics providers, one class a file behind ``MetricsProvider``; a policy's ``usage.providers`` names them as here."""

from __future__ import annotations

from typing import Final

from rescheduler.extension_points import MetricsProvider
from rescheduler.extension_points.plugin_list import PluginList

PROVIDERS: Final[PluginList[MetricsProvider]] = PluginList(
    "rescheduler.metrics_providers",
    {
        "Prometheus": f"{__name__}.prometheus.prometheus:PrometheusProvider",
        "MetricsServer": f"{__name__}.metrics_server:MetricsServerProvider",
        "CustomMetrics": f"{__name__}.custom_metrics:CustomMetricsProvider",
        "Elasticsearch": f"{__name__}.elasticsearch.elasticsearch:ElasticsearchProvider",
        "InfluxDB": f"{__name__}.influxdb.influxdb:InfluxDBProvider",
        "SignalFx": f"{__name__}.signalfx:SignalFxProvider",
        "Datadog": f"{__name__}.datadog:DatadogProvider",
        "Recorded": f"{__name__}.recorded:RecordedProvider",
    },
    wanted=("name", "arguments", "made", "sample", "history"),
)
"""By the name that a policy gives them; those of other packages by the entry points of this group."""
