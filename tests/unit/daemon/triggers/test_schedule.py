"""Schedule: intervals and times of the clock; what came together asks once, and nothing is dropped."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from typing import Any

import pytest
from apscheduler.triggers.combining import OrTrigger
from apscheduler.triggers.cron import CronTrigger
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.daemon.triggers import make_triggers
from rescheduler.extension_points import Trigger
from rescheduler.policy.fields.cron import openings, zone_of
from rescheduler.policy.fields.daemon.triggers import TriggerEntry
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster
from tests.unit.daemon.triggers.sights import firings, sight, trigger


def times(asked: Trigger, until: float, took: float = 1.0) -> list[float]:
    """When it asks, in seconds after NOW."""
    found = firings(asked, lambda at: cluster(taken_at=NOW + at), until, round_seconds=took)
    return [round(at, 3) for at, _ in found]


def test_an_interval_begins_with_a_round() -> None:
    """Then it follows regularly from the start, whatever the rounds take."""
    assert times(trigger("Schedule", every="5m"), 1000) == [0, 300, 600, 900]
    assert times(trigger("Schedule", every="5m"), 1000, took=250) == [0, 300, 600, 900]


def test_without_arguments_it_is_every_five_minutes() -> None:
    """As in a policy without triggers."""
    assert times(trigger("Schedule"), 650) == [0, 300, 600]


def test_a_round_that_takes_longer_than_the_interval_is_followed_by_one() -> None:
    """And the times that came meanwhile are counted."""
    asked = trigger("Schedule", every="1m")
    first, second = asked.look(sight(0)), asked.look(sight(200))
    assert first is not None
    assert first.reason == "every 1m" or first.reason == "every 60s"
    assert second is not None
    assert second.reason.endswith("; 3 such times came together")
    assert asked.look(sight(201)) is None
    assert asked.wake_at(NOW + 201) == NOW + 240


def test_times_that_nobody_looked_at_ask_once() -> None:
    """A machine that slept for a day does not run 1,440 rounds; far too many times are not even counted."""
    asked = trigger("Schedule", every="1s")
    occasion = asked.look(sight(86400))
    assert occasion is not None
    assert "1000 or more such times came together" in occasion.reason
    assert asked.look(sight(86400.5)) is None


def test_a_clock_that_is_set_back_does_not_silence_it() -> None:
    """The next time is looked for anew."""
    asked = trigger("Schedule", every="5m")
    assert asked.look(sight(86400)) is not None
    assert asked.wake_at(NOW + 100) == NOW + 100
    assert asked.look(sight(100)) is None
    assert asked.wake_at(NOW + 100) == NOW + 300


def test_jitter_is_repeatable_and_within_bounds() -> None:
    """The same seed gives the same times, each up to so much later."""
    first = times(trigger("Schedule", seed=7, every="5m", jitter="30s"), 3000)
    assert first == times(trigger("Schedule", seed=7, every="5m", jitter="30s"), 3000)
    assert first != times(trigger("Schedule", seed=8, every="5m", jitter="30s"), 3000)
    delays = [at - 300 * number for number, at in enumerate(first)]
    assert all(0 <= delay <= 30 for delay in delays)
    assert len(set(delays)) == len(delays)


def test_two_schedules_of_a_policy_have_their_own_jitter() -> None:
    """Else they would always come together."""
    entry = {"every": "5m", "jitter": "1m"}
    entries = (TriggerEntry(name="Schedule", args=entry), TriggerEntry(name="Schedule", args={**entry, "every": "10m"}))
    one, two = make_triggers(Policy(triggers=entries), 0, NOW)
    assert one.wake_at(NOW) != two.wake_at(NOW)


def moment(text: str) -> float:
    """Seconds since the epoch of a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def rounds(cron: str, zone: str, start: str, count: int) -> list[str]:
    """The next times in UTC at which a daemon started then asks."""
    entry = TriggerEntry(name="Schedule", args={"cron": cron, "timeZone": zone})
    (asked,) = make_triggers(Policy(triggers=(entry,)), 0, moment(start))
    found = []
    now = moment(start)
    for _ in range(count):
        now = asked.wake_at(now) or 0.0
        assert asked.look(sight(now - NOW)) is not None
        found.append(f"{datetime.fromtimestamp(now, UTC):%Y-%m-%d %H:%M}")
    return found


