"""How fast the API server is asked."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.request_limits import EVICTIONS, READS, WRITES, Rate, RequestLimits, TokenBucket
from rescheduler.simulation.clock import SimulatedClock

PODS = "/api/v1/pods"
POD = "/api/v1/namespaces/a/pods/b"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/a/leases/b"


class Sleepless(SimulatedClock):
    """A clock that notes who wants to wait, and stands still."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def sleep(self, seconds: float) -> None:
        """Note it."""
        self.waits.append(seconds)


def took(method: str, path: str, count: int, params: dict[str, str] | None = None) -> float:
    """Seconds that so many requests in a row take under the usual limits."""
    clock = SimulatedClock()
    limits = RequestLimits(clock)
    for _ in range(count):
        limits.wait(method, path, params)
    return clock.monotonic()


def test_a_burst_goes_at_once_and_then_the_rate_holds() -> None:
    """After a rest a burst is free again, and never more than a burst."""
    clock = SimulatedClock()
    bucket = TokenBucket(Rate(10, 5), clock)
    assert [round(bucket.take(), 6) for _ in range(8)] == [0, 0, 0, 0, 0, 0.1, 0.1, 0.1]
    clock.sleep(3600)
    assert [round(bucket.take(), 6) for _ in range(6)] == [0, 0, 0, 0, 0, 0.1]


def test_whoever_comes_first_goes_first() -> None:
    """Those who come while others wait are told to wait behind them."""
    clock = Sleepless()
    bucket = TokenBucket(Rate(10, 1), clock)
    for _ in range(4):
        bucket.take()
    assert clock.waits == pytest.approx([0.1, 0.2, 0.3])


@given(
    rate=st.tuples(st.floats(0.1, 100), st.integers(1, 50)).map(lambda found: Rate(*found)),
    pauses=st.lists(st.floats(0, 5), max_size=80),
)
def test_no_window_holds_more_than_the_rate_allows(rate: Rate, pauses: list[float]) -> None:
    """Between any two requests there are at most a burst and what the rate lets through meanwhile."""
    clock = SimulatedClock()
    bucket = TokenBucket(rate, clock)
    times = []
    for pause in pauses:
        clock.sleep(pause)
        bucket.take()
        times.append(clock.monotonic())
    for first in range(len(times)):
        for last in range(first, len(times)):
            assert last - first + 1 <= rate.burst + (times[last] - times[first]) * rate.per_second + 1e-6


@pytest.mark.parametrize("rate", [Rate(0, 1), Rate(-1, 1), Rate(1, 0)])
def test_a_rate_that_lets_nothing_through_is_refused(rate: Rate) -> None:
    """Before anybody waits for ever."""
    with pytest.raises(ValueError, match="let something through"):
        TokenBucket(rate, SimulatedClock())


@pytest.mark.parametrize(
    ("method", "path", "rate"),
    [
        ("GET", POD, READS),
        ("POST", PODS, WRITES),
        ("PATCH", f"{POD}/status", WRITES),
        ("POST", f"{POD}/eviction", EVICTIONS),
    ],
)
def test_each_sort_has_its_rate(method: str, path: str, rate: Rate) -> None:
    """A burst is free; a hundred more take their time."""
    assert took(method, path, rate.burst) == 0.0
    assert took(method, path, rate.burst + 100) == pytest.approx(100 / rate.per_second)


def test_no_sort_waits_behind_another() -> None:
    """Reads, writes and evictions each have a bucket of their own."""
    clock = SimulatedClock()
    limits = RequestLimits(clock)
    for _ in range(500):
        limits.wait("GET", POD)
    for _ in range(500):
        limits.wait("PATCH", f"{POD}/status")
    before = clock.monotonic()
    limits.wait("POST", f"{POD}/eviction")
    assert clock.monotonic() == before


def test_pages_of_a_list_are_not_slowed() -> None:
    """150,000 pods are 300 pages of 500, and are read as fast as they can be looked at."""
    assert took("GET", PODS, 1) == 0.0
    assert took("GET", PODS, 300, {"limit": "500", "continue": "x"}) == 0.0


def test_a_lease_is_renewed_whatever_else_waits() -> None:
    """A leader must not lose its lease behind its own writes."""
    clock = SimulatedClock()
    limits = RequestLimits(clock)
    for _ in range(500):
        limits.wait("PATCH", f"{POD}/status")
    before = clock.monotonic()
    limits.wait("PUT", LEASE)
    limits.wait("GET", LEASE)
    assert clock.monotonic() == before


def test_many_threads_share_a_bucket() -> None:
    """What they wait, all together, is what the rate demands of so many requests, however they interleave."""
    clock = Sleepless()
    bucket = TokenBucket(Rate(10, 10), clock)

    def ask() -> None:
        for _ in range(100):
            bucket.take()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(clock.waits) == pytest.approx([number / 10 for number in range(1, 391)])
