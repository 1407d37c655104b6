"""Schedules in time zones, over the nights on which clocks are changed too."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.policy.fields.cron import checked_schedule, ever_closes, openings, zone_of

BERLIN = ZoneInfo("Europe/Berlin")


def moment(text: str) -> float:
    """Seconds since the epoch of a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def times(schedule: str, after: str, count: int = 3, zone: ZoneInfo = BERLIN) -> list[str]:
    """The next openings in UTC."""
    found = islice(openings(schedule, zone, moment(after)), count)
    return [f"{datetime.fromtimestamp(one, UTC):%Y-%m-%d %H:%M}" for one in found]


def test_a_time_of_day_follows_summer_time() -> None:
    """22:00 in Berlin is 21:00 UTC in winter and 20:00 UTC in summer."""
    assert times("0 22 * * *", "2026-03-27 21:30") == ["2026-03-28 21:00", "2026-03-29 20:00", "2026-03-30 20:00"]


def test_a_time_that_the_clocks_skip_comes_right_after_the_gap() -> None:
    """On 29 March 2026 there is no 02:30 in Berlin: 02:00 is 03:00, which is 01:00 UTC."""
    assert times("30 2 * * *", "2026-03-28 12:00", 2) == ["2026-03-29 01:00", "2026-03-30 00:30"]


def test_a_time_that_comes_twice_opens_once() -> None:
    """On 25 October 2026 it is 02:30 in Berlin at 00:30 UTC and again at 01:30 UTC."""
    assert times("30 2 * * *", "2026-10-24 12:00", 2) == ["2026-10-25 00:30", "2026-10-26 01:30"]


@pytest.mark.parametrize("after", ["2026-10-25 00:45", "2026-10-25 01:05", "2026-10-25 01:29", "2026-10-25 01:40"])
def test_an_opening_is_later_than_the_moment_in_the_hour_that_comes_twice(after: str) -> None:
    """In the second 02:xx the opening of the first one is over."""
    assert times("30 2 * * *", after, 1) == ["2026-10-26 01:30"]


def test_the_weekday_is_that_of_the_time_zone() -> None:
    """Saturday 00:30 in Auckland is still Friday in UTC."""
    (found,) = times("30 0 * * 6", "2026-06-01 00:00", 1, ZoneInfo("Pacific/Auckland"))
    assert found == "2026-06-05 12:30"


@given(
    st.sampled_from(["0 22 * * *", "30 2 * * *", "*/20 * * * *", "0 3 29 2 *", "15 1,2 * * 0", "@hourly"]),
    st.sampled_from(["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu"]),
    st.integers(int(moment("2024-01-01")), int(moment("2030-01-01"))),
)
def test_openings_rise_and_lie_after_the_moment(schedule: str, zone: str, after: int) -> None:
    """Whatever the zone and whatever its clocks do."""
    found = list(islice(openings(schedule, ZoneInfo(zone), after), 5))
    assert found == sorted(set(found))
    assert len(found) == 5
    assert found[0] > after


@pytest.mark.parametrize("after", [-1.0, 1e12, 1e18, float("inf")])
def test_moments_beyond_the_calendar_have_no_openings(after: float) -> None:
    """A recording may name any time; nobody gets a traceback for it."""
    assert list(islice(openings("0 22 * * *", BERLIN, after), 2)) == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("0 0 30 2 *", "never opens"),
        ("0 0 31 4,6 *", "never opens"),
        ("0 0 * *", "is not a schedule; write five fields"),
        ("0 0 0 * * *", "is not a schedule; write five fields"),
        ("0 22 * 13 *", "bad month"),
        ("60 22 * * *", "bad minute"),
        ("* * * * FRI-SUN", "bad day-of-week"),
        ("@nightly", "is not a schedule"),
        ("", "is not a schedule"),
        ("0 0 * * *" + " " * 500, "is not a schedule"),
    ],
)
def test_what_is_no_schedule_is_refused(text: str, told: str) -> None:
    """With what is wrong about it; days that no month has are told apart from typing errors."""
    with pytest.raises(ValueError, match=told):
        checked_schedule(text)


@pytest.mark.parametrize("text", ["0 22 * * 1-5", "0 22 * * SUN-FRI", "0 0 29 2 *", "@daily", " @Daily ", "0 0 L * *"])
def test_schedules_that_open_are_taken(text: str) -> None:
    """Names of days, the last day of a month, a leap day and the short names too."""
    assert checked_schedule(text) == text


@pytest.mark.parametrize("name", ["CEST", "", "../zone.tab", "Europe", "localtime", "europe/berlin", "a\0b", "x" * 300])
def test_only_names_of_the_time_zone_database_are_zones(name: str) -> None:
    """An abbreviation names no zone: whose summer time would it be?"""
    with pytest.raises(ValueError, match="time zone"):
        zone_of(name)


@pytest.mark.parametrize(
    ("schedule", "seconds", "closes"),
    [
        ("0 22 * * *", 86400, False),
        ("0 22 * * *", 86399, True),
        ("0 0 * * 0,6", 86400, True),
        ("* * * * *", 60, False),
        ("* 9-17 * * *", 600, True),
        ("0 0 1 * *", 30 * 86400, True),
        ("0 0 1 * *", 31 * 86400, False),
        ("0 0 29 2 *", 86400, True),
    ],
)
def test_windows_that_never_close_are_known(schedule: str, seconds: float, closes: bool) -> None:
    """Two windows may touch, as on a weekend, if there is a time between others."""
    assert ever_closes(schedule, seconds) is closes