def test_cron_follows_its_time_zone_over_both_changes_of_the_clock() -> None:
    """A time that is skipped comes right after the gap, one that comes twice asks once."""
    assert rounds("30 2 * * *", "Europe/Berlin", "2026-03-28 00:00", 3) == [
        "2026-03-28 01:30", "2026-03-29 01:00", "2026-03-30 00:30",
    ]  # fmt: skip
    assert rounds("30 2 * * *", "Europe/Berlin", "2026-10-24 12:00", 2) == ["2026-10-25 00:30", "2026-10-26 01:30"]


def test_sunday_is_0_and_7_and_monday_is_1() -> None:
    """As cron has it: libraries that begin a week on Monday would be a day off. 22 November 2026 is a Sunday."""
    for sunday in ("0", "7", "SUN"):
        assert rounds(f"0 0 * * {sunday}", "UTC", "2026-11-20 00:00", 1) == ["2026-11-22 00:00"]
    assert rounds("0 0 * * 1", "UTC", "2026-11-20 00:00", 1) == ["2026-11-23 00:00"]


def test_cron_does_not_ask_at_the_start() -> None:
    """Only at its times, a start at such a time apart: that one is over."""
    assert rounds("0 0 * * *", "UTC", "2026-11-20 00:00", 1) == ["2026-11-21 00:00"]


NUMBERS = {"minute": (0, 59), "hour": (0, 23), "day": (1, 28), "month": (1, 12), "weekday": (0, 6)}
NAMES = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")


def field(name: str) -> st.SearchStrategy[list[int] | None]:
    """Some values of a field of cron, or all."""
    low, high = NUMBERS[name]
    return st.none() | st.lists(st.integers(low, high), min_size=1, max_size=3, unique=True).map(sorted)


def written(values: list[int] | None) -> str:
    """As cron has it."""
    return "*" if values is None else ",".join(map(str, values))


@given(
    st.fixed_dictionaries({name: field(name) for name in NUMBERS}),
    st.sampled_from(["UTC", "Asia/Kathmandu", "Asia/Kolkata"]),
    st.integers(int(moment("2024-01-01 00:00")), int(moment("2028-01-01 00:00"))),
)
def test_cron_is_read_as_a_second_library_reads_it(fields: dict[str, Any], zone: str, after: int) -> None:
    """APScheduler, told weekdays by name and that either kind of day is enough, finds the same times."""
    cron = " ".join(written(fields[name]) for name in NUMBERS)
    days, weekdays = fields["day"], fields["weekday"]
    rest = {name: written(fields[name]) for name in ("minute", "hour", "month")}
    of_week = None if weekdays is None else ",".join(NAMES[day] for day in weekdays)
    either = [{"day": written(days)}, {"day_of_week": of_week}] if days is not None and weekdays is not None else None
    kinds = either or [{key: value for key, value in (("day", written(days)), ("day_of_week", of_week)) if value}]
    other = OrTrigger([CronTrigger(**rest, **kind, second="0", timezone=zone_of(zone)) for kind in kinds])
    found = list(islice(openings(cron, zone_of(zone), after), 3))
    now = datetime.fromtimestamp(after + 1, UTC)
    for at in found:
        expected = other.get_next_fire_time(None, now)
        assert expected.timestamp() == at
        now = datetime.fromtimestamp(at + 1, UTC)


@pytest.mark.parametrize("now", [4e11, 1e18])
def test_times_beyond_the_calendar_never_come(now: float) -> None:
    """A recording may name any time; it is no fault of the trigger's."""
    for args in ({"every": "5m"}, {"cron": "0 0 * * *", "timeZone": "UTC"}):
        asked = trigger("Schedule", **args)
        asked.look(sight(now))
        asked.look(sight(now + 1))
        assert asked.wake_at(NOW + now + 2) is None


@given(st.lists(st.floats(0.1, 2000), min_size=1, max_size=30), st.floats(1, 900), st.floats(0, 60))
def test_a_time_that_has_come_is_never_dropped(gaps: list[float], every: float, jitter: float) -> None:
    """However seldom it is looked at: it asks exactly if a time has come since the last look."""
    jitter = min(jitter, every)
    asked = trigger("Schedule", every=f"{every:.3f}s", jitter=f"{jitter:.3f}s")
    every = float(f"{every:.3f}")
    at, asked_at = 0.0, -every
    for gap in gaps:
        at += gap
        is_due = asked.wake_at(NOW + at)
        assert is_due is not None
        occasion = asked.look(sight(at))
        assert (occasion is not None) is (is_due <= NOW + at)
        if occasion is not None:
            asked_at = at
        assert at - asked_at <= every + jitter + 1e-3
