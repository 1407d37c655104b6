"""Arguments of the Elasticsearch provider; the defaults are the names that Metricbeat gives."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import AfterValidator, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.adapters.metrics.argument_text import HostPattern, form, not_empty, python_pattern
from rescheduler.policy.fields.metrics_access import Credential, HttpAccess, HttpAddress
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds

FieldName: TypeAlias = Annotated[
    str, form(r"[@A-Za-z_][-@A-Za-z0-9_]*(\.[-@A-Za-z0-9_]+)*", "a field by its whole name, such as host.hostname")
]
"""A field by its whole dotted name."""
FieldNames: TypeAlias = Annotated[tuple[FieldName, ...], AfterValidator(not_empty)]
"""Some fields."""
_INDEX = r"-?[A-Za-z0-9*.][-A-Za-z0-9_.*:+]*"
IndexPattern: TypeAlias = Annotated[
    str, form(f"{_INDEX}(,{_INDEX})*", "names of indices with * and commas, such as metricbeat-*", 500)
]
"""Names of indices, data streams or aliases, with * and commas."""


class ElasticsearchPods(PolicyModel):
    """Fields of pods; ``system`` and ``kubernetes`` documents stand beside each other in one index."""

    namespace: FieldName = "kubernetes.namespace"
    """Names the namespace."""
    name: FieldName = "kubernetes.pod.name"
    """Names the pod."""
    cpu_nanocores: FieldName = "kubernetes.pod.cpu.usage.nanocores"
    """Cpu, in billionths of a core."""
    memory_bytes: FieldName = "kubernetes.pod.memory.working_set.bytes"
    """Memory, in bytes."""


class ElasticsearchDevices(PolicyModel):
    """Counters that only grow, by device."""

    counters: FieldNames
    """They are added."""
    device: FieldName
    """Tells devices apart."""
    exclude: Annotated[str, form(".*", "a regular expression of one line", 1000), AfterValidator(python_pattern)] = ""
    """A regular expression for devices to leave out, matched against the whole name; "" leaves none out."""


class ElasticsearchArguments(HttpAccess):
    """Elasticsearch 7 to 9, or OpenSearch, with what Metricbeat writes."""

    address: HttpAddress
    """Where it is."""
    index: IndexPattern = "metricbeat-*"
    """Where to search."""
    api_key: Credential | None = None
    """An API key in its encoded form, sent as "Authorization: ApiKey ..."."""
    time_field: FieldName = "@timestamp"
    """When a document was measured."""
    host_field: FieldName = "host.hostname"
    """Names the host, as a keyword."""
    host_pattern: HostPattern | None = None
    """What of the field's value is the host. Default: all of it."""
    cpu_fields: FieldNames = (
        "host.cpu.usage",
        "system.cpu.total.norm.pct",
    )
    """Use of cpu as a fraction of all cores; of several fields the first that a host has."""
    memory_fields: FieldNames = ("system.memory.actual.used.pct",)
    """Use of memory as a fraction."""
    network: ElasticsearchDevices = ElasticsearchDevices(
        counters=("system.network.in.bytes", "system.network.out.bytes"),
        device="system.network.name",
        exclude="lo[0-9]*|docker.*|br-.*|veth.*|virbr.*|cni.*|cali.*|flannel.*|cilium.*|lxc.*|tun.*|tap.*|kube-.*",
    )
    """Bytes received and sent."""
    disk: ElasticsearchDevices = ElasticsearchDevices(
        counters=("system.diskio.io.time",), device="system.diskio.name", exclude="(loop|ram|sr)[0-9]+"
    )
    """Milliseconds in which a device worked."""
    pods: ElasticsearchPods = ElasticsearchPods()
    """Fields of pods."""
    lookback: PositiveDurationSeconds = 300.0
    """Documents older than this are not looked for."""
    rate_window: PositiveDurationSeconds = 120.0
    """The span over which rates of counters are taken, at least four periods of the agent."""

    @model_validator(mode="after")
    def _one_key(self) -> ElasticsearchArguments:
        if self.api_key is not None and (self.basic_auth is not None or self.bearer_token is not None):
            raise PydanticCustomError("auth", "apiKey is given beside basicAuth or bearerToken; keep one")
        return self
