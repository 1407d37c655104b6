"""What a connection does round each request: it waits for its turn, and what became of it is noted."""

from __future__ import annotations

import threading
from email.utils import formatdate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.kubernetes.client.request_record import RequestRecord
from rescheduler.adapters.kubernetes.client.traffic import (
    EVICTIONS,
    READS,
    WRITES,
    RequestLimits,
    RequestRate,
    TokenBucket,
    Traffic,
)
from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.extension_points import ClusterError
from tests.builders import NOW
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status

# How fast the API server is asked.

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
    bucket = TokenBucket(RequestRate(10, 5), clock)
    assert [round(bucket.take(), 6) for _ in range(8)] == [0, 0, 0, 0, 0, 0.1, 0.1, 0.1]
    clock.sleep(3600)
    assert [round(bucket.take(), 6) for _ in range(6)] == [0, 0, 0, 0, 0, 0.1]


def test_whoever_comes_first_goes_first() -> None:
    """Those who come while others wait are told to wait behind them."""
    clock = Sleepless()
    bucket = TokenBucket(RequestRate(10, 1), clock)
    for _ in range(4):
        bucket.take()
    assert clock.waits == pytest.approx([0.1, 0.2, 0.3])


@given(
    rate=st.tuples(st.floats(0.1, 100), st.integers(1, 50)).map(lambda found: RequestRate(*found)),
    pauses=st.lists(st.floats(0, 5), max_size=80),
)
def test_no_window_holds_more_than_the_rate_allows(rate: RequestRate, pauses: list[float]) -> None:
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


@pytest.mark.parametrize("rate", [RequestRate(0, 1), RequestRate(-1, 1), RequestRate(1, 0)])
def test_a_rate_that_lets_nothing_through_is_refused(rate: RequestRate) -> None:
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
def test_each_sort_has_its_rate(method: str, path: str, rate: RequestRate) -> None:
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
    bucket = TokenBucket(RequestRate(10, 10), clock)

    def ask() -> None:
        for _ in range(100):
            bucket.take()

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(clock.waits) == pytest.approx([number / 10 for number in range(1, 391)])


EVICTION = "/api/v1/namespaces/default/pods/a/eviction"


class Scene:
    """A connection with a record and limits on a clock that stands still unless somebody waits."""

    def __init__(self, server: FakeApiServer, folder: Path, limits: RequestLimits | None = None) -> None:
        self.clock = SimulatedClock(NOW)
        self.record = RequestRecord(self.clock, fewest=1)
        traffic = Traffic(self.record, limits or RequestLimits(self.clock), self.clock)
        self.connection: Connection = connect(server.kubeconfig(folder), read_only=False, traffic=traffic)


def test_every_request_is_noted(tmp_path: Path) -> None:
    """Reads and writes, with what they were answered, pages and repetitions one by one."""
    answers = iter([status(503, "busy"), answer({"metadata": {"continue": "x"}, "items": []}), answer({"items": []}),
                    status(429, "no disruption")])  # fmt: skip

    def handle(_: Request) -> Answer:
        found = next(answers)
        return found._replace(headers={"Retry-After": "0"})

    with serving(handle) as server:
        scene = Scene(server, tmp_path)
        list(scene.connection.pages("/api/v1/pods"))
        scene.connection.send("POST", EVICTION, {})
    assert scene.record.counts() == {
        ("list", "pods", "503"): 1,
        ("list", "pods", "200"): 2,
        ("create", "pods/eviction", "429"): 1,
    }
    assert scene.record.error_share() == 0.25


def test_a_server_that_is_not_there_is_noted(tmp_path: Path) -> None:
    """As a failure in one word, without address or name."""
    with serving(lambda _: answer({})) as server:
        scene = Scene(server, tmp_path)
    with pytest.raises(ClusterError):
        scene.connection.get("/api/v1/pods")
    assert scene.record.error_share() == 1.0
    ((verb, kind, outcome),) = scene.record.counts()
    assert (verb, kind) == ("list", "pods")
    assert outcome.isidentifier()


def test_an_answer_that_breaks_off_is_noted_as_none(tmp_path: Path) -> None:
    """Its status was well, and still nothing came."""
    with serving(lambda _: Answer(200, b'{"items": [', announced=500)) as server:
        scene = Scene(server, tmp_path)
        with pytest.raises(ClusterError):
            scene.connection.get("/api/v1/pods")
    assert scene.record.error_share() == 1.0


def test_the_servers_clock_is_noted(tmp_path: Path) -> None:
    """From the Date of its answers."""
    dated = Answer(200, b"{}", {"Date": formatdate(NOW + 100, usegmt=True)})
    with serving(lambda _: dated) as server:
        scene = Scene(server, tmp_path)
        scene.connection.get("/version")
    assert scene.record.clock_offset_seconds() == pytest.approx(100.5)
    assert scene.connection.server_time == NOW + 100


def test_limits_hold_for_reads_and_writes(tmp_path: Path) -> None:
    """The time that is waited counts as nobody's slowness; a request that is refused here takes no turn."""
    with serving(lambda _: answer({"items": []})) as server:
        clock = SimulatedClock(NOW)
        slow = RequestRate(1.0, 1)
        limits = RequestLimits(clock, reads=slow, writes=slow, evictions=slow)
        record = RequestRecord(clock, fewest=1)
        traffic = Traffic(record, limits, clock)
        connection = connect(server.kubeconfig(tmp_path), read_only=False, traffic=traffic)
        for _ in range(3):
            connection.get("/api/v1/pods")
        assert clock.monotonic() == pytest.approx(2.0)
        for _ in range(3):
            connection.send("POST", EVICTION, {})
        assert clock.monotonic() == pytest.approx(4.0)
    assert record.slowest_percent_seconds() == 0.0


def test_a_connection_without_limits_and_record_just_sends(tmp_path: Path) -> None:
    """Commands that a person waits for need neither."""
    with serving(lambda _: answer({"items": []})) as server:
        connection = connect(server.kubeconfig(tmp_path), read_only=True)
        for _ in range(300):
            connection.get("/api/v1/namespaces/a/pods/b")
    assert len(server.requests) == 300


def test_a_stream_is_noted_as_a_watch() -> None:
    """Once, when it has begun; how long it goes on does not matter."""
    clock = SimulatedClock(NOW)
    record = RequestRecord(clock, fewest=1)
    with Traffic(record, None, clock).sending("GET", "/api/v1/pods", is_stream=True) as sending:
        sending.answered(200, None)
        clock.sleep(300)
    assert record.counts() == {("watch", "pods", "200"): 1}
    assert record.slowest_percent_seconds() is None
