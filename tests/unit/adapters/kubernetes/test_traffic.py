"""What a connection does round each request: it waits for its turn, and what became of it is noted."""

from __future__ import annotations

from email.utils import formatdate
from pathlib import Path

import pytest

from rescheduler.adapters.kubernetes.connection import Connection, connect
from rescheduler.adapters.kubernetes.request_limits import Rate, RequestLimits
from rescheduler.adapters.kubernetes.request_record import RequestRecord
from rescheduler.adapters.kubernetes.traffic import Traffic
from rescheduler.extension_points import ClusterError
from rescheduler.simulation.clock import SimulatedClock
from tests.builders import NOW
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status

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
        slow = Rate(1.0, 1)
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
