"""A run asks less often where much was asked already, and never for more than its share of a minute."""

from __future__ import annotations

from collections import deque
from itertools import pairwise

import pytest

from rescheduler.execution.pacing import BRISK, LONGEST_SECONDS, MOST, WINDOW_SECONDS, RequestPace
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.execution.stopping import Waiter
from tests.clocks import FakeClock
from tests.unit.execution.worlds import AllowAll, World, fragmented, two_moves


class Wire:
    """Counts what is asked on a clock."""

    def __init__(self, clock: FakeClock) -> None:
        self._clock = clock
        self._at: deque[float] = deque()

    def ask(self, times: int) -> None:
        """So many requests, now."""
        self._at.extend([self._clock.monotonic()] * times)

    def asked(self) -> int:
        """Within the last minute."""
        while self._at and self._at[0] < self._clock.monotonic() - WINDOW_SECONDS:
            self._at.popleft()
        return len(self._at)


@pytest.mark.parametrize(("asked", "is_hurried"), [(BRISK, False), (BRISK + 1, True)])
def test_up_to_its_brisk_share_nothing_is_slowed_down(asked: int, is_hurried: bool) -> None:
    """Beyond, whatever can wait should, and looks pause."""
    pace = RequestPace(lambda: asked)
    assert pace.is_hurried is is_hurried
    assert (pace.pause(0) > 0.0) is is_hurried


@pytest.mark.parametrize(("asked", "cost", "seconds"), [(480, 2, 2.0), (480, 1, 1.0), (530, 5, LONGEST_SECONDS)])
def test_dear_looks_pause_for_longer(asked: int, cost: int, seconds: float) -> None:
    """By their share of what is left of the minute, and at most so long."""
    assert RequestPace(lambda: asked).pause(asked - cost) == seconds


@pytest.mark.parametrize("cost", [1, 2, 5])
def test_looks_alone_stay_below_ten_a_second(cost: int) -> None:
    """However long they go on after as much as evictions may ask for."""
    clock = FakeClock()
    wire = Wire(clock)
    wire.ask(BRISK + 40)
    highest = 0
    for _ in Waiter(clock, 1e6, pace=RequestPace(wire.asked)).polls(300.0):
        wire.ask(cost)
        highest = max(highest, wire.asked())
    assert BRISK + 40 < highest <= MOST


def test_a_paced_pause_still_keeps_up() -> None:
    """What must not run out is renewed each second, and an order to end is heard."""
    clock, kept = FakeClock(), list[float]()
    pace = RequestPace(lambda: MOST)
    looks = 0
    for _ in Waiter(clock, 1e6, lambda: kept.append(clock.monotonic()), pace).polls(9.0):
        looks += 1
    assert looks == 3
    assert max(after - before for before, after in pairwise(kept)) <= 1.0


def test_a_move_is_not_begun_before_the_minute_has_room_for_it() -> None:
    """It waits, and is carried out as planned then."""
    start = fragmented()
    world = World(start)
    until = world.clock.monotonic() + 90.0
    began: list[float] = []
    gate = AllowAll()

    def asked() -> int:
        return BRISK + 1 if world.clock.monotonic() < until else 0

    world.script = [lambda _pod, _dry: began.append(world.clock.monotonic())]
    result = Executor(
        world, gate, world.clock, hold=HoldSettings(60.0, "rescheduler-holds"), guidance="Hold",
        timeout_seconds=600.0, proof=lambda _cluster, _plan: (), asked=asked,
    ).carry_out(two_moves(start))  # fmt: skip
    assert result.message == ""
    assert world.evicted == ["web-00", "web-01"]
    assert began[0] >= until
