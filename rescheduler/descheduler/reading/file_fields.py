"""A DeschedulerPolicy as data: whatever these models do not know, descheduler reads over."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

LARGEST_UNSIGNED = 2**64 - 1


class LenientModel(BaseModel):
    """Unknown fields are left out; types are strict."""

    model_config = ConfigDict(frozen=True, extra="ignore", alias_generator=to_camel, strict=True)


Count = Annotated[int, Field(ge=0, le=LARGEST_UNSIGNED)]


class PointPlugins(LenientModel):
    """Plugins of one extension point; ``disabled`` is read and not used."""

    enabled: tuple[str, ...] = ()
    disabled: tuple[str, ...] = ()


class PluginSets(LenientModel):
    """By extension point."""

    presort: PointPlugins = PointPlugins()
    sort: PointPlugins = PointPlugins()
    deschedule: PointPlugins = PointPlugins()
    balance: PointPlugins = PointPlugins()
    filter: PointPlugins = PointPlugins()
    preevictionfilter: PointPlugins = Field(default=PointPlugins(), alias="preevictionfilter")


class PluginConfig(LenientModel):
    """Arguments of one plugin."""

    name: str = ""
    args: dict[str, Any] = {}


class ProfileFields(LenientModel):
    """One profile as written."""

    name: str = ""
    plugin_config: tuple[PluginConfig, ...] = ()
    plugins: PluginSets = PluginSets()


class SecretReference(LenientModel):
    """Where a token stands."""

    namespace: str = ""
    name: str = ""


class AuthToken(LenientModel):
    """The token that Prometheus is asked with."""

    secret_reference: SecretReference | None = None


class PrometheusServer(LenientModel):
    """A Prometheus server."""

    url: str = ""
    auth_token: AuthToken | None = None


class UsageProvider(LenientModel):
    """A source of measured usage."""

    source: str = ""
    prometheus: PrometheusServer | None = None


class MetricsCollector(LenientModel):
    """Deprecated: stands for a provider KubernetesMetrics."""

    enabled: bool = False


class PolicyFields(LenientModel):
    """The whole file as written."""

    api_version: str
    kind: str
    profiles: tuple[ProfileFields, ...] = ()
    node_selector: str | None = None
    max_no_of_pods_to_evict_per_node: Count | None = None
    max_no_of_pods_to_evict_per_namespace: Count | None = None
    max_no_of_pods_to_evict_total: Count | None = None
    eviction_failure_event_notification: bool = False
    grace_period_seconds: Annotated[int, Field(ge=-(2**63), le=2**63 - 1)] | None = None
    metrics_collector: MetricsCollector | None = None
    metrics_providers: tuple[UsageProvider, ...] = ()
