"""Many listeners as one, slow ones in threads of their own: none harms the daemon or another."""

from __future__ import annotations

import threading

import pytest

from rescheduler.adapters.telemetry.listeners import Listeners, QueuedListener
from rescheduler.model.daemon.notices import Fault, Notice, Resumed, Stopping
from tests.builders import NOW
from tests.clocks import FakeClock
from tests.unit.adapters.telemetry.daemon_notices import Heard, all_notices

NOTICE = Resumed(NOW, "jane")
SECRET = "s3cr3t"


class Broken:
    """Fails while ``is_broken``."""

    is_broken = True

    def __init__(self) -> None:
        self.heard = Heard()

    def hear(self, notice: Notice) -> None:
        """Fail, with words that nobody is to see."""
        if self.is_broken:
            raise RuntimeError(SECRET)
        self.heard.append(notice)


class Held:
    """Waits at the first notice until it is let go."""

    def __init__(self) -> None:
        self.has_begun = threading.Event()
        self.go = threading.Event()
        self.heard = Heard()

    def hear(self, notice: Notice) -> None:
        """Wait."""
        self.has_begun.set()
        assert self.go.wait(30)
        self.heard.append(notice)


def test_everybody_hears_everything_in_order() -> None:
    """Each listener gets the same notices."""
    one, two = Heard(), Heard()
    everybody = Listeners([one, two])
    for notice in all_notices():
        everybody.hear(notice)
    assert one == two == list(all_notices())


def test_a_listener_that_fails_is_told_of_to_the_others_once() -> None:
    """By its name and the kind of fault, never by its words; and again after it has worked in between."""
    broken, well = Broken(), Heard()
    everybody = Listeners([broken, well])
    everybody.hear(NOTICE)
    everybody.hear(NOTICE)
    assert well == [NOTICE, Fault(NOW, "Broken", "could not take in Resumed: RuntimeError"), NOTICE]
    broken.is_broken = False
    everybody.hear(NOTICE)
    assert broken.heard == [NOTICE]
    broken.is_broken = True
    everybody.hear(NOTICE)
    assert len(well.faults) == 2
    assert SECRET not in str(well)


def test_where_all_fail_nothing_is_raised() -> None:
    """There is nobody left to tell."""
    everybody = Listeners([Broken(), Broken()])
    everybody.hear(NOTICE)
    everybody.hear(Fault(NOW, "x", "y"))


def test_a_queue_hands_on_in_order_and_ends_when_all_is_said() -> None:
    """``stop`` waits for what was taken before; later notices are dropped."""
    inner, told = Heard(), Heard()
    queued = QueuedListener(inner, "audit", FakeClock(), told)
    queued.start()
    for notice in all_notices():
        queued.hear(notice)
    queued.stop(30)
    queued.hear(NOTICE)
    assert inner == list(all_notices())
    assert not told


def test_whoever_tells_never_waits_for_a_slow_listener() -> None:
    """What does not fit is dropped, counted, and told of once; afterwards all is as before."""
    inner, told = Held(), Heard()
    queued = QueuedListener(inner, "events", FakeClock(), told, most=2)
    queued.start()
    queued.hear(NOTICE)
    assert inner.has_begun.wait(30)
    for _ in range(5):
        queued.hear(NOTICE)
    assert queued.dropped == 3
    assert told.faults == ["events: cannot keep up; some of what was told is dropped"]
    inner.go.set()
    queued.stop(30)
    assert len(inner.heard) == 3


def test_stopping_does_not_wait_for_ever() -> None:
    """A listener that hangs is left behind."""
    inner = Held()
    queued = QueuedListener(inner, "events", FakeClock(), Heard())
    queued.start()
    queued.hear(Stopping(NOW, "SIGTERM"))
    assert inner.has_begun.wait(30)
    queued.stop(0.01)
    assert inner.heard == []
    inner.go.set()


def test_a_queue_that_was_never_started_can_be_stopped() -> None:
    """As at a start that fails half-way."""
    QueuedListener(Heard(), "audit", FakeClock(), Heard()).stop()


@pytest.mark.parametrize("count", [1, 3])
def test_a_failing_listener_in_a_queue_is_told_of_once(count: int) -> None:
    """And the thread goes on."""
    broken, told = Broken(), Heard()
    queued = QueuedListener(broken, "audit", FakeClock(), told)
    queued.start()
    for _ in range(count):
        queued.hear(NOTICE)
    queued.stop(30)
    assert told.faults == ["audit: could not take in Resumed: RuntimeError"]
