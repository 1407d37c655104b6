"""A node whose measured load is above a threshold takes no further pods (Volcano's usage plugin)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.extension_points import Filter, Rejection
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds

# As Volcano words them.
_REASONS: Final = {
    CPU: "the CPU load of the node exceeds the upper limit.",
    MEMORY: "the memory load of the node exceeds the upper limit.",
}


class UsageThresholds(PolicyModel):
    """The largest average load over one period under which a node still takes pods."""

    period: PositiveDurationSeconds = 300.0
    """Length of the window."""
    cpu: Annotated[float, Field(ge=0, le=100)] | None = None
    """Percent of the node's cpu; left out: any."""
    memory: Annotated[float, Field(ge=0, le=100)] | None = None
    """Percent of the node's memory; left out: any."""

    @model_validator(mode="after")
    def _says_something(self) -> UsageThresholds:
        if self.cpu is None and self.memory is None:
            raise PydanticCustomError("no_threshold", "neither cpu nor memory is given; give one of them a percentage")
        return self


@dataclass(frozen=True)
class NodeUsage(Filter):
    """Only measured load counts, and only fresh measures: a node of which nothing is known passes.

    A load equal to the threshold passes too. No eviction makes a node pass at once.
    """

    windows: UsageWindows
    thresholds: tuple[UsageThresholds, ...] = ()
    name = "NodeUsage"
    is_static = True

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:  # noqa: ARG002 - the same for every pod
        """Nodes above a threshold, one rejection for each resource and period; a node stays with the first."""
        now = placement.columns.cluster.taken_at
        found: list[Rejection] = []
        is_open = np.ones(placement.columns.node_count, dtype=np.bool_)
        for threshold in self.thresholds:
            usage = self.windows.over(threshold.period)
            if usage is None:
                continue
            for resource, most in ((CPU, threshold.cpu), (MEMORY, threshold.memory)):
                if most is not None:
                    with np.errstate(invalid="ignore"):
                        is_above = is_open & usage.is_fresh(now) & (usage.percent(resource) > most)
                    found.append(Rejection(_REASONS[resource], is_above, is_resolvable=False))
                    is_open = is_open & ~is_above
        return found
