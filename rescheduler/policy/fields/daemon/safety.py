"""What stops the daemon: circuit breaker, back-off, ramp-up, the cluster's health, and the kill switch."""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, Field, GetJsonSchemaHandler, WrapSerializer, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import (
    UNLIMITED,
    DurationSeconds,
    PositiveDurationSeconds,
    Share,
    format_duration,
)

DAY_SECONDS = 86400.0


class BreakerPolicy(PolicyModel):
    """The circuit breaker of ``run``: too many evictions whose pods were not replaced, and nothing more is evicted."""

    failures: Annotated[int, Field(ge=0, le=1000)] = 2
    """It opens when so many of the last ``of`` evictions came to nothing; 0: it never opens."""
    of: Annotated[int, Field(ge=1, le=1000)] = 10
    """How many of the last evictions are looked at."""
    repay_within: PositiveDurationSeconds = 300.0
    """How long a replacement may take, after the grace period of the pod that left."""
    oldest: PositiveDurationSeconds = 900.0
    """It opens at once when one replacement takes longer than this."""
    rest: PositiveDurationSeconds = 3600.0
    """How long it stays open before one eviction is tried. When that fails, an operator has to close it."""

    @model_validator(mode="after")
    def _can_open(self) -> BreakerPolicy:
        if self.failures > self.of:
            text = "failures {failures} can never be reached among the last {of}; write of: {failures} or more"
            raise PydanticCustomError("breaker", text, {"failures": self.failures, "of": self.of})
        return self


class BackOffPolicy(PolicyModel):
    """How long ``run`` leaves alone what it moved in vain, and what it has just moved."""

    first: PositiveDurationSeconds = 3600.0
    """Wait after a replacement came back to the node that its pod left, or landed elsewhere than predicted; doubled
    with each further time."""
    longest: PositiveDurationSeconds = DAY_SECONDS
    """The wait is never longer than this."""
    rest: DurationSeconds = 6 * 3600.0
    """A pod that took the place of a moved one is not moved before this has passed."""
    per_day: Annotated[int, Field(ge=0, le=1000)] = 2
    """Moves of one pod, and of those that took its place, within 24 hours; 0: no limit."""

    @model_validator(mode="after")
    def _grows(self) -> BackOffPolicy:
        if self.first > self.longest:
            found = {"first": format_duration(self.first), "longest": format_duration(self.longest)}
            raise PydanticCustomError("back_off", "first {first} is longer than longest {longest}", found)
        return self


class RampUpPolicy(PolicyModel):
    """A careful start of ``run``: few evictions at first, more with each clean day."""

    start: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    """Evictions in one ``window`` at the start."""
    window: PositiveDurationSeconds = 3600.0
    """The sliding window in which they are counted."""
    double_every: PositiveDurationSeconds = DAY_SECONDS
    """After so long without an eviction that failed, and without the breaker opening, twice as many are allowed."""


class _OrUnlimited:
    """Tells the schema of the word."""

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        choices: list[JsonSchemaValue] = handler(core)["anyOf"]
        return {"anyOf": [*choices, {"const": UNLIMITED}]}


def _ramp_up(value: object) -> object:
    """None is no ramp-up, which a file has to say; nothing, as everywhere, is the default."""
    return None if value == UNLIMITED else {} if value is None else value


RampUp: TypeAlias = Annotated[
    RampUpPolicy | None,
    BeforeValidator(_ramp_up),
    WrapSerializer(lambda rules, written: UNLIMITED if rules is None else written(rules), when_used="json"),
    _OrUnlimited(),
]
"""A ramp-up, or None where a policy says ``unlimited``."""


class Health(PolicyModel):
    """When ``run`` keeps its hands off; ``plan``, ``apply`` and ``simulate`` show the same as warnings. 0 is off."""

    settle: DurationSeconds = 300.0
    """Wait after large changes of the number of nodes."""
    changed_nodes: Share = 0.10
    """Nodes that appeared or vanished within ``settle``, as a share of all: more is a large change."""
    head_room: Share = 0.05
    """Share of cpu, and of memory, of the nodes in use that must be free once a plan is done."""
    unready_nodes: Share = 0.05
    """Wait while more nodes than this, and more than two, are not ready."""
    unready_in_zone: Share = 0.20
    """Wait while this share of the nodes of one zone, or more, is not ready."""
    pending_rising: DurationSeconds = 300.0
    """Wait when the number of pending pods has done nothing but rise for so long."""
    api_errors: Share = 0.05
    """Wait when more of the last minute's requests to the API server than this failed."""
    api_latency: DurationSeconds = 2.0
    """Wait when one request in a hundred of the last minute took longer."""
    watch_age: DurationSeconds = 60.0
    """Wait when the API server has told nothing new for so long."""
    clock_offset: DurationSeconds = 30.0
    """Wait when the API server's clock is so far from the local one."""
    scheduler_silent: DurationSeconds = 60.0
    """Wait when a pending pod was not tried by its scheduler for so long."""
    replaced_within: DurationSeconds = 60.0
    """Wait when the owner of an evicted pod has made no new one after so long."""
    calm: DurationSeconds = 600.0
    """Go on only when none of this was seen for so long."""


class Stop(PolicyModel):
    """The kill switch: while it is set, no command evicts anything."""

    file: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
    """Nothing is evicted while this file exists; its first line is told as the reason. Relative to the policy's own
    folder."""


def remembered_seconds(back_off: BackOffPolicy, breaker: BreakerPolicy, ramp_up: RampUpPolicy | None) -> float:
    """For how long earlier evictions matter to back-off, breaker and ramp-up: a ledger keeps them at least so long."""
    window = 0.0 if ramp_up is None else ramp_up.window
    return max(2 * back_off.longest, back_off.rest, DAY_SECONDS, breaker.oldest + breaker.rest, window)
