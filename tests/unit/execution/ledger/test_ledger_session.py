"""Every eviction is written down before it is sent; who is stopped, overtaken or cannot write sends nothing."""

from __future__ import annotations

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.checker.violation import Violation
from rescheduler.execution.run.executor import LedgerRules
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import MAKE_ROOM, Plan, PodReference
from tests.builders import NOW, pod, workload
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.execution.ledger_worlds import OneMoving, Process, run, states
from tests.unit.execution.worlds import (
    World,
    against,
    chain,
    chained,
    executor,
    fragmented,
    outcomes,
    plan_of,
    two_moves,
)


def test_the_intent_stands_in_the_ledger_when_the_eviction_is_sent() -> None:
    """With all that budgets, back-offs and people need to know of it."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    seen: list[LedgerEntry] = []

    def look(_pod: PodReference, dry_run: bool) -> EvictionAnswer | None:
        if not dry_run:
            seen.append(ledger.ledger.entries[-1])
        return None

    world.script = [look] * 4
    run(world, ledger, rules=LedgerRules(label_keys=frozenset({"app"})))
    [first, second] = seen
    assert (first.pod.name, second.pod.name) == ("web-00", "web-01")
    assert (first.state, first.plan, first.number, first.from_node, first.to_node) == (
        EntryState.INTENDED, 1, 1, "n0", "n1",
    )  # fmt: skip
    assert (first.workload_key, first.desired, first.ready) == ("ReplicaSet default/web", 12, 12)
    assert (first.labels, first.objective, first.reason) == ({"app": "web"}, "MakeRoom", "because")
    assert first.at == pytest.approx(world.clock.now(), abs=60)


def test_answers_go_with_the_next_write_so_an_eviction_costs_about_one() -> None:
    """One for the plan's number, one for each eviction, one at the end; then all landings are known."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    result = run(world, ledger)
    assert ledger.writes == 4
    assert states(ledger.ledger) == [EntryState.OPEN, EntryState.OPEN]
    assert [item.landed_on for item in ledger.ledger.entries] == [move.landed_on for move in result.moves]
    assert all(item.ended_at is not None and item.ended_at >= item.at for item in ledger.ledger.entries)


def test_an_empty_plan_and_one_that_was_carried_out_write_nothing() -> None:
    """Nor do they read: an unreadable ledger is no reason to fail then."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    run(world, ledger)
    writes, process = ledger.writes, Process(world, ledger)
    process.apply(two_moves(fragmented()), world)
    process.apply(structs.replace(two_moves(fragmented()), moves=(), placements=()), world)
    assert ledger.writes == writes
    assert ledger.ledger.plan == 1


def test_a_definite_refusal_is_closed_and_a_5xx_is_not() -> None:
    """The pod of the latter is in doubt."""
    for kind, state in (("BudgetExhausted", EntryState.REFUSED), ("Conflict", EntryState.REFUSED),
                        ("Failed", EntryState.OPEN), ("TwoBudgets", EntryState.OPEN)):  # fmt: skip
        world = World(fragmented())
        ledger = SimulatedLedger(world.clock)
        world.script = [None, EvictionAnswer(kind, "told")] * 3
        run(world, ledger, timeout=120.0)
        assert set(states(ledger.ledger)) == {state}, kind
        assert [item.message for item in ledger.ledger.entries][-1] == "told"
        assert ledger.ledger.entries[0].is_in_doubt is (state is EntryState.OPEN)


def test_each_request_has_an_entry_of_its_own() -> None:
    """A refusal closes its own send alone, never the one that follows."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    world.script = [None, EvictionAnswer("BudgetExhausted", "wait")]
    run(world, ledger)
    assert states(ledger.ledger) == [EntryState.REFUSED, EntryState.OPEN, EntryState.OPEN]
    assert [item.pod.name for item in ledger.ledger.entries] == ["web-00", "web-00", "web-01"]


