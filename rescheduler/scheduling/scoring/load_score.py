"""Scores that go by measured load: where their scheduler reads it, and where it is read here."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Final, Self

from rescheduler.model.columns.placement import Placement
from rescheduler.model.usage.demand import MEASURED
from rescheduler.model.usage.usage import Usage, no_usage
from rescheduler.scheduling.plugin import PluginSettings, SchedulerScore, Surroundings
from rescheduler.scheduling.reading.fields import Fields
from rescheduler.scheduling.reading.findings import choices, quoted, without_credentials
from rescheduler.scheduling.reading.metrics_source import trimaran_metrics
from rescheduler.scheduling.scoring.node_load import LoadSource, NodeLoads
from rescheduler.scheduling.scoring.usage_arguments import PredictionArguments

_PROVIDERS = ["KubernetesMetricsServer", "Prometheus", "SignalFx"]
NOT_MEASURED: Final = no_usage(0)
"""What a score goes by before it is fitted."""


@dataclass(frozen=True)
class LoadScore(SchedulerScore):
    """A score by one window of load; a configured one is given the load when a prediction is made."""

    usage: Usage = NOT_MEASURED
    arguments: PredictionArguments = field(default_factory=PredictionArguments)
    is_upstream: ClassVar[bool] = True
    """Whether a scheduler ships it, so that a configured one does as it does there."""
    goes_by_load = True

    @classmethod
    def default(cls) -> PluginSettings:
        """As its scheduler does, where there is one."""
        found = cls.of()
        return PluginSettings(cls.of(arguments=type(found.arguments)(upstream_compatible=cls.is_upstream)))

    @classmethod
    def read(cls, fields: Fields, version: str) -> PluginSettings:
        """Its arguments, and where the scheduler reads load."""
        source = load_source(fields)
        metrics = trimaran_metrics(fields.child("metricProvider").data, fields.raw("watcherAddress"))
        return super().read(fields, version)._replace(load_source=source, metrics=metrics)

    def fitted(self, surroundings: Surroundings) -> Self:
        """By measured load, or by requests where no provider is set."""
        arguments = self.arguments
        if surroundings.windows is None:
            # Without a provider the scheduler's own answer to missing metrics, 0 everywhere, would be no estimate.
            arguments = arguments.model_copy(update={"upstream_compatible": False})
        return replace(self, usage=surroundings.usage, arguments=arguments)

    def loads(
        self, placement: Placement, resources: tuple[str, ...] = MEASURED, *, counts_recent: bool = True
    ) -> NodeLoads:
        """Load of each node by these arguments; see ``LoadSource``."""
        plain = self.arguments.upstream_compatible
        source = LoadSource(self.usage, resources, self.arguments.predictor, plain, counts_recent)
        return placement.columns.facts(source)


def load_source(fields: Fields) -> str:
    """Where the plugin reads load, in words; credentials are never repeated."""
    address = fields.text("watcherAddress")
    provider = fields.child("metricProvider")
    kind = provider.text("type")
    if kind and kind not in _PROVIDERS:
        provider.findings.refuse(provider.at("type"), f"found {quoted(kind)}; {choices(kind, _PROVIDERS)}")
    where = without_credentials(provider.text("address"))
    provider.has("token")
    provider.boolean("insecureSkipVerify", default=True)
    provider.refuse_unread()
    if address:
        return f"a load watcher at {without_credentials(address)}"
    return f"{kind or _PROVIDERS[0]}{f' at {where}' if where else ''}"
