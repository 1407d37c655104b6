"""Schedule: at regular intervals, or at times of the clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Final, TypeAlias

from pydantic import model_validator
from pydantic_core import PydanticCustomError

from rescheduler.daemon.triggers.setting import Setting
from rescheduler.disruption.budgets.windows import told
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.policy.fields.cron import openings, zone_of
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import DurationSeconds, PositiveDurationSeconds, format_duration
from rescheduler.policy.fields.windows import Schedule as CronSchedule
from rescheduler.policy.fields.windows import TimeZoneName

NextTime: TypeAlias = Callable[[float], float | None]
"""The first time later than a moment, both in seconds since the epoch; None: no more."""
MOST_COUNTED: Final = 1000
TIMES_TOLD: Final = 3
_BACKWARDS_SECONDS: Final = 1.0


EVERY_SECONDS: Final = 300.0
"""Of a schedule that says nothing."""
SHORTEST_SECONDS: Final = 1.0


class ScheduleArgs(PolicyModel):
    """At regular intervals, or at times of the clock."""

    every: PositiveDurationSeconds | None = None
    """The interval, from the start on, when the first round is due; left out, without ``cron``: 5m."""
    cron: CronSchedule | None = None
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


class Schedule(Trigger):
    """Asks when a time has come. Times that come together, since nobody looked or a round took long, ask once."""

    name = "Schedule"
    arguments = ScheduleArgs

    def __init__(self, args: ScheduleArgs, setting: Setting) -> None:
        self._args = args
        self._random = setting.random
        is_clock = args.cron is not None
        self._next_time = _cron_times(args) if is_clock else _interval_times(args.interval_seconds, setting.started_at)
        self._seen_at = setting.started_at
        # An interval begins with a round, so the time at the start itself is not to be missed.
        self._plan(setting.started_at if is_clock else setting.started_at - min(1.0, args.interval_seconds / 2))

    @classmethod
    def sentence(cls, args: ScheduleArgs) -> str:
        """As often as that, or at these times."""
        when = f"every {format_duration(args.interval_seconds)}"
        if args.cron is not None:
            when = f"at {args.cron} in the time zone {args.time_zone}"
        return when + (f", by up to {format_duration(args.jitter)} later" if args.jitter else "")

    @classmethod
    def warnings(cls, args: ScheduleArgs, policy: Policy) -> Iterator[str]:
        """Rounds that are due before the one before them has been planned."""
        if args.cron is None and args.interval_seconds < policy.limits.deadline:
            every, deadline = format_duration(args.interval_seconds), format_duration(policy.limits.deadline)
            yield f"rounds are due every {every}, though planning one may take {deadline} (limits.deadline)"

    @classmethod
    def forecast(cls, args: ScheduleArgs, now: float) -> Iterator[str]:
        """The next three times of cron, in UTC and in its own time zone."""
        if args.cron is None or args.time_zone is None:
            return
        zone = args.time_zone
        times = [told(at, zone) for at in islice(openings(args.cron, zone_of(zone), now), TIMES_TOLD)]
        what = f"the schedule {args.cron} ({zone})"
        yield f"{what} asks for rounds next at {', '.join(times)}" if times else f"{what} asks for no more rounds"

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
    from apscheduler.triggers.interval import IntervalTrigger

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
