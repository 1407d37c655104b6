"""Arguments of the Datadog provider."""

from __future__ import annotations

from typing import Annotated, Literal

from rescheduler.adapters.metrics.argument_text import form
from rescheduler.adapters.metrics.arguments import HostPattern
from rescheduler.adapters.metrics.signalfx_arguments import PlainName, PlainSuffix
from rescheduler.policy.fields.metrics_access import Credential, HttpAccess, HttpAddress
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds


class DatadogMetric(PolicyModel):
    """A metric that is a share of the node."""

    metric: PlainName
    """Its name."""
    unit: Literal["Percent", "Fraction"] = "Percent"
    """Whether 0 to 100 or 0 to 1."""
    is_free: bool = False
    """The metric says what is free, not what is used."""


class DatadogArguments(HttpAccess):
    """Datadog."""

    site: Annotated[str, form(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?", "a site such as datadoghq.eu")] = "datadoghq.com"
    """The site, such as datadoghq.eu; its API is at https://api.SITE."""
    address: HttpAddress | None = None
    """Its API where that is elsewhere, behind a proxy for instance."""
    api_key: Credential
    """The API key, sent as DD-API-KEY."""
    application_key: Credential
    """The application key, sent as DD-APPLICATION-KEY."""
    host_name_suffix: PlainSuffix = ""
    """What the names of this cluster's hosts end with, such as .example.com."""
    cluster_name: PlainName | None = None
    """The value of the tag cluster_name. Default: hosts of all clusters are read, and unknown ones left out."""
    cpu: DatadogMetric = DatadogMetric(metric="cpu.utilization")
    """Use of cpu; the agent itself gives system.cpu.idle (isFree: true)."""
    memory: DatadogMetric = DatadogMetric(metric="memory.utilization")
    """Use of memory; the agent itself gives system.mem.pct_usable (unit: Fraction, isFree: true)."""
    rollup: Literal["max", "avg", "min"] = "max"
    """What stands for a minute; min is the prudent one for metrics of what is free."""
    host_pattern: HostPattern | None = None
    """What of the tag host is the host. Default: all of it."""
    lookback: PositiveDurationSeconds = 300.0
    """Points older than this are not looked for."""

    @property
    def api_address(self) -> str:
        """Where the API is."""
        return self.address or f"https://api.{self.site}"
