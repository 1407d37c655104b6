"""The server's clock between its answers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.watch.server_clock import ServerClock
from tests.clocks import FakeClock


def test_before_the_first_answer_it_is_our_own() -> None:
    """An answer without a Date changes nothing."""
    clock = FakeClock()
    server = ServerClock(clock)
    server.note(None)
    assert server.now() == clock.now()


def test_it_runs_on_between_answers() -> None:
    """What the server said, and the time that has passed since."""
    clock = FakeClock()
    server = ServerClock(clock)
    server.note(500.0)
    clock.time += 7.5
    assert server.now() == 507.5


@given(st.floats(0.0, 1e6), st.lists(st.floats(0.01, 100.0), max_size=20))
def test_it_is_right_to_a_second_and_never_goes_back(offset: float, waits: list[float]) -> None:
    """Whole seconds are told, cut off: the error stays below one second, and time does not jump back for it."""
    clock = FakeClock()
    server = ServerClock(clock)
    before = 0.0
    for wait in waits:
        clock.time += wait
        truth = clock.monotonic() + offset
        server.note(float(int(truth)))
        assert truth - 1.001 <= server.now() <= truth + 0.001
        assert server.now() >= before - 0.001
        before = server.now()


def test_a_server_whose_clock_was_set_back_is_followed() -> None:
    """Its times are those in its objects."""
    server = ServerClock(FakeClock())
    server.note(5000.0)
    server.note(1000.0)
    assert server.now() == 1000.0
