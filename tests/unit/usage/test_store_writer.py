"""Tests of a store that fails."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.extension_points import StoreError
from rescheduler.model.usage.samples import NodeSamples
from rescheduler.usage.collecting.collector import StoreWriter
from tests.builders import NOW
from tests.unit.usage.cases import answer


class FakeStore:
    """Keeps times; fails while it is told to."""

    def __init__(self) -> None:
        self.kept: list[float] = []
        self.attempts = 0
        self.fails = False

    def append(self, samples: NodeSamples) -> None:
        """Keep."""
        self.attempts += 1
        if self.fails:
            raise StoreError("usage.sqlite: no space left on the disk")
        self.kept.append(float(samples.times[0]))

    def restore(self, since: float) -> Sequence[NodeSamples]:
        """Everything, or nothing but the reason."""
        if self.fails:
            raise StoreError("usage.sqlite: cannot be opened")
        return [answer([0.4], time).nodes for time in self.kept if time >= since]

    def close(self) -> None:
        """Nothing is open."""


def at(seconds: float) -> NodeSamples:
    """One tick."""
    return answer([0.4], NOW + seconds).nodes


def test_a_failing_store_is_tried_again_with_growing_pauses_and_loses_nothing_meanwhile() -> None:
    """15 s, 30 s, 60 s, ...; what waits is written once it works again."""
    store = FakeStore()
    writer = StoreWriter(store)
    writer.save(at(0), NOW)
    store.fails = True
    for seconds in range(15, 195, 15):
        writer.save(at(seconds), NOW + seconds)
    assert store.attempts == 1 + 4  # at 15, 30, 60 and 120 s
    assert (writer.error, writer.since) == ("usage.sqlite: no space left on the disk", NOW + 15)
    store.fails = False
    writer.save(at(240), NOW + 240)
    assert store.kept == [NOW + seconds for seconds in [*range(0, 195, 15), 240]]
    assert (writer.error, writer.since, writer.lost) == ("", None, 0)


def test_a_store_that_fails_for_long_loses_the_oldest() -> None:
    """And says how many: memory is not for ever."""
    store = FakeStore()
    store.fails = True
    writer = StoreWriter(store)
    for tick in range(45):
        writer.save(at(15.0 * tick), NOW + 15.0 * tick)
    assert writer.lost == 5


def test_a_clock_that_was_set_back_does_not_stop_the_writing() -> None:
    """The pause is never longer than it was to be."""
    store = FakeStore()
    store.fails = True
    writer = StoreWriter(store)
    writer.save(at(0), NOW)
    store.fails = False
    writer.save(at(1), NOW - 86400)
    assert len(store.kept) == 2


def test_a_store_that_cannot_be_read_is_no_reason_to_stop() -> None:
    """Nothing is restored, and the reason is told."""
    store = FakeStore()
    store.fails = True
    writer = StoreWriter(store)
    assert writer.restore(NOW - 900, NOW) == ()
    assert (writer.error, writer.since) == ("usage.sqlite: cannot be opened", NOW)


def test_without_a_store_nothing_happens() -> None:
    """In memory only."""
    writer = StoreWriter(None)
    writer.save(at(0), NOW)
    assert (writer.restore(0.0, NOW), writer.error, writer.lost) == ((), "", 0)
