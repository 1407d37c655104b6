"""Orders that come by signals: to stop, to run a round, to read the policy; told apart, kept until they are taken."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.daemon.steering.stopping import MOST_REQUESTS, Orders
from rescheduler.model.daemon.rounds import RoundRequest


@pytest.fixture
def orders() -> Orders:
    """Nothing was told yet."""
    return Orders(SimulatedClock(1000.0))


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_told_to_stop(orders: Orders, name: str) -> None:
    """The first reason stands, and whoever waits is woken."""
    assert orders.stopping is None
    orders.told(name)
    orders.stop("something else")
    assert orders.stopping == f"asked to stop ({name})"
    assert orders.wake.sleep(0.0)


def test_a_round_that_is_asked_for_is_taken_once(orders: Orders) -> None:
    """With the time at which it was asked for."""
    orders.told("SIGUSR1")
    orders.ask(RoundRequest(1001.0, "REST", "ann", "why not"))
    assert orders.wake.sleep(0.0)
    assert orders.take_requests() == (
        RoundRequest(1000.0, "signal", "", "SIGUSR1"),
        RoundRequest(1001.0, "REST", "ann", "why not"),
    )
    assert orders.take_requests() == ()
    assert orders.stopping is None


def test_so_many_requests_are_enough(orders: Orders) -> None:
    """A script that sends signals in a loop fills no memory."""
    for _ in range(10 * MOST_REQUESTS):
        orders.told("SIGUSR1")
    assert len(orders.take_requests()) == MOST_REQUESTS


def test_a_look_at_the_policy_is_taken_once(orders: Orders) -> None:
    """And is no request for a round."""
    orders.told("SIGHUP")
    assert orders.wake.sleep(0.0)
    assert orders.take_reload()
    assert not orders.take_reload()
    assert orders.take_requests() == ()


def test_other_signals_mean_nothing(orders: Orders) -> None:
    """A child that ends, a window that changes its size."""
    orders.told("SIGCHLD")
    assert not orders.wake.sleep(0.0)


def test_signals_of_this_process_are_heard_while_installed(orders: Orders) -> None:
    """And those who handled them before do so again afterwards."""
    assert threading.current_thread() is threading.main_thread()
    before = {name: signal.getsignal(name) for name in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1, signal.SIGHUP)}
    undo = orders.install()
    try:
        os.kill(os.getpid(), signal.SIGUSR1)
        assert orders.wake.sleep(30)
        assert [request.how for request in orders.take_requests()] == ["signal"]
        os.kill(os.getpid(), signal.SIGHUP)
        assert orders.wake.sleep(30)
        assert orders.take_reload()
    finally:
        undo()
    assert {name: signal.getsignal(name) for name in before} == before
    assert "signals" not in {thread.name for thread in threading.enumerate()}


PROGRAM = """
    import sys, time
    from rescheduler.adapters.clock import SystemClock
    from rescheduler.daemon.steering.stopping import Orders

    orders = Orders(SystemClock())
    orders.install()
    print("ready", flush=True)
    try:
        while True:
            if orders.wake.sleep(0.05):
                print(orders.stopping, len(orders.take_requests()), orders.take_reload(), flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
        time.sleep(60)
"""


def test_the_second_request_to_stop_interrupts_and_the_third_kills() -> None:
    """The first one leaves the program to end by itself."""
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(PROGRAM)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGUSR1)
        assert process.stdout.readline() == "None 1 False\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "asked to stop (SIGTERM) 0 False\n"
        process.send_signal(signal.SIGINT)
        assert "interrupted\n" in iter(process.stdout.readline, "")
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == -signal.SIGTERM
    finally:
        process.kill()
        process.communicate()


BUSY = """
    import threading, time
    from rescheduler.adapters.clock import SystemClock
    from rescheduler.daemon.steering.stopping import Orders

    orders = Orders(SystemClock())
    orders.install()
    threading.Thread(target=lambda: (orders.wake.sleep(3600), print(orders.stopping, flush=True)), daemon=True).start()
    print("ready", flush=True)
    import hashlib
    hashlib.pbkdf2_hmac("sha256", b"a", b"b", 400_000_000)
"""


def test_a_solver_at_work_does_not_keep_the_order_away() -> None:
    """The main thread is in a library for minutes; who asks whether to stop learns it all the same."""
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(BUSY)], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        assert process.stdout.readline() == "asked to stop (SIGTERM)\n"
        assert process.poll() is None
    finally:
        process.kill()
        process.communicate()
