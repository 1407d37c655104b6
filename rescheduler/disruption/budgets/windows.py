"""Windows of time: whether a moment lies inside, until when, and when they open next. Pure: the moment is passed in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from itertools import islice
from typing import NamedTuple

from rescheduler.policy.fields.budgets import Budget, names_of
from rescheduler.policy.fields.cron import openings, zone_of
from rescheduler.policy.fields.windows import Window, WindowType
from rescheduler.policy.telling.budget_sentences import written

MOST_OPENINGS = 2_000
"""Openings looked at one after another, where windows run into each other or are frozen."""


class TimeSpan(NamedTuple):
    """From ``start`` on, up to but without ``end``; seconds since the epoch."""

    start: float
    end: float


class Closure(NamedTuple):
    """Why nothing may be moved at a moment, and when it may again (None: not within reach)."""

    reason: str
    opens_at: float | None
    time_zone: str


def span_at(window: Window, moment: float) -> TimeSpan | None:
    """The time around a moment that windows cover, those that run into each other taken as one; None: none does."""
    found: TimeSpan | None = None
    for start in islice(_openings(window, moment - window.duration), MOST_OPENINGS):
        if found is None:
            if start > moment:
                return None
            found = TimeSpan(start, start + window.duration)
        elif start <= found.end:
            found = TimeSpan(found.start, start + window.duration)
        else:
            break
    return found


def next_spans(window: Window, after: float, count: int) -> list[TimeSpan]:
    """The next windows that open later than a moment, each by itself."""
    return [TimeSpan(start, start + window.duration) for start in islice(_openings(window, after), count)]


def closure_at(windows: Sequence[Window], moment: float) -> Closure | None:
    """Why nothing may be moved now; None if windows do not forbid it.

    With Allow windows among them, a moment outside of all of these is closed; so is every moment in a Freeze window.
    ``moment`` 0 stands for an unknown time, at which only "no windows at all" is open.
    """
    if not windows:
        return None
    if not moment:
        return Closure("is bound to windows of time, and when the cluster was recorded is not known", None, "UTC")
    frozen = _freezing(windows, moment)
    if frozen is not None:
        window, span = frozen
        opens = _opens_after(windows, span.end)
        return Closure(f"is frozen until {told(span.end, window.time_zone)}", opens, window.time_zone)
    if _is_allowed(windows, moment):
        return None
    zone = next(window.time_zone for window in windows if window.type is WindowType.ALLOW)
    return Closure("is outside of its windows", _opens_after(windows, moment), zone)


def told(moment: float, time_zone: str) -> str:
    """A moment in UTC and in a time zone, to the minute."""
    try:
        universal = datetime.fromtimestamp(moment, UTC)
    except (OverflowError, ValueError, OSError):
        return "a time beyond the calendar"
    text = f"{universal:%Y-%m-%d %H:%M} UTC"
    if time_zone in ("UTC", "Etc/UTC"):
        return text
    local = universal.astimezone(zone_of(time_zone))
    day = "" if local.date() == universal.date() else f"{local:%Y-%m-%d} "
    return f"{text} ({day}{local:%H:%M} {time_zone})"


def _openings(window: Window, after: float) -> Iterator[float]:
    return openings(window.schedule, zone_of(window.time_zone), after)


def _freezing(windows: Sequence[Window], moment: float) -> tuple[Window, TimeSpan] | None:
    """The Freeze window around a moment that ends last."""
    spans = [(window, span_at(window, moment)) for window in windows if window.type is WindowType.FREEZE]
    found = [(window, span) for window, span in spans if span is not None]
    return max(found, key=lambda pair: pair[1].end, default=None)


def _is_allowed(windows: Sequence[Window], moment: float) -> bool:
    allowing = [window for window in windows if window.type is WindowType.ALLOW]
    return not allowing or any(span_at(window, moment) is not None for window in allowing)


def _opens_after(windows: Sequence[Window], moment: float) -> float | None:
    """The first moment from here on that is allowed and not frozen."""
    allowing = [window for window in windows if window.type is WindowType.ALLOW]
    for _ in range(100):
        frozen = _freezing(windows, moment)
        if frozen is not None:
            moment = frozen[1].end
        elif _is_allowed(windows, moment):
            return moment
        else:
            following = [next(_openings(window, moment), None) for window in allowing]
            found = [start for start in following if start is not None]
            if not found:
                return None
            moment = min(found)
    return None


# When the windows of a policy's budgets open next, in sentences.

OPENINGS_TOLD = 3


def opening_sentences(budgets: tuple[Budget, ...], now: float) -> Iterator[str]:
    """The next three openings of each window after a moment, in UTC and in its own time zone."""
    for name, budget in zip(names_of(budgets), budgets, strict=True):
        for window in budget.all_windows:
            here = span_at(window, now)
            present = "" if here is None else f" is open until {told(here.end, window.time_zone)}, and"
            times = ", ".join(told(span.start, window.time_zone) for span in next_spans(window, now, OPENINGS_TOLD))
            what = f"{window.type.value} window {written(window)} of budget {name}"
            yield f"{what}{present} opens next at {times}" if times else f"{what} does not open any more"
