"""What makes a daemon run a round, and what each trigger takes as arguments."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.printable import printable
from rescheduler.policy.fields.objectives import ObjectiveName, Statistic
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import (
    DurationSeconds,
    Fraction,
    Margin,
    PositiveDurationSeconds,
    Share,
    format_duration,
)
from rescheduler.policy.fields.windows import Schedule, TimeZoneName

# What autoscalers say, by the reason of their events and conditions.

AutoscalerReason: TypeAlias = Literal[
    # cluster-autoscaler
    "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "ScaleDown", "ScaleDownEmpty",
    "ScaleDownFailed",
    # karpenter
    "FailedScheduling", "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed", "NodeClassNotReady",
    "DisruptionTerminating", "DisruptionBlocked", "Unconsolidatable", "InstanceTerminating", "Deleting",
]  # fmt: skip
"""Reasons that may ask for a round."""

HELP_NEEDED: Final[tuple[AutoscalerReason, ...]] = (
    "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "ScaleDown", "ScaleDownEmpty",
    "FailedScheduling", "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed",
    "DisruptionTerminating",
)  # fmt: skip
"""No node comes for a pod, or nodes have gone."""
NODE_COMES: Final = frozenset({"TriggeredScaleUp", "Nominated"})
"""A node is on its way for a pod, or has room for it: the pod is left to it."""
NO_NODE_COMES: Final = frozenset(
    {
        "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "FailedScheduling",
        "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed",
    }
)  # fmt: skip
"""It does not come after all."""


TriggerName: TypeAlias = Literal[
    "Schedule", "PendingPods", "NodesAdded", "HotNode", "AutoscalerEvents", "OnDemand", "AntagonistReport",
    "ObjectiveDrift",
]  # fmt: skip
EVERY_SECONDS: Final = 300.0
"""Of a schedule that says nothing."""
SHORTEST_SECONDS: Final = 1.0


class ScheduleArgs(PolicyModel):
    """At regular intervals, or at times of the clock."""

    every: PositiveDurationSeconds | None = None
    """The interval, from the start on, when the first round is due; left out, without ``cron``: 5m."""
    cron: Schedule | None = None
    """In place of ``every``: five fields of cron (minute, hour, day of month, month, day of week), or `@daily` and the
    like."""
    time_zone: TimeZoneName | None = None
    """Time zone of ``cron``, which needs one: a name of the IANA database such as UTC or Europe/Berlin."""
    jitter: DurationSeconds = 0.0
    """Each time comes by up to this much later, at random."""

    @model_validator(mode="after")
    def _is_one_schedule(self) -> ScheduleArgs:
        if self.cron is not None and self.every is not None:
            raise PydanticCustomError("schedule", "found every and cron; keep one, or write two triggers")
        if self.cron is not None and self.time_zone is None:
            raise PydanticCustomError("schedule", "cron needs a time zone; write timeZone: UTC, or Europe/Berlin")
        if self.cron is None and self.time_zone is not None:
            raise PydanticCustomError("schedule", "timeZone is for cron; leave it out, or write cron")
        if self.cron is None:
            _check_interval(self.interval_seconds, self.jitter)
        return self

    @property
    def interval_seconds(self) -> float:
        """Seconds between two rounds where no cron schedule is written."""
        return EVERY_SECONDS if self.every is None else self.every


def _check_interval(seconds: float, jitter: float) -> None:
    if seconds < SHORTEST_SECONDS:
        found = {"found": format_duration(seconds)}
        raise PydanticCustomError("schedule", "every: {found} is too short; write 1s or more", found)
    if jitter > seconds:
        found = {"jitter": format_duration(jitter), "every": format_duration(seconds)}
        raise PydanticCustomError(
            "schedule", "jitter {jitter} is longer than every {every}; write a shorter one", found
        )


class TriggerBackOff(PolicyModel):
    """How long the same cause does not ask again after a round that did not help."""

    first: PositiveDurationSeconds = 60.0
    """After the first such round; doubled with each further one."""
    longest: PositiveDurationSeconds = 1800.0
    """The wait is never longer than this."""

    @model_validator(mode="after")
    def _grows(self) -> TriggerBackOff:
        if self.first > self.longest:
            found = {"first": format_duration(self.first), "longest": format_duration(self.longest)}
            raise PydanticCustomError("back_off", "first {first} is longer than longest {longest}", found)
        return self


class PendingPodsArgs(PolicyModel):
    """When pods have been unschedulable for a while."""

    older_than: DurationSeconds = 30.0
    """For how long a pod must have been unschedulable."""
    debounce: DurationSeconds = 5.0
    """Pods that follow each other within this ask for one round."""
    back_off: TriggerBackOff = TriggerBackOff()
    """How long a pod that a round did not help does not ask again; forgotten when a node comes or grows."""
    scale_up_wait: DurationSeconds | None = None
    """How long a pod is left to an autoscaler that has said it adds a node for it; left out: ``autoscaler.wait``."""


class NodesAddedArgs(PolicyModel):
    """When new nodes have come."""

    settle: DurationSeconds = 60.0
    """How long the last of them has been ready."""
    at_least: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Fewer new nodes than this ask for nothing."""


