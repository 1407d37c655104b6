"""A guardian tidies up after a run that died without a word, and after no other."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.composition.live.guardian import (
    LONGEST_SECONDS,
    PAUSE_SECONDS,
    QUIET_SECONDS,
    GuardianOrders,
    read_orders,
    tidy_patiently,
)
from rescheduler.composition.live.guarding import Guardian
from rescheduler.extension_points import ClusterError

ORDERS = GuardianOrders("/nowhere/kubeconfig", None, "holds", "p1", has_taints=True)


@pytest.fixture
def guardian() -> Iterator[Guardian]:
    """A real process that looks after a cluster which cannot be reached."""
    found = Guardian(ORDERS)
    yield found
    found.leave_alone()
    if found.process.poll() is None:
        found.process.kill()
        found.process.wait()


def test_orders_are_read_as_they_were_written() -> None:
    """One line, whatever stands in the names."""
    orders = GuardianOrders("a\nb", 'quote"d', "holds", "p1")
    assert orders.written().count(b"\n") == 1
    assert read_orders(orders.written()) == orders


def test_it_ends_when_nothing_was_found_for_a_while() -> None:
    """Requests that were on their way when the run died still arrive."""
    clock = SimulatedClock()
    found = [3, 0, 1, *[0] * 100]
    assert tidy_patiently(lambda: found.pop(0), clock) is True
    assert clock.monotonic() >= QUIET_SECONDS + 2 * PAUSE_SECONDS
    assert clock.monotonic() <= QUIET_SECONDS + 4 * PAUSE_SECONDS


def test_an_api_server_that_is_down_is_asked_until_the_time_is_over() -> None:
    """Then it gives up, and the placeholders' own deadline and the next run are what is left."""
    clock = SimulatedClock()

    def fail() -> int:
        raise ClusterError("down")

    assert tidy_patiently(fail, clock) is False
    assert LONGEST_SECONDS <= clock.monotonic() <= LONGEST_SECONDS + PAUSE_SECONDS


def test_a_server_that_comes_back_is_tidied() -> None:
    """Failures do not count as quiet."""
    clock = SimulatedClock()
    calls = 0

    def recover() -> int:
        nonlocal calls
        calls += 1
        if clock.monotonic() < 60:
            raise ClusterError("down")
        return 0

    assert tidy_patiently(recover, clock) is True
    assert clock.monotonic() >= 60 - PAUSE_SECONDS + QUIET_SECONDS


def test_dismissed_it_ends_at_once(guardian: Guardian) -> None:
    """With success, and without having looked at any cluster."""
    guardian.dismiss()
    assert guardian.process.returncode == 0


def test_without_a_word_it_goes_on(guardian: Guardian) -> None:
    """It tries to reach its cluster, so it is still there, in a session of its own, deaf to the terminal's signals."""
    assert os.getsid(guardian.process.pid) == guardian.process.pid
    guardian.leave_alone()
    os.kill(guardian.process.pid, signal.SIGINT)
    os.kill(guardian.process.pid, signal.SIGHUP)
    with pytest.raises(subprocess.TimeoutExpired):
        guardian.process.wait(1.0)


def test_nothing_of_the_orders_stands_on_its_command_line(guardian: Guardian) -> None:
    """Neither where the cluster is nor how to get in; and it holds no terminal nor any pipe of ours but its orders."""
    folder = Path(f"/proc/{guardian.process.pid}")
    if not folder.exists():
        pytest.skip("no /proc on this system")
    assert b"nowhere" not in (folder / "cmdline").read_bytes()
    targets = {number: str((folder / "fd" / number).readlink()) for number in ("1", "2")}
    assert targets == {"1": os.devnull, "2": os.devnull}
