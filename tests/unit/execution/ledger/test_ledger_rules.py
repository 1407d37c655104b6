"""What stops a process: each reason is told in its words, and what cannot be written down here evicts nobody."""

from __future__ import annotations

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.ledger.ledger_rules import DEFAULT_RULES, LedgerRules, LedgerSettings, check_fence
from rescheduler.execution.ledger.private_ledger import PrivateLedger
from rescheduler.execution.ledger.told_audit_log import ToldAuditLog
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import StoreError
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger, LedgerEntry
from rescheduler.model.plan.plan import Plan
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.execution.ledger_worlds import Audit
from tests.unit.execution.worlds import fragmented, two_moves

PLAN = two_moves(fragmented())


class Keeping(Audit):
    """Keeps plans too, as long as there is room."""

    def __init__(self, room: int = 100) -> None:
        super().__init__(room)
        self.plans: dict[int, Plan] = {}

    def keep_plan(self, number: int, plan: Plan) -> None:
        """By its number."""
        if not self.room:
            raise StoreError("no space left on device")
        self.plans[number] = plan


def settings(audit: Audit | None = None, stopped: str | None = None) -> LedgerSettings:
    """Of a ledger of its own."""
    store = SimulatedLedger(SimulatedClock(), call_seconds=0.0)
    return LedgerSettings(store, audit, lambda: stopped, DEFAULT_RULES)


def test_what_cannot_be_written_down_stops_the_plan_before_an_eviction_and_not_after_it() -> None:
    """An answer is told as far as that goes; a plan that cannot be kept can still be carried out."""
    full = settings(Keeping(0))
    with pytest.raises(PlanStoppedError, match="cannot be written down here: history: no space left"):
        full.note([entry()])
    full.tell(entry())
    full.keep_plan(1, PLAN)


def test_what_can_be_written_down_is() -> None:
    """Intents, answers and plans."""
    audit = Keeping()
    good = settings(audit)
    good.note([entry("a")])
    good.tell(entry("b"))
    good.keep_plan(3, PLAN)
    assert [line.pod.name for line in audit.lines] == ["a", "b"]
    assert audit.plans == {3: PLAN}


def test_without_an_audit_log_nothing_is_written_down() -> None:
    """And nothing stops."""
    bare = settings()
    bare.note([entry()])
    bare.tell(entry())
    bare.keep_plan(1, PLAN)


def test_an_order_and_a_mark_stop_a_plan_each_in_its_words() -> None:
    """The mark is that of the ledger as it was read last."""
    clock = SimulatedClock()
    store = SimulatedLedger(clock, ledger_of(entry()))
    writer = DEFAULT_RULES.writer(store, clock)
    writer.read()
    settings().check_stop(writer)
    settings().check_switch()
    with pytest.raises(PlanStoppedError, match="stopped: SIGTERM; nothing more is evicted"):
        settings(stopped="SIGTERM").check_stop(writer)
    with pytest.raises(PlanStoppedError, match="stopped: SIGTERM; nothing more is evicted"):
        settings(stopped="SIGTERM").check_switch()
    store.stop = "maintenance"
    writer.read()
    settings().check_switch()
    with pytest.raises(PlanStoppedError, match="by the mark on the ledger: maintenance; nothing more"):
        settings().check_stop(writer)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (Ledger(plan=2), "the ledger was removed or replaced by an older one"),
        (Ledger(plan=4, holder="a"), "plan 4 of a has begun and takes the place of this one, plan 3"),
        (Ledger(plan=4), "plan 4 of somebody else has begun"),
    ],
)
def test_a_plan_goes_on_only_while_its_number_is_the_last(found: Ledger, why: str) -> None:
    """Neither after a newer one nor on a ledger that has forgotten it."""
    check_fence(Ledger(plan=3), 3)
    with pytest.raises(PlanStoppedError, match=why):
        check_fence(found, 3)


def test_rules_reach_whoever_writes() -> None:
    """How long entries stay, and which labels."""
    clock = SimulatedClock()
    old, new = (
        entry("old", at=100.0, state="Repaid"),
        entry("new", at=900.0, state="Repaid", labels={"a": "1", "b": "2"}),
    )
    store = SimulatedLedger(clock, ledger_of(old, new))
    writer = LedgerRules(keep_seconds=500.0, label_keys=frozenset({"a"})).writer(store, clock)
    assert writer.update(lambda ledger: ledger, lambda _: False, 1000.0)
    assert [(item.pod.name, item.labels) for item in store.ledger.entries] == [("new", {"a": "1"})]
    assert (DEFAULT_RULES.keep_seconds, DEFAULT_RULES.waits_until_repaid) == (86_400.0, False)


def test_a_private_ledger_is_written_by_compare_and_swap_too() -> None:
    """What was read before somebody wrote is no ground to write on; nobody can put a mark on it."""
    ledger = PrivateLedger()
    first = ledger.read()
    assert (first.ledger, first.stop) == (EMPTY_LEDGER, None)
    one, two = ledger_of(entry("a")), ledger_of(entry("b"))
    version = ledger.write(one, first.version)
    assert ledger.write(two, first.version) is None
    assert ledger.read().ledger == one
    assert version is not None
    assert ledger.read().version == version
    assert ledger.write(two, version) not in (None, version, first.version)
    assert ledger.read().ledger == two


def test_what_is_written_down_is_news_and_what_is_not_is_none() -> None:
    """Without a log of its own all is news; plans are none."""
    heard: list[LedgerEntry] = []
    audit = Keeping(1)
    told = ToldAuditLog(audit, heard.extend)
    told.note([entry("a")])
    with pytest.raises(StoreError):
        told.note([entry("b")])
    told.keep_plan(7, PLAN)
    assert [item.pod.name for item in heard] == [item.pod.name for item in audit.lines] == ["a"]
    assert audit.plans == {7: PLAN}
    alone = ToldAuditLog(None, heard.extend)
    alone.note([entry("c")])
    alone.keep_plan(8, PLAN)
    assert [item.pod.name for item in heard] == ["a", "c"]