MEASURED: Final = ("cpu", "memory", "disk", "cpuPressure")
"""What of a node is measured as a share of what it has, or of the time."""


def _measured(above: dict[str, float]) -> dict[str, float]:
    for name in above:
        if name not in MEASURED:
            near = get_close_matches(name, MEASURED, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            found = {"found": repr(printable(name, 60)), "known": ", ".join(MEASURED), "hint": hint}
            raise PydanticCustomError("above", "{found} is not measured; there are {known}{hint}", found)
    return above


class HotNodeArgs(PolicyModel):
    """When the measured use of a node has been high for a while."""

    above: Annotated[dict[str, Fraction], Field(min_length=1, max_length=16), AfterValidator(_measured)] = Field(
        default_factory=lambda: {"cpu": 0.85, "memory": 0.9},
        json_schema_extra={"default": {"cpu": 0.85, "memory": 0.9}},
    )
    """Above which share it is hot, one being enough: of its capacity of cpu and memory, of the time for disk (busiest
    device at work) and cpuPressure (some task waiting for a cpu: pressure stall information, from Prometheus alone)."""
    lasting: DurationSeconds = Field(default=300.0, alias="for")
    """For how long."""
    margin: Share = 0.05
    """It is hot until its use is this much lower again."""
    statistic: Statistic = "mean"
    """How use over the shortest window is judged: mean, mean+K*std, p50, p90, p95 or p99."""
    back_off: TriggerBackOff = TriggerBackOff()
    """How long a node that a round did not cool does not ask again."""


class AutoscalerEventsArgs(PolicyModel):
    """When an autoscaler says that it adds no node for a pod, or that it has taken nodes away."""

    on: Annotated[tuple[AutoscalerReason, ...], Field(min_length=1, max_length=32)] = HELP_NEEDED
    """Reasons of its events and conditions that ask for a round; what announces a node never does."""
    debounce: DurationSeconds = 5.0
    """Events that follow each other within this ask for one round."""
    back_off: TriggerBackOff = TriggerBackOff()
    """How long the same reason at the same object does not ask again."""


class OnDemandArgs(PolicyModel):
    """When somebody asks: over the REST API, by the signal USR1, or by an annotation."""


class AntagonistReportArgs(PolicyModel):
    """When antagonists (of SeparateAntagonists) have come to share a node."""

    debounce: DurationSeconds = 5.0
    """Pairs that are found within this ask for one round."""
    back_off: TriggerBackOff = TriggerBackOff()
    """How long a pair that a round did not separate does not ask again."""


class ObjectiveDriftArgs(PolicyModel):
    """When an objective's value has become worse."""

    by: Annotated[Margin, Field(gt=0)] = 0.1
    """By more than this share of the best value since the last round that moved anything; below 1, of 1."""
    of: Annotated[tuple[ObjectiveName, ...], Field(min_length=1, max_length=7)] | None = None
    """Which of the policy's objectives are looked at; left out: all."""
    every: PositiveDurationSeconds = 60.0
    """How often, at most: on a large cluster this takes time."""


ARGUMENTS: Final[Mapping[str, type[PolicyModel]]] = {
    "Schedule": ScheduleArgs,
    "PendingPods": PendingPodsArgs,
    "NodesAdded": NodesAddedArgs,
    "HotNode": HotNodeArgs,
    "AutoscalerEvents": AutoscalerEventsArgs,
    "OnDemand": OnDemandArgs,
    "AntagonistReport": AntagonistReportArgs,
    "ObjectiveDrift": ObjectiveDriftArgs,
}
"""The arguments of each trigger, by its name."""


class TriggerEntry(PolicyModel):
    """One trigger; each of them is enough for a round."""

    name: TriggerName
    """Which one; docs/triggers.md says what each does."""
    args: dict[str, Any] = Field(default_factory=dict)
    """Its arguments."""


DEFAULT_TRIGGERS: Final = (TriggerEntry(name="Schedule", args={"every": "5m"}), TriggerEntry(name="OnDemand"))
"""Of a policy that names none."""
