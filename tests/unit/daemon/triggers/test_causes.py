"""Causes: a burst asks once, a persistent cause asks again with growing back-off, and nothing is ever forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from math import inf

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.daemon.triggers.causes import LONGEST_BURST, Causes, TriggerBackOff
from tests.builders import NOW
from tests.unit.daemon.triggers.sights import report

FIRST, LONGEST, DEBOUNCE = 60.0, 480.0, 5.0
MOMENT = 1e-3  # what is lost where seconds since the epoch are added up


def causes() -> Causes[str]:
    """With the usual waits."""
    return Causes(TriggerBackOff(first=FIRST, longest=LONGEST), DEBOUNCE)


def see(asked: Causes[str], at: float, **present: float) -> tuple[str, ...]:
    """What is asked for ``at`` seconds after NOW."""
    return asked.see({key: NOW + ripe for key, ripe in present.items()}, NOW + at)


def test_a_burst_asks_once_when_it_is_over() -> None:
    """Five seconds after the last of them."""
    asked = causes()
    assert see(asked, 0, a=0) == ()
    assert see(asked, 3, a=0, b=3) == ()
    assert asked.wake_at(NOW + 3) == NOW + 8
    assert see(asked, 7.9, a=0, b=3) == ()
    assert see(asked, 8, a=0, b=3) == ("a", "b")
    assert see(asked, 9, a=0, b=3) == ()


def test_a_burst_without_an_end_is_cut_off() -> None:
    """Six times the debounce after its first."""
    asked = causes()
    fired = [at for at in range(60) if see(asked, at, **{f"c{n:02}": float(n) for n in range(at + 1)})]
    assert fired[0] == LONGEST_BURST * DEBOUNCE


def test_what_was_ripe_long_ago_asks_at_once() -> None:
    """At the start of the daemon, say."""
    assert see(causes(), 0, a=-100, b=-7) == ("a", "b")


def test_a_cause_that_stays_asks_again_ever_more_seldom() -> None:
    """After one minute, two, four, eight, and then every eight, counted from the end of the round."""
    asked = causes()
    times, at = [], 0.0
    while at < 3000:
        if see(asked, at, a=-60):
            times.append(at)
            at += 10
            asked.answered(report(at - 10, at))
        at += 1
    waits = [later - earlier for earlier, later in pairwise(times)]
    assert [round(wait - 10 - DEBOUNCE) for wait in waits[:6]] == [60, 120, 240, 480, 480, 480]


def test_a_cause_that_was_gone_is_a_new_one() -> None:
    """Its back-off goes with it."""
    asked = causes()
    assert see(asked, 0, a=-60) == ("a",)
    asked.answered(report(0, 1))
    assert see(asked, 2) == ()
    assert asked.wake_at(NOW + 2) is None
    assert see(asked, 10, a=3) == ("a",)


def test_a_round_that_another_trigger_asked_for_counts_too() -> None:
    """It looked at the whole cluster, so what was ripe then need not ask for the same again."""
    asked = causes()
    assert see(asked, 2, a=0) == ()
    asked.answered(report(2, 4))
    assert see(asked, 60, a=0) == ()
    assert see(asked, 4 + FIRST + DEBOUNCE, a=0) == ("a",)


def test_a_round_that_began_before_does_not_count() -> None:
    """It cannot have looked at what was not ripe yet."""
    asked = causes()
    assert see(asked, 2, a=1) == ()
    asked.answered(report(0, 4))
    assert see(asked, 6, a=1) == ("a",)


def test_a_round_that_is_held_does_not_make_it_wait_longer() -> None:
    """It is tried again by itself; the wait after it is still the first one."""
    asked = causes()
    assert see(asked, 0, a=-60) == ("a",)
    asked.answered(report(0, 1, is_held=True))
    asked.answered(report(30, 31))
    assert see(asked, 31 + FIRST - 1, a=-60) == ()
    assert see(asked, 31 + FIRST + DEBOUNCE, a=-60) == ("a",)


def test_without_any_answer_it_asks_again() -> None:
    """An occasion that got lost is not the end of it."""
    asked = causes()
    assert see(asked, 0, a=-60) == ("a",)
    assert see(asked, FIRST + DEBOUNCE, a=-60) == ("a",)


def test_a_favourable_change_begins_anew() -> None:
    """Tries are forgotten, and the wait ends at the time that is given."""
    asked = causes()
    for at in (0, 100, 300):
        assert see(asked, at, a=-60) == ("a",)
        asked.answered(report(at, at + 1))
    asked.forgive(NOW + 330)
    assert see(asked, 334, a=-60) == ()
    assert see(asked, 335, a=-60) == ("a",)
    assert see(asked, 335 + FIRST + DEBOUNCE, a=-60) == ("a",)


def test_a_clock_that_is_set_back_does_not_silence_it() -> None:
    """It waits for the longest back-off at most."""
    asked = causes()
    assert see(asked, 86400, a=0) == ("a",)
    assert see(asked, 0, a=-60) == ()
    assert see(asked, LONGEST + DEBOUNCE, a=-60) == ("a",)


def test_what_never_asks_does_not_wake() -> None:
    """An infinite time stands for what was said once and asked for."""
    asked = causes()
    assert asked.see({"a": inf}, NOW) == ()
    assert asked.wake_at(NOW) is None


LIVES = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.tuples(st.floats(0, 2000), st.floats(1, 3000)),  # ripe at, and for how long it is there
    min_size=1,
)


@given(LIVES, st.floats(0.1, 30), st.booleans())
def test_nothing_asks_too_often_and_everything_asks_in_time(
    lives: Mapping[str, tuple[float, float]], took: float, answers: bool
) -> None:
    """Whatever comes and goes: a first back-off between two times; and each within a burst of being ripe."""
    asked = causes()
    fired: dict[str, list[float]] = {key: [] for key in lives}
    changes = sorted({at for ripe, there in lives.values() for at in (ripe, ripe + there)})
    at, end = 0.0, 5200.0
    while at < end:
        present = {key: ripe for key, (ripe, there) in lives.items() if ripe <= at < ripe + there}
        for key in see(asked, at, **present):
            fired[key].append(at)
        if any(times and times[-1] == at for times in fired.values()) and answers:
            asked.answered(report(at, at + took))
            at += took
            continue
        wake = asked.wake_at(NOW + at)
        later = [change for change in changes if change > at]
        at = min([*later[:1], *([] if wake is None else [max(wake - NOW, at + 1e-6)]), end])
    rounds = sorted(time for times in fired.values() for time in times)
    for key, (ripe, there) in lives.items():
        waits = [second - first for first, second in zip(fired[key], fired[key][1:], strict=False)]
        assert all(wait >= FIRST - MOMENT for wait in waits)
        assert all(ripe <= time + MOMENT and time <= ripe + there + took for time in fired[key])
        if there > LONGEST_BURST * DEBOUNCE + took:
            looked_at = rounds if answers else fired[key]  # a round looks at all that is ripe, whoever asked for it
            latest = ripe + LONGEST_BURST * DEBOUNCE + took + MOMENT
            assert any(ripe <= time + MOMENT and time <= latest for time in looked_at)
