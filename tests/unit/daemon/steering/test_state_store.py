"""What all threads see: changed one at a time, told of in order, never behind the lock."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.state_store import Changed, StateStore
from rescheduler.model.daemon.notices import Fault, Notice, Resumed


def add(text: str) -> Changed[None]:
    """Tells one fault and changes nothing."""
    return DaemonState(), (Fault(0.0, "test", text),), None


def test_a_listener_may_look_and_change_while_it_is_told() -> None:
    """What it causes is told after what it hears, by whoever tells already."""
    heard: list[str] = []

    def tell(notice: Notice) -> None:
        assert isinstance(notice, Fault)
        heard.append(notice.message)
        store.seen()
        if notice.message == "first":
            store.change(lambda *_: add("caused"))
            heard.append("end of first")

    store = StateStore(SimulatedClock(), tell, DaemonState())
    store.change(lambda *_: (DaemonState(), (Fault(0.0, "test", "first"), Fault(0.0, "test", "second")), None))
    assert heard == ["first", "end of first", "second", "caused"]


def test_an_error_of_a_step_changes_nothing_and_is_raised() -> None:
    """What has run out by itself is told all the same."""
    heard: list[Notice] = []
    clock = SimulatedClock()
    store = StateStore(clock, heard.append, DaemonState())
    store.change(lambda state, now: (_paused(state, now), (), None))
    clock.sleep(10)

    def fail(state: DaemonState, _: float) -> Changed[None]:
        assert state.switch.pause is None
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        store.change(fail)
    assert [type(notice) for notice in heard] == [Resumed]
    assert store.seen().is_leader


def _paused(state: DaemonState, now: float) -> DaemonState:
    return replace(state, switch=state.switch.paused("jane", "", now + 5, now)[0])


def test_no_change_is_lost_when_many_threads_make_them() -> None:
    """Each of them is told once."""
    heard: list[str] = []

    def tell(notice: Notice) -> None:
        assert isinstance(notice, Fault)
        heard.append(notice.message)

    store = StateStore(SimulatedClock(), tell, DaemonState())

    def work(name: int) -> None:
        for number in range(50):
            fault = Fault(0.0, "test", f"{name}-{number}")
            store.change(
                lambda state, _, fault=fault: (state.after(fault), (fault,), None)  # type: ignore[misc]
            )

    threads = [threading.Thread(target=work, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(heard) == len(set(heard)) == 200
    for name in range(4):
        own = [text for text in heard if text.startswith(f"{name}-")]
        assert own == [f"{name}-{number}" for number in range(50)]


def test_a_listener_that_raises_does_not_silence_the_store() -> None:
    """The next change is told again."""
    heard: list[str] = []

    def tell(notice: Notice) -> None:
        assert isinstance(notice, Fault)
        heard.append(notice.message)
        if notice.message == "bad":
            raise RuntimeError("a listener's fault")

    store = StateStore(SimulatedClock(), tell, DaemonState())
    with pytest.raises(RuntimeError):
        store.change(lambda *_: add("bad"))
    store.change(lambda *_: add("good"))
    assert heard == ["bad", "good"]
