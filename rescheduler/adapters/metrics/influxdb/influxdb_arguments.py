"""Arguments of the InfluxDB provider; the defaults are the names that Telegraf gives."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.adapters.metrics.argument_text import HostPattern, form, not_empty
from rescheduler.policy.fields.metrics_access import Credential, HttpAccess, HttpAddress
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds

_PRINTABLE = r"[^\x00-\x1f\x7f]"
Name: TypeAlias = Annotated[str, form(_PRINTABLE + "+", "a name of 1 to 250 characters, without line breaks")]
"""A database, measurement, field, tag or value by its whole name."""
Tags: TypeAlias = dict[Name, Name]
"""Values that tags must have."""
GoPattern: TypeAlias = Annotated[str, form(_PRINTABLE + "*", "a regular expression of one line", 1000)]
"""A regular expression as Go writes them; "" matches nothing."""

_VIRTUAL = r"^(lo[0-9]*|all|docker.*|br-.*|veth.*|virbr.*|cni.*|cali.*|flannel.*|cilium.*|lxc.*|tun.*|tap.*|kube-.*)$"


class InfluxField(PolicyModel):
    """A field that is a share of the node."""

    measurement: Name
    """Its measurement."""
    field: Name
    """Its name."""
    tags: Tags = Field(default_factory=dict)
    """Tags that choose among its series, such as cpu: cpu-total."""
    unit: Literal["Percent", "Fraction"] = "Percent"
    """Whether 0 to 100 or 0 to 1."""
    is_idle: bool = False
    """The field says what is free, not what is used."""


class InfluxCounters(PolicyModel):
    """Counters that only grow, by device."""

    measurement: Name
    """Their measurement."""
    fields: Annotated[tuple[Name, ...], AfterValidator(not_empty)]
    """Their names; they are added."""
    device_tag: Name
    """The tag that tells devices apart."""
    exclude: GoPattern = ""
    """Devices to leave out."""


class InfluxPods(PolicyModel):
    """Use of containers."""

    measurement: Name = "kubernetes_pod_container"
    """Its measurement."""
    namespace_tag: Name = "namespace"
    """The tag that names the namespace."""
    pod_tag: Name = "pod_name"
    """The tag that names the pod."""
    container_tag: Name = "container_name"
    """The tag that names the container."""
    cpu_nanocores: Name = "cpu_usage_nanocores"
    """The field of cpu, in billionths of a core."""
    memory_bytes: Name = "memory_working_set_bytes"
    """The field of memory, in bytes."""


class InfluxDBArguments(HttpAccess):
    """InfluxDB 1, 2 or 3, asked in InfluxQL (2 needs a DBRP mapping of the database), or 2 in Flux."""

    address: HttpAddress
    """Where it is."""
    database: Name = "telegraf"
    """The database that InfluxQL asks."""
    retention_policy: Name | None = None
    """Its retention policy. Default: the database's own default."""
    flux: bool | None = None
    """Ask /api/v2/query in Flux. Default: only where org and bucket are given."""
    org: Name | None = None
    """The organisation, for Flux."""
    bucket: Name | None = None
    """The bucket, for Flux."""
    token: Credential | None = None
    """A token of InfluxDB 2 or 3, sent as "Authorization: Token ..."."""
    lookback: PositiveDurationSeconds = 300.0
    """Samples older than this are not looked for."""
    rate_window: PositiveDurationSeconds = 120.0
    """The span over which rates of counters are taken, at least four intervals of the agent."""
    cpu: InfluxField = InfluxField(measurement="cpu", field="usage_idle", tags={"cpu": "cpu-total"}, is_idle=True)
    """Use of cpu."""
    memory: InfluxField = InfluxField(measurement="mem", field="used_percent")
    """Use of memory."""
    network: InfluxCounters = InfluxCounters(
        measurement="net", fields=("bytes_recv", "bytes_sent"), device_tag="interface", exclude=_VIRTUAL
    )
    """Bytes received and sent."""
    disk: InfluxCounters = InfluxCounters(
        measurement="diskio", fields=("io_time",), device_tag="name", exclude="^(loop|ram|sr)[0-9]+$"
    )
    """Milliseconds in which a device worked."""
    pods: InfluxPods = InfluxPods()
    """Use of containers."""
    host_tag: Name = "host"
    """The tag that names the host."""
    host_pattern: HostPattern | None = None
    """What of the tag's value is the host. Default: all of it."""

    @property
    def asks_flux(self) -> bool:
        """Whether Flux is asked."""
        return self.flux if self.flux is not None else bool(self.org and self.bucket)

    @model_validator(mode="after")
    def _whole(self) -> InfluxDBArguments:
        if self.asks_flux and not (self.org and self.bucket):
            raise PydanticCustomError("flux", "flux needs org and bucket; write both, or leave flux out")
        if self.token is not None and (self.basic_auth is not None or self.bearer_token is not None):
            raise PydanticCustomError("auth", "token is given beside basicAuth or bearerToken; keep one")
        return self
