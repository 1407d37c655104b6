"""A process reads the ledger twice a second at most, and never writes over what others wrote meanwhile."""

from __future__ import annotations

from itertools import pairwise

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.ledger.ledger_writer import KNOWN_SECONDS, LedgerWriter
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ClusterError, LedgerReading
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.daemon.ledger_changes import announced, holds, plan_begun
from tests.builders import NOW
from tests.unit.execution.entries import entry


class CountedLedger(SimulatedLedger):
    """Tells how often it was read; ``lost``: so many answers to writes that took effect are lost; ``mark``: of its
    namespace."""

    def __init__(self) -> None:
        self.clock = SimulatedClock()
        super().__init__(self.clock)
        self.reads = self.lost = 0
        self.mark: str | None = None

    def read(self) -> LedgerReading:
        """As any."""
        self.reads += 1
        return super().read()._replace(stop=self.mark)

    def write(self, ledger: Ledger, version: str) -> str | None:
        """As any."""
        answer = super().write(ledger, version)
        if self.lost and answer is not None:
            self.lost -= 1
            raise ClusterError("no answer")
        return answer


@pytest.fixture
def store() -> CountedLedger:
    """An empty one."""
    return CountedLedger()


def writer(store: CountedLedger) -> LedgerWriter:
    """One process's hand on it."""
    return LedgerWriter(store, store.clock, keep_seconds=86_400.0)


def write(hand: LedgerWriter, name: str) -> bool:
    """One more entry."""
    new = entry(name, number=0)
    return hand.update(lambda ledger: announced(ledger, new), lambda ledger: holds(ledger, new), NOW)


def names(ledger: Ledger) -> list[str]:
    """Of the pods of its entries."""
    return [found.pod.name for found in ledger.entries]


def test_one_reading_serves_all_writes_of_half_a_second(store: CountedLedger) -> None:
    """Own writes are known without a reading; what is older is read anew."""
    hand = writer(store)
    assert all(write(hand, name) for name in "abc")
    assert (store.reads, store.writes) == (1, 3)
    assert names(hand.know()) == names(store.ledger) == ["a", "b", "c"]
    assert store.reads == 1
    store.clock.sleep(KNOWN_SECONDS)
    assert write(hand, "d")
    assert store.reads == 2


def test_half_a_second_old_is_young_enough_and_more_is_not(store: CountedLedger) -> None:
    """So soon a mark on the namespace is seen."""
    hand = writer(store)
    hand.read()
    store.clock.sleep(0.5 - store.clock.monotonic())
    hand.know()
    assert store.reads == 1
    store.clock.sleep(0.01)
    hand.know()
    assert store.reads == 2


def test_who_is_overtaken_tries_at_once_and_then_after_pauses_that_double() -> None:
    """Eight times in some six seconds: others who write take turns, and nobody gives up before they are through."""
    clock = SimulatedClock()
    tried: list[float] = []

    class Overtaken(SimulatedLedger):
        def write(self, ledger: Ledger, version: str) -> str | None:
            """Somebody was faster, as ever."""
            tried.append(clock.monotonic())
            return None

    hand = LedgerWriter(Overtaken(clock, call_seconds=0.0), clock, keep_seconds=86_400.0)
    with pytest.raises(PlanStoppedError, match="were faster every time"):
        write(hand, "a")
    pauses = [later - earlier for earlier, later in pairwise(tried)]
    assert tried[0] == 0.0
    assert pauses == pytest.approx([0.05 * 2**number for number in range(7)])


def test_what_is_written_is_no_news_any_more(store: CountedLedger) -> None:
    """What others write of the same entry later is not taken back by what was known before."""
    hand = writer(store)
    write(hand, "a")
    [found] = store.ledger.entries
    hand.note(found.pod.uid, found.at, landed_on="n9")
    write(hand, "b")
    assert not hand.has_news
    first, second = store.ledger.entries
    store.write(structs.replace(store.ledger, entries=(structs.replace(first, landed_on="n3"), second)), store.version)
    write(hand, "c")
    assert [item.landed_on for item in store.ledger.entries] == ["n3", None, None]


def test_own_writes_do_not_make_a_reading_younger(store: CountedLedger) -> None:
    """A mark on the namespace has no version: whoever writes all the time sees it all the same."""
    hand = writer(store)
    for number in range(20):
        write(hand, f"p{number}")
        store.clock.sleep(0.1)
        if number == 9:
            store.mark = "maintenance"
    assert hand.stop == "maintenance"


def test_what_others_wrote_meanwhile_is_read_before_anything_is_written(store: CountedLedger) -> None:
    """The write on what was known does not stand, and nothing of theirs is lost."""
    hand, other = writer(store), writer(store)
    write(hand, "a")
    write(other, "b")
    seen: list[list[str]] = []

    def change(ledger: Ledger) -> Ledger:
        seen.append(names(ledger))
        return announced(ledger, entry("c", number=0))

    assert hand.update(change, lambda _: False, NOW)
    assert seen == [["a"], ["a", "b"]]
    assert names(store.ledger) == ["a", "b", "c"]


def test_a_newer_plan_is_seen_by_the_write_that_it_forestalls(store: CountedLedger) -> None:
    """However young the last reading is."""
    hand = writer(store)
    write(hand, "a")
    store.write(plan_begun(store.ledger, "another"), store.version)
    assert hand.know().plan == 0
    hand.update(lambda ledger: None if ledger.plan else ledger, lambda _: False, NOW)
    assert hand.ledger.plan == 1


def test_after_a_lost_answer_the_ledger_is_read(store: CountedLedger) -> None:
    """What took effect is not written twice."""
    hand = writer(store)
    write(hand, "a")
    store.lost = 1
    assert write(hand, "b")
    assert names(store.ledger) == ["a", "b"]
    assert (store.reads, store.writes) == (2, 2)


def test_what_is_known_besides_goes_with_a_write_on_what_is_known(store: CountedLedger) -> None:
    """Notes are in what is known at once, and stand after the next write."""
    hand = writer(store)
    write(hand, "a")
    [found] = store.ledger.entries
    hand.note(found.pod.uid, found.at, landed_on="n9")
    assert hand.know().entries == (structs.replace(found, landed_on="n9"),)
    write(hand, "b")
    assert store.ledger.entries[0].landed_on == "n9"
    assert store.reads == 1
