"""Schedule: at regular intervals, or at times of the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final, TypeAlias

from apscheduler.triggers.interval import IntervalTrigger

from rescheduler.daemon.triggers.setting import Setting
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.policy.fields.cron import openings, zone_of
from rescheduler.policy.fields.triggers import ScheduleArgs
from rescheduler.policy.fields.values import format_duration

NextTime: TypeAlias = Callable[[float], float | None]
"""The first time later than a moment, both in seconds since the epoch; None: no more."""
MOST_COUNTED: Final = 1000
_BACKWARDS_SECONDS: Final = 1.0


class Schedule:
    """Asks when a time has come. Times that come together, since nobody looked or a round took long, ask once."""

    name = "Schedule"

    def __init__(self, args: ScheduleArgs, setting: Setting) -> None:
        self._args = args
        self._random = setting.random
        is_clock = args.cron is not None
        self._next_time = _cron_times(args) if is_clock else _interval_times(args.interval_seconds, setting.started_at)
        self._seen_at = setting.started_at
        # An interval begins with a round, so the time at the start itself is not to be missed.
        self._plan(setting.started_at if is_clock else setting.started_at - min(1.0, args.interval_seconds / 2))

    def look(self, sight: Sight) -> Occasion | None:
        """Whether a time has come."""
        now = sight.cluster.taken_at
        if self._is_back(now):
            self._plan(now)
        self._seen_at = now
        if self._fires_at is None or now < self._fires_at:
            return None
        count = self._count(now)
        self._plan(now)
        return Occasion(self.name, self._reason(count), now)

    def wake_at(self, now: float) -> float | None:
        """The next time; at once where the clock was set back."""
        return now if self._is_back(now) else self._fires_at

    def answered(self, report: RoundReport) -> None:
        """Times do not depend on rounds."""

    def _is_back(self, now: float) -> bool:
        return now < self._seen_at - _BACKWARDS_SECONDS

    def _plan(self, after: float) -> None:
        self._due = self._next_time(after)
        delay = self._random.uniform(0.0, self._args.jitter)
        self._fires_at = None if self._due is None else self._due + delay

    def _count(self, now: float) -> int:
        """How many times have come by now, from the one that was due."""
        count, due = 0, self._due
        while due is not None and due <= now and count < MOST_COUNTED:
            count, due = count + 1, self._next_time(due)
        return count

    def _reason(self, count: int) -> str:
        cron = f"{self._args.cron} ({self._args.time_zone})"
        text = f"every {format_duration(self._args.interval_seconds)}" if self._args.cron is None else cron
        if count < 2:
            return text
        return f"{text}; {count}{' or more' if count == MOST_COUNTED else ''} such times came together"


def _interval_times(seconds: float, start: float) -> NextTime:
    # Everything that the library would take from the machine (zone, start, its own jitter) is given.
    trigger = IntervalTrigger(seconds=seconds, start_date=_moment(start), timezone=UTC, jitter=None)

    def next_time(after: float) -> float | None:
        try:
            found = trigger.get_next_fire_time(None, _moment(after))
            if found.timestamp() <= after:
                found = trigger.get_next_fire_time(found, _moment(after))
        except (OSError, OverflowError, ValueError):  # beyond the calendar
            return None
        return float(found.timestamp())

    return next_time


def _cron_times(args: ScheduleArgs) -> NextTime:
    """The same times as windows of budgets open at: one reading of cron for all of a policy."""
    assert args.cron is not None
    assert args.time_zone is not None
    cron, zone = args.cron, zone_of(args.time_zone)
    return lambda after: next(openings(cron, zone, after), None)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
