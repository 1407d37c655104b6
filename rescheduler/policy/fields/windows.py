"""Windows of time as policies write them: a cron schedule, a duration and a time zone."""

from __future__ import annotations

from difflib import get_close_matches
from enum import StrEnum
from functools import cache
from typing import Annotated, TypeAlias
from zoneinfo import available_timezones

from pydantic import AfterValidator, model_validator
from pydantic_core import PydanticCustomError

from rescheduler.model.printable import shown
from rescheduler.policy.fields.cron import checked_schedule, ever_closes, zone_of
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import PositiveDurationSeconds, format_duration

SHORTEST_WINDOW_SECONDS = 60.0


class WindowType(StrEnum):
    """What a window is for."""

    ALLOW = "Allow"
    FREEZE = "Freeze"


def _schedule(text: str) -> str:
    try:
        return checked_schedule(text)
    except ValueError as error:
        raise PydanticCustomError("schedule", "{problem}", {"problem": str(error)}) from None


def _time_zone(name: str) -> str:
    try:
        zone_of(name)
    except ValueError:
        near = [one for one in get_close_matches(name, _zones(), n=1) if name]
        hint = f"; did you mean {near[0]}?" if near else ""
        wanted = "wanted a name of the IANA time zone database, such as UTC or Europe/Berlin"
        raise PydanticCustomError(
            "time_zone", "found {found}; {wanted}{hint}", {"found": shown(name), "wanted": wanted, "hint": hint}
        ) from None
    return name


@cache
def _zones() -> tuple[str, ...]:
    return tuple(sorted(name for name in available_timezones() if "/" in name))


Schedule: TypeAlias = Annotated[str, AfterValidator(_schedule)]
"""Five fields of cron, or a short name such as ``@daily``."""
TimeZoneName: TypeAlias = Annotated[str, AfterValidator(_time_zone)]
"""Name of a time zone in the IANA database."""


def check_window(schedule: str, duration_seconds: float) -> None:
    """Raise PydanticCustomError if windows of this length, opening by this schedule, are too short or never close."""
    if duration_seconds < SHORTEST_WINDOW_SECONDS:
        raise PydanticCustomError(
            "window", "a window of {found} is too short; write 1m or more", {"found": format_duration(duration_seconds)}
        )
    if not ever_closes(schedule, duration_seconds):
        context = {"duration": format_duration(duration_seconds), "schedule": shown(schedule)}
        text = "a window of {duration} that opens at {schedule} never closes: the next one opens before it ends"
        raise PydanticCustomError("window", text + "; write a shorter duration", context)


class Window(PolicyModel):
    """A time that comes again and again."""

    type: WindowType
    """Allow: pods may be moved in some window of this type only. Freeze: they may not be moved in it."""
    schedule: Schedule
    """When it opens: five fields of cron (minute, hour, day of month, month, day of week), or `@daily` and the like."""
    duration: PositiveDurationSeconds
    """How long it stays open, as a clock measures it: summer time neither lengthens nor shortens it."""
    time_zone: TimeZoneName
    """Time zone of ``schedule``: a name of the IANA database such as UTC or Europe/Berlin."""

    @model_validator(mode="after")
    def _closes(self) -> Window:
        check_window(self.schedule, self.duration)
        return self