def test_a_newer_plan_stops_an_older_one_before_its_next_eviction() -> None:
    """The message names who took over; what was done before is in the ledger all the same."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)

    def overtake(_pod: PodReference, _dry_run: bool) -> None:
        reading = ledger.read()
        ledger.write(structs.replace(reading.ledger, plan=2, holder="somebody, since noon"), reading.version)

    world.script = [None, None, overtake]
    result = run(world, ledger)
    assert "plan 2 of somebody, since noon has begun" in result.message
    assert world.evicted == ["web-00"]
    assert (states(ledger.ledger), ledger.ledger.plan) == ([EntryState.OPEN], 2)
    assert ledger.ledger.entries[0].landed_on is not None


def test_a_ledger_that_is_taken_away_stops_the_plan() -> None:
    """Without it nobody knows what was evicted."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)

    def remove(_pod: PodReference, _dry_run: bool) -> None:
        ledger.write(Ledger(), ledger.version)

    world.script = [None, None, remove]
    assert "was removed or replaced by an older one" in run(world, ledger).message
    assert world.evicted == ["web-00"]


def test_when_others_have_written_the_gate_is_asked_again_with_what_they_wrote() -> None:
    """Their eviction counts: together both keep the budget."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    gate = OneMoving(2)

    def others(_pod: PodReference, _dry_run: bool) -> None:
        reading = ledger.read()
        foreign = [entry("web-20", at=world.clock.now(), number=7), entry("web-21", at=world.clock.now(), number=8)]
        ledger.write(structs.replace(reading.ledger, entries=tuple(foreign), next_entry=9), reading.version)

    world.script = [others]
    result = run(world, ledger, gate=gate)
    assert "one pod moves at a time" in result.message
    assert world.evicted == []
    assert [item.pod.name for item in gate.ledgers[-1].entries] == ["web-20", "web-21"]


def test_old_entries_go_with_the_next_write() -> None:
    """Debts stay."""
    repaid = entry("gone-0", at=NOW - 90_000, state=EntryState.REPAID)
    old = ledger_of(repaid, entry("gone-1", at=NOW - 80_000, number=2, workload_key="CloneSet default/web"))
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock, old)
    run(world, ledger, rules=LedgerRules(keep_seconds=50_000.0))
    assert [item.pod.name for item in ledger.ledger.entries] == ["gone-1", "web-00", "web-01"]


def test_the_next_wave_sees_the_debts_of_the_one_before_as_repaid_once_ready() -> None:
    """A wave waits until the one before is Ready; in the ledger they stay open until that has lasted."""
    world = World(chained())
    ledger = SimulatedLedger(world.clock)
    gate = OneMoving(1)
    result = Process(world, ledger).apply(chain(chained()), world, gate=gate)
    assert result is not None
    assert result.message == ""
    assert [len(seen.debts) for seen in gate.ledgers] == [0] * 5, "for the rest, and twice for each wave"
    assert [item.is_debt for item in ledger.ledger.entries] == [True, True]


def test_strict_books_wait_between_waves_until_debts_are_repaid() -> None:
    """Where the same workload is to lose a pod again: 30 seconds after its replacement is Ready."""
    start = fragmented()
    plan = two_moves(start)
    plan = structs.replace(plan, moves=(plan.moves[0], structs.replace(plan.moves[1], wave=2)), placements=())
    for is_strict in (False, True):
        world = World(start)
        ledger = SimulatedLedger(world.clock)
        Process(world, ledger).apply(plan, world, gate=OneMoving(1), rules=LedgerRules(waits_until_repaid=is_strict))
        first, second = ledger.ledger.entries
        assert (second.at - first.at > 30) is is_strict
        assert first.state is (EntryState.REPAID if is_strict else EntryState.OPEN)


@pytest.mark.parametrize("is_tied", [False, True])
def test_who_has_nothing_to_do_with_a_debt_does_not_wait_for_it(is_tied: bool) -> None:
    """db-0 goes while web owes a replacement, unless it makes room together with the pod of web that has to wait."""
    start = fragmented(pod("db-0", "500m", node="n0" if is_tied else "n3"), workload("db", 1))
    goals = [("web-00", "n1", 1), ("web-01", "n2", 2), ("db-0", "n3" if is_tied else "n0", 2)]
    plan = plan_of(start, goals, [("big-0", "n0", 2)] if is_tied else [], objective=MAKE_ROOM)
    world = World(start)
    ledger = SimulatedLedger(world.clock)
    Process(world, ledger).apply(plan, world, rules=LedgerRules(waits_until_repaid=True))
    at = {item.pod.name: item.at for item in ledger.ledger.entries}
    assert at["web-01"] - at["web-00"] > 30
    assert (at["db-0"] - at["web-00"] < 15) is not is_tied


def test_a_pod_that_goes_while_debts_are_waited_for_stops_the_plan() -> None:
    """Somebody else deletes a pod of the second wave meanwhile: it is named, and nothing is left behind."""
    start = fragmented()
    plan = two_moves(start)
    plan = structs.replace(plan, moves=(plan.moves[0], structs.replace(plan.moves[1], wave=2)), placements=())
    world = World(start)

    def meddle(_number: int, _phase: str) -> None:
        if world.evicted and world.read_pod("default", "web-01") is not None and world.clock.now() > evicted_at + 20:
            world.delete_pod("default", "web-01")

    evicted_at = world.clock.now()
    process = Process(world, SimulatedLedger(world.clock), meddle)
    result = process.apply(plan, world, gate=OneMoving(1), rules=LedgerRules(waits_until_repaid=True))
    assert result is not None
    assert "default/web-01" in result.message
    assert world.evicted == ["web-00"]
    assert list(world.leftovers()) == []


def test_what_changes_while_debts_are_waited_for_is_proven_anew() -> None:
    """Somebody else's pod takes the room of the second wave meanwhile: nothing more is evicted."""
    start = fragmented()
    plan = two_moves(start)
    plan = structs.replace(plan, moves=(plan.moves[0], structs.replace(plan.moves[1], wave=2)), placements=())
    world = World(start)
    evicted_at = world.clock.now()

    def meddle(_number: int, _phase: str) -> None:
        if world.evicted and world.read_pod("default", "other-0") is None and world.clock.now() > evicted_at + 20:
            world.put(pod("other-0", "1", node="n2", owner="other"))

    def proof(cluster: Cluster, _rest: Plan) -> list[Violation]:
        return against("n2 is full") if "default/other-0" in cluster.pod_by_key else []

    process = Process(world, SimulatedLedger(world.clock), meddle)
    result = process.apply(plan, world, gate=OneMoving(1), rules=LedgerRules(waits_until_repaid=True), proof=proof)
    assert result is not None
    assert "n2 is full" in result.message
    assert world.evicted == ["web-00"]
    assert list(world.leftovers()) == []


def test_without_a_ledger_the_executor_keeps_its_own() -> None:
    """So that a pod is not sent twice by one executor."""
    world = World(fragmented())
    carrier = executor(world)
    assert outcomes(carrier.carry_out(two_moves(fragmented())))["web-00"] == ("Landed", "n1")


def test_a_refusal_that_lasts_is_remembered_even_without_an_intent() -> None:
    """A webhook denies the dry run already: nothing was announced, and later plans know all the same."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    world.script = [EvictionAnswer("Forbidden", "denied by a webhook")]
    run(world, ledger, timeout=120.0)
    (entry,) = ledger.ledger.entries
    assert (entry.state, entry.failure, entry.message) == (EntryState.REFUSED, "Forbidden", "denied by a webhook")
    assert world.evicted == []


def test_an_overloaded_server_is_no_fault_of_the_workload() -> None:
    """Nothing is remembered of it."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    world.script = [EvictionAnswer("TooManyRequests", "later")] * 3
    run(world, ledger, timeout=120.0)
    assert ledger.ledger.entries == ()
