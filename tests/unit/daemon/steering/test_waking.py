"""How long the loop sleeps: what ends its sleep at once, what after a while, and what is never lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.daemon.steering.waking import LONGEST_BURST_SECONDS, QUIET_SECONDS, Waking
from tests.clocks import FakeClock


class FineClock(FakeClock):
    """Begins at 0, where hundredths of a second add up as they should."""

    def monotonic(self) -> float:
        """The time itself."""
        return self.time


class Script:
    """Stands in for the event that is waited on: time passes, and things happen at times that are written down."""

    def __init__(self) -> None:
        self.clock = FineClock(0.0)
        self.acts: list[tuple[float, Callable[[], None]]] = []
        self.is_set = False
        self.looks = 0

    def set(self) -> None:
        """As threading.Event."""
        self.is_set = True

    def clear(self) -> None:
        """As threading.Event."""
        self.is_set = False

    def wait(self, seconds: float) -> None:
        """Pass so many seconds, or fewer if somebody sets it."""
        self.looks += 1
        assert self.looks < 1000, "it does not come to an end"
        ends = self.clock.time + seconds
        while not self.is_set and self.acts and self.acts[0][0] <= ends:
            at, act = self.acts.pop(0)
            self.clock.time = max(self.clock.time, at)
            act()
        if not self.is_set:
            self.clock.time = ends


def _scene(*, calls: tuple[float, ...] = (), stirs: tuple[float, ...] = ()) -> tuple[Waking, Script, float]:
    """Somebody calls, and the cluster stirs, so many seconds from now."""
    script: Any = Script()
    waking, now = Waking(script.clock, script), script.clock.time
    acts = [(now + at, waking.set) for at in calls] + [(now + at, waking.stir) for at in stirs]
    script.acts = sorted(acts, key=lambda act: act[0])
    return waking, script, now


def _slept(longest: float, rest: float = 0.0, **happens: tuple[float, ...]) -> float:
    waking, script, began = _scene(**happens)
    waking.sleep(longest, rest)
    return round(script.clock.time - began, 6)


def test_nothing_happens() -> None:
    """The sleep is as long as it may be."""
    assert _slept(1.0) == 1.0


def test_a_call_ends_the_sleep_at_once() -> None:
    """Though the cluster stirs, and though there should be rest from looking."""
    assert _slept(1.0, rest=0.9, calls=(0.3,), stirs=(0.25,)) == 0.3


def test_what_stirs_ends_it_when_no_more_comes() -> None:
    """Pods of one burst are looked at together."""
    assert _slept(1.0, stirs=(0.2,)) == round(0.2 + QUIET_SECONDS, 6)
    assert _slept(1.0, stirs=(0.2, 0.25, 0.32)) == round(0.32 + QUIET_SECONDS, 6)


def test_a_burst_without_end_is_cut_off() -> None:
    """Who goes on and on is not waited for."""
    stirs = tuple(0.1 + 0.05 * number for number in range(40))
    assert _slept(5.0, stirs=stirs) == 0.1 + LONGEST_BURST_SECONDS


def test_a_cluster_that_stirs_all_the_time_does_not_shorten_the_rest() -> None:
    """Looking at a large cluster costs much."""
    assert _slept(20.0, rest=15.0, stirs=tuple(0.1 * number for number in range(100))) == 15.0


def test_what_happened_while_nobody_slept_is_not_lost() -> None:
    """A call before the sleep ends it at once; what stirred before it, after a short while; each of them once."""
    waking, script, began = _scene()
    waking.set()
    waking.sleep(1.0)
    assert script.clock.time == began
    waking.stir()
    waking.sleep(1.0)
    assert round(script.clock.time - began, 6) == QUIET_SECONDS
    waking.sleep(1.0)
    assert round(script.clock.time - began, 6) == 1.0 + QUIET_SECONDS


TIMES = st.lists(st.integers(0, 300), max_size=12).map(lambda found: tuple(at / 100 for at in found))


@given(calls=TIMES, stirs=TIMES, longest=st.integers(1, 300), rest=st.integers(0, 300))
def test_the_sleep_ends_between_its_bounds(
    calls: tuple[float, ...], stirs: tuple[float, ...], longest: int, rest: int
) -> None:
    """Never later than it may, nor than a call; without a call not before something stirs, nor before the rest."""
    seconds, least = longest / 100, rest / 100
    slept = _slept(seconds, least, calls=calls, stirs=stirs)
    assert slept <= min((seconds, *calls)) + 1e-6
    if not any(call <= slept + 1e-6 for call in calls):
        first = min((at for at in stirs), default=seconds)
        assert slept >= min(seconds, max(least, first)) - 1e-6


def test_another_thread_wakes_the_sleeper() -> None:
    """With real threads: the sleep of an hour ends."""
    waking = Waking(FakeClock())
    threading.Timer(0.01, waking.set).start()
    waking.sleep(3600.0)


def test_when_it_first_stirred_is_told_once() -> None:
    """Of a burst the first: what is new since then is no older."""
    clock = FineClock(0.0)
    waking = Waking(clock)
    assert waking.stirred_at() is None
    for at in (3.0, 4.0):
        clock.time = at
        waking.stir()
    waking.set()
    assert waking.stirred_at() == 3.0
    assert waking.stirred_at() is None
    clock.time = 5.0
    waking.stir()
    assert waking.stirred_at() == 5.0
