"""Arguments of the usage plugin: its thresholds, its weights, and how it estimates pods."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.plugins.filters.node_usage import UsageThresholds
from rescheduler.plugins.scores.shadow_load import Estimator
from rescheduler.plugins.scores.usage_arguments import Weight
from rescheduler.policy.policy_model import PolicyModel
from rescheduler.policy.values import DurationSeconds, PositiveDurationSeconds

_UPSTREAM_PERIOD = 600.0
_UPSTREAM_THRESHOLD = 80.0


class NodeUsageArguments(PolicyModel):
    """Arguments of the usage plugin: its filter and its score."""

    usage_weight: Weight = 5.0
    """Weight of the score among the scheduler's plugins."""
    cpu_weight: Weight = 1.0
    """Weight of cpu in a node's load."""
    memory_weight: Weight = 1.0
    """Weight of memory in a node's load."""
    enable_predicate: bool = True
    """False: thresholds filter nothing."""
    thresholds: Annotated[tuple[UsageThresholds, ...], Field(strict=False)] = ()
    """Loads above which a node takes no further pods; none: any load will do."""
    period: PositiveDurationSeconds = 300.0
    """Window of the load that is scored."""
    interval: DurationSeconds = 30.0
    """How late metrics are: pods that run for less are estimated."""
    load_weight: Weight = 1.0
    """Weight of low load in the score."""
    fluctuation_weight: Weight = 0.0
    """Weight of steady load in the score."""
    dimension_weight: Weight = 0.0
    """Weight in the score of room in the resources that the pod mostly asks for."""
    estimator: Estimator = Estimator()
    """How pods are estimated that metrics do not show yet."""
    upstream_compatible: bool = False
    """As Volcano itself: a window of 10m, thresholds of 80 % unless given, and no pod is taken off that leaves."""

    @model_validator(mode="after")
    def _some_weight(self) -> NodeUsageArguments:
        if not any(self.factor_weights):
            raise PydanticCustomError(
                "no_weight", "loadWeight, fluctuationWeight and dimensionWeight are all 0; give one of them a weight"
            )
        return self

    @property
    def factor_weights(self) -> tuple[float, float, float]:
        """Weights of load, fluctuation and dimension."""
        return self.load_weight, self.fluctuation_weight, self.dimension_weight

    @property
    def scored_period(self) -> float:
        """Length in seconds of the window that is scored."""
        return _UPSTREAM_PERIOD if self.upstream_compatible else self.period

    @property
    def active_thresholds(self) -> tuple[UsageThresholds, ...]:
        """What the filter goes by."""
        if not self.enable_predicate:
            return ()
        if not self.upstream_compatible:
            return self.thresholds
        given = self.thresholds or (UsageThresholds(cpu=_UPSTREAM_THRESHOLD, memory=_UPSTREAM_THRESHOLD),)
        return tuple(item.model_copy(update={"period": _UPSTREAM_PERIOD}) for item in given)
