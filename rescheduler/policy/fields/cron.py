"""Cron schedules in a time zone: when one opens next. The only place that knows the library behind it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from cronsim import CronSim, CronSimError

SHORTHANDS: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_FORM: Final = 'write five fields, minute hour day-of-month month day-of-week, such as "0 22 * * 1-5"'
_NO_ZONES: Final = ("posix/", "right/")
_NOT_A_PLACE: Final = frozenset({"localtime", "posixrules", "Factory"})
_LONGEST_TEXT: Final = 200
_SAMPLE_START: Final = datetime(2001, 1, 1, tzinfo=UTC)
_SAMPLE_YEARS: Final = 5  # holds a leap year
_SAMPLE_SIZE: Final = 11_000  # more minutes than a week has
_FIRST, _LAST = 0.0, datetime(9000, 1, 1, tzinfo=UTC).timestamp()


def zone_of(name: str) -> ZoneInfo:
    """The time zone of the IANA database. Raises ValueError for any other name."""
    if name.startswith(_NO_ZONES) or name in _NOT_A_PLACE:
        raise ValueError(f"{name!r} is no time zone")
    try:
        return ZoneInfo(name)
    except (OSError, ValueError, KeyError):  # ZoneInfoNotFoundError is a KeyError; a folder gives an OSError
        raise ValueError(f"{name[:60]!r} is no time zone") from None


def checked_schedule(text: str) -> str:
    """The schedule itself. Raises ValueError if it cannot be read, or never opens at all."""
    _simulated(text, _SAMPLE_START)
    if next(openings(text, UTC, _SAMPLE_START.timestamp()), None) is None:
        raise ValueError(_never(text))
    return text


def openings(text: str, zone: tzinfo, after: float) -> Iterator[float]:
    """Moments (seconds since the epoch) later than ``after`` at which the schedule opens, ascending, in a time zone.

    A time of day that the clocks skip opens right after the gap; one that comes twice opens the first time only.
    Without end but for schedules that never open, and moments beyond the calendar.
    """
    if not _FIRST <= after <= _LAST:
        return
    try:
        for moment in _simulated(text, datetime.fromtimestamp(after, UTC).astimezone(zone)):
            if moment.timestamp() > after:  # in an hour that comes twice, the first one is over already
                yield moment.timestamp()
    except (OverflowError, ValueError):  # beyond the year 9999
        return


@lru_cache(maxsize=512)
def ever_closes(text: str, duration_seconds: float) -> bool:
    """Whether windows that open by a schedule leave any time between them; summer time left out of account."""
    last = (_SAMPLE_START + timedelta(days=365 * _SAMPLE_YEARS)).timestamp()
    before: float | None = None
    for number, moment in enumerate(openings(text, UTC, _SAMPLE_START.timestamp())):
        if before is not None and moment - before > duration_seconds:
            return True
        if number > _SAMPLE_SIZE or moment > last:
            return before is None
        before = moment
    return True


def _simulated(text: str, start: datetime) -> CronSim:
    fields = SHORTHANDS.get(text.strip().lower(), text)
    if len(text) > _LONGEST_TEXT or len(fields.split()) != 5:
        raise ValueError(f"{text[:60]!r} is not a schedule; {_FORM}")
    try:
        return CronSim(fields, start)
    except CronSimError as error:
        minute, hour, day, _, weekday = fields.split()
        if "day-of-month" in str(error) and _is_readable(f"{minute} {hour} {day} * {weekday}"):
            raise ValueError(_never(text)) from None
        raise ValueError(f"{text[:60]!r} is not a schedule ({str(error).lower()}); {_FORM}") from None


def _is_readable(fields: str) -> bool:
    try:
        CronSim(fields, _SAMPLE_START)
    except CronSimError:
        return False
    return True


def _never(text: str) -> str:
    return f"{text[:60]!r} never opens: no such day is in those months"
