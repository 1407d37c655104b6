"""Windows of time: what lies inside, until when, and when they open next."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rescheduler.disruption.budgets.windows import TimeSpan, closure_at, next_spans, opening_sentences, span_at, told
from rescheduler.policy.fields.budgets import Budget
from rescheduler.policy.fields.windows import Window, WindowType

HOUR = 3600.0


def moment(text: str) -> float:
    """Seconds since the epoch of a time in UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def window(schedule: str, hours: float, zone: str = "UTC", kind: str = "Allow") -> Window:
    """A window of so many hours."""
    return Window(type=WindowType(kind), schedule=schedule, duration=hours * HOUR, time_zone=zone)


NIGHT = window("0 22 * * *", 8)
BERLIN_NIGHT = window("0 22 * * *", 8, "Europe/Berlin")


@pytest.mark.parametrize(
    ("time", "is_inside"),
    [
        ("2026-06-01 21:59:59", False),
        ("2026-06-01 22:00:00", True),
        ("2026-06-02 00:00:00", True),
        ("2026-06-02 05:59:59", True),
        ("2026-06-02 06:00:00", False),
        ("2026-06-02 12:00:00", False),
    ],
)
def test_a_window_holds_its_start_and_not_its_end(time: str, is_inside: bool) -> None:
    """Over midnight too."""
    found = span_at(NIGHT, moment(time))
    assert found == (TimeSpan(moment("2026-06-01 22:00"), moment("2026-06-02 06:00")) if is_inside else None)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("2026-03-28 21:00", "2026-03-29 05:00"),  # clocks go forward: 06:00 becomes 07:00 in Berlin
        ("2026-10-24 20:00", "2026-10-25 04:00"),  # clocks go back: 06:00 becomes 05:00
        ("2026-01-10 21:00", "2026-01-11 05:00"),
    ],
)
def test_a_window_lasts_as_long_when_clocks_are_changed(start: str, end: str) -> None:
    """Eight hours are eight hours, whatever clocks on walls do meanwhile."""
    span = TimeSpan(moment(start), moment(end))
    assert span_at(BERLIN_NIGHT, span.start) == span
    assert span_at(BERLIN_NIGHT, span.end - 1) == span
    assert span_at(BERLIN_NIGHT, span.start - 1) is None
    assert span_at(BERLIN_NIGHT, span.end) is None


def test_a_window_that_opens_in_the_skipped_hour_opens_after_it() -> None:
    """02:30 does not exist on 29 March 2026 in Berlin; the window begins at 03:00, which is 01:00 UTC."""
    early = window("30 2 * * *", 1, "Europe/Berlin")
    assert span_at(early, moment("2026-03-29 01:10")) == TimeSpan(
        moment("2026-03-29 01:00"), moment("2026-03-29 02:00")
    )
    assert span_at(early, moment("2026-03-29 00:59")) is None


def test_a_window_in_the_hour_that_comes_twice_opens_once() -> None:
    """02:30 is 00:30 UTC and again 01:30 UTC on 25 October 2026; half an hour after the first, it is over."""
    early = window("30 2 * * *", 0.5, "Europe/Berlin")
    assert span_at(early, moment("2026-10-25 00:45")) is not None
    assert span_at(early, moment("2026-10-25 01:45")) is None


def test_windows_that_touch_are_one() -> None:
    """Saturday and Sunday, each of 24 hours, are one weekend."""
    weekend = window("0 0 * * 0,6", 24)
    assert span_at(weekend, moment("2026-06-06 10:00")) == TimeSpan(
        moment("2026-06-06 00:00"), moment("2026-06-08 00:00")
    )
    assert span_at(weekend, moment("2026-06-05 23:59")) is None


def test_the_next_windows_are_told_apart() -> None:
    """Each by itself, those that touch too."""
    found = next_spans(window("0 0 * * 0,6", 24), moment("2026-06-03"), 2)
    assert [span.start for span in found] == [moment("2026-06-06"), moment("2026-06-07")]
    assert [span.end for span in found] == [moment("2026-06-07"), moment("2026-06-08")]


def test_no_windows_forbid_nothing() -> None:
    """Whatever the time, and where it is not known."""
    assert closure_at((), moment("2026-06-01")) is None
    assert closure_at((), 0.0) is None


def test_outside_of_every_allow_window_is_closed_until_the_next_one() -> None:
    """Two windows: either will do."""
    lunch = window("0 12 * * *", 1)
    closed = closure_at((NIGHT, lunch), moment("2026-06-01 10:00"))
    assert closed is not None
    assert (closed.reason, closed.opens_at) == ("is outside of its windows", moment("2026-06-01 12:00"))
    assert closure_at((NIGHT, lunch), moment("2026-06-01 12:30")) is None
    assert closure_at((NIGHT, lunch), moment("2026-06-01 23:30")) is None


