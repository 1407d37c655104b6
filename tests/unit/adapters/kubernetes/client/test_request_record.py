"""The record of the last minute's requests."""

from __future__ import annotations

import threading

import pytest

from rescheduler.adapters.kubernetes.client.request_names import request_name
from rescheduler.adapters.kubernetes.client.request_record import RequestRecord, SentRequest
from rescheduler.adapters.simulated.clock import SimulatedClock
from tests.builders import NOW

LIST = SentRequest(request_name("GET", "/api/v1/pods"), 200, 0.1)
WATCH = SentRequest(request_name("GET", "/api/v1/pods", is_stream=True), 200, 0.1, is_stream=True)
EVICT = SentRequest(request_name("POST", "/api/v1/namespaces/a/pods/b/eviction"), 201, 0.1)


def record_of(*sent: SentRequest, clock: SimulatedClock | None = None) -> RequestRecord:
    """A record of requests that were all answered now."""
    record = RequestRecord(clock or SimulatedClock(NOW))
    for item in sent:
        record.note(item)
    return record


def test_requests_of_the_last_minute_are_counted() -> None:
    """Whatever became of them; watches, which go on and on, are left out."""
    clock = SimulatedClock(NOW)
    record = record_of(LIST, WATCH, EVICT._replace(status=429), clock=clock)
    assert record.sent() == 2
    clock.sleep(59.0)
    record.note(LIST)
    assert record.sent() == 3
    clock.sleep(2.0)
    assert record.sent() == 1


class TestErrorShare:
    """How many of the last minute's requests failed."""

    @pytest.mark.parametrize("count", [0, 9])
    def test_of_few_requests_no_share_is_told(self, count: int) -> None:
        """Not even when all of them failed; that is not the same as none."""
        assert record_of(*[LIST._replace(status=500)] * count).error_share() is None

    @pytest.mark.parametrize(
        ("sent", "is_failure"),
        [
            (LIST, False),
            (LIST._replace(status=404), False),
            (LIST._replace(status=403), False),
            (LIST._replace(status=409), False),
            (LIST._replace(status=410), False),
            (LIST._replace(status=429), True),
            (LIST._replace(status=500), True),
            (LIST._replace(status=504), True),
            (LIST._replace(status=None, failure="ReadTimeoutError"), True),
            (EVICT._replace(status=429), False),
            (EVICT._replace(status=503), True),
            (WATCH._replace(status=503), True),
        ],
    )
    def test_a_refusal_is_no_failure(self, sent: SentRequest, is_failure: bool) -> None:
        """What fails is the server or the way to it; a budget that allows nothing answers an eviction with 429."""
        assert record_of(*[LIST] * 9, sent).error_share() == (0.1 if is_failure else 0.0)

    def test_only_the_last_minute_counts(self) -> None:
        """What is older is forgotten, though its counts are not."""
        clock = SimulatedClock(NOW)
        record = record_of(*[LIST._replace(status=500)] * 20, clock=clock)
        clock.sleep(59)
        assert record.error_share() == 1.0
        for _ in range(20):
            record.note(LIST)
        assert record.error_share() == 0.5
        clock.sleep(2)
        assert record.error_share() == 0.0
        clock.sleep(60)
        assert record.error_share() is None
        assert sum(record.counts().values()) == 40


class TestSlowestPercent:
    """What one request in a hundred took longer than."""

    def test_of_few_requests_nothing_is_told(self) -> None:
        """Watches, which last for minutes, are none of them."""
        assert record_of(*[LIST] * 9, *[WATCH] * 50).slowest_percent_seconds() is None

    @pytest.mark.parametrize(
        ("count", "slow", "expected"),
        [(10, 1, 0.1), (10, 2, 9.0), (99, 1, 0.1), (100, 1, 0.1), (100, 2, 9.0), (299, 2, 0.1), (300, 3, 0.1)],
    )
    def test_one_in_a_hundred_may_be_slow(self, count: int, slow: int, expected: float) -> None:
        """And one straggler always; one more is told."""
        sent = [LIST] * (count - slow) + [LIST._replace(seconds=9.0)] * slow
        assert record_of(*sent).slowest_percent_seconds() == expected

    def test_a_watch_that_takes_long_is_not_slow(self) -> None:
        """It lasts as long as it is asked to."""
        assert record_of(*[LIST] * 10, *[WATCH._replace(seconds=300.0)] * 10).slowest_percent_seconds() == 0.1


class TestClockOffset:
    """How far the server's clock is ahead of ours."""

    def test_nothing_is_known_without_an_answer_that_tells_the_time(self) -> None:
        """An old one is as good as none."""
        clock = SimulatedClock(NOW)
        assert record_of(LIST, clock=clock).clock_offset_seconds() is None
        record = record_of(LIST._replace(server_time=NOW), clock=clock)
        clock.sleep(61)
        assert record.clock_offset_seconds() is None

    @pytest.mark.parametrize("offset", [-100.0, 0.0, 31.0])
    def test_the_way_and_the_cut_off_second_are_taken_out(self, offset: float) -> None:
        """Half of the time that it took, and half a second."""
        sent = LIST._replace(seconds=2.0, server_time=NOW + offset - 1.5)
        assert record_of(sent).clock_offset_seconds() == pytest.approx(offset)

    def test_the_newest_answer_counts(self) -> None:
        """A clock that was set right is believed at once; an answer that took long says nothing."""
        fast, slow = LIST._replace(server_time=NOW - 0.45), LIST._replace(server_time=NOW + 50, seconds=20.0)
        record = record_of(LIST._replace(server_time=NOW + 100), fast, slow)
        assert record.clock_offset_seconds() == pytest.approx(0.1)


def test_counts_tell_verb_kind_and_outcome() -> None:
    """Outcomes are statuses, or why there was no answer."""
    record = record_of(LIST, LIST, EVICT._replace(status=429), WATCH._replace(status=None, failure="ProtocolError"))
    assert record.counts() == {
        ("list", "pods", "200"): 2,
        ("create", "pods/eviction", "429"): 1,
        ("watch", "pods", "ProtocolError"): 1,
    }


def test_many_threads_may_write() -> None:
    """Nothing is lost, and a reader meanwhile does not trip."""
    record = record_of()

    def write() -> None:
        for _ in range(500):
            record.note(LIST)
            record.error_share()

    threads = [threading.Thread(target=write) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert record.counts() == {("list", "pods", "200"): 2000}
    assert record.error_share() == 0.0
