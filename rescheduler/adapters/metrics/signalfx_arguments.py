"""Arguments of the SignalFx provider."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from rescheduler.adapters.metrics.argument_text import form
from rescheduler.adapters.metrics.arguments import HostPattern
from rescheduler.policy.fields.metrics_access import Credential, HttpAccess, HttpAddress
from rescheduler.policy.fields.values import PositiveDurationSeconds

PlainName: TypeAlias = Annotated[str, form(r"[-_.a-zA-Z0-9]+", "letters, digits, dots, dashes and underscores")]
"""Letters, digits, dots, dashes and underscores: nothing that means more in a query."""
PlainSuffix: TypeAlias = Annotated[str, form(r"[-_.a-zA-Z0-9]*", "letters, digits, dots, dashes and underscores")]
"""The same, or nothing."""


class SignalFxArguments(HttpAccess):
    """SignalFx, now Splunk Observability Cloud."""

    address: HttpAddress = "https://api.signalfx.com"
    """Its API, with the realm in it, such as https://api.us1.signalfx.com."""
    token: Credential
    """An access token, sent as X-SF-Token."""
    host_name_suffix: PlainSuffix = ""
    """What the names of this cluster's hosts end with, such as .example.com."""
    cluster_name: PlainName | None = None
    """The value of the dimension ``cluster``. Default: hosts of all clusters are read, and unknown ones left out."""
    cpu_metric: PlainName = "cpu.utilization"
    """Use of cpu in percent."""
    memory_metric: PlainName = "memory.utilization"
    """Use of memory in percent."""
    host_dimension: PlainName = "host"
    """The dimension that names the host."""
    host_pattern: HostPattern | None = None
    """What of the dimension's value is the host. Default: all of it."""
    lookback: PositiveDurationSeconds = 300.0
    """Points older than this are not looked for."""