def test_a_freeze_closes_what_an_allow_window_opens() -> None:
    """And what opens next is when both let it."""
    frozen = window("0 23 * * *", 2, kind="Freeze")
    closed = closure_at((NIGHT, frozen), moment("2026-06-01 23:30"))
    assert closed is not None
    assert closed.reason == "is frozen until 2026-06-02 01:00 UTC"
    assert closed.opens_at == moment("2026-06-02 01:00")
    assert closure_at((NIGHT, frozen), moment("2026-06-01 22:30")) is None
    assert closure_at((NIGHT, frozen), moment("2026-06-02 01:00")) is None


def test_a_freeze_alone_leaves_all_other_times_open() -> None:
    """No Allow window means any time."""
    frozen = window("0 8 * * 1-5", 10, kind="Freeze")
    assert closure_at((frozen,), moment("2026-06-06 12:00")) is None
    assert closure_at((frozen,), moment("2026-06-05 12:00")) is not None


def test_an_opening_that_a_freeze_swallows_is_not_promised() -> None:
    """The freeze covers the next night, so the one after it is told."""
    frozen = window("0 12 1 6 *", 24, kind="Freeze")
    closed = closure_at((NIGHT, frozen), moment("2026-06-01 10:00"))
    assert closed is not None
    assert closed.opens_at == moment("2026-06-02 22:00")


def test_windows_that_never_open_together_promise_nothing() -> None:
    """A freeze from before each opening to after its end."""
    frozen = window("0 21 * * *", 10, kind="Freeze")
    closed = closure_at((NIGHT, frozen), moment("2026-06-01 10:00"))
    assert closed is not None
    assert closed.opens_at is None


def test_what_lies_behind_fifty_openings_that_freezes_swallow_is_not_promised() -> None:
    """The search for a moment that is both allowed and not frozen ends."""
    frozen = window("0 21 * 1-2 *", 10, kind="Freeze")
    late = window("30 6 11 1 *", 1, kind="Freeze")
    found = [closure_at((NIGHT, frozen, *more), moment("2026-01-10 22:00")) for more in ((), (late,))]
    assert [None if one is None else one.opens_at for one in found] == [moment("2026-03-01 22:00"), None]


def test_windows_that_run_into_each_other_are_followed_two_thousand_times() -> None:
    """However much longer they go on: here, each minute until the end of the month."""
    found = span_at(window("* * 1,4-31 * *", 1 / 60), moment("2026-06-04 12:00"))
    assert found is not None
    assert found.end - found.start == 60 * 2000


@pytest.mark.parametrize("kind", ["Allow", "Freeze"])
def test_at_an_unknown_time_everything_with_windows_is_closed(kind: str) -> None:
    """A recording that names no time could be of any."""
    closed = closure_at((window("0 22 * * *", 8, kind=kind),), 0.0)
    assert closed is not None
    assert "not known" in closed.reason


@pytest.mark.parametrize(
    ("time", "zone", "text"),
    [
        ("2026-06-01 22:00", "UTC", "2026-06-01 22:00 UTC"),
        ("2026-06-01 22:00", "Etc/UTC", "2026-06-01 22:00 UTC"),
        ("2026-01-10 12:00", "Europe/London", "2026-01-10 12:00 UTC (12:00 Europe/London)"),
        ("2026-06-01 12:00", "Europe/Berlin", "2026-06-01 12:00 UTC (14:00 Europe/Berlin)"),
        ("2026-06-01 23:00", "Europe/Berlin", "2026-06-01 23:00 UTC (2026-06-02 01:00 Europe/Berlin)"),
    ],
)
def test_times_are_told_in_utc_and_locally(time: str, zone: str, text: str) -> None:
    """The local day only where it is another."""
    assert told(moment(time), zone) == text


def test_a_time_beyond_the_calendar_is_told_as_such() -> None:
    """No number makes a message fail."""
    assert told(1e18, "UTC") == "a time beyond the calendar"


def test_the_next_three_openings_of_each_window_are_told() -> None:
    """For an operator who wants to know what the schedule means."""
    budgets = (Budget(name="nights", windows=(BERLIN_NIGHT,)),)
    assert list(opening_sentences(budgets, moment("2026-03-28 12:00"))) == [
        (
            "Allow window 0 22 * * * (Europe/Berlin) of budget nights opens next at 2026-03-28 21:00 UTC (22:00 "
            "Europe/Berlin), 2026-03-29 20:00 UTC (22:00 Europe/Berlin), 2026-03-30 20:00 UTC (22:00 Europe/Berlin)"
        )
    ]


def test_a_window_that_is_open_says_until_when() -> None:
    """Before it says when it opens again."""
    (sentence,) = opening_sentences((Budget(windows=(NIGHT,)),), moment("2026-06-01 23:00"))
    assert "is open until 2026-06-02 06:00 UTC, and opens next at 2026-06-02 22:00 UTC" in sentence
