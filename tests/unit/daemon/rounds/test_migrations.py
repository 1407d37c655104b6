"""A daemon has machines moved by their owner: asked once, whoever dies or fails meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.policy import Mode
from tests.builders import cluster, node, pod
from tests.unit.daemon.rounds.test_surges import rounds as rounds_of_method
from tests.unit.execution.migration.scenes import machine
from tests.unit.execution.surge.scenes import left_behind
from tests.unit.execution.worlds import World


def world(**settings: Any) -> World:
    """A machine on a node of its own, and a node that would take it."""
    filler = pod("filler", owner="", node="n1")
    return World(cluster(node("n0", "8"), node("n1", "8"), machine("vm"), filler), **settings)


def rounds(where: World, mode: Mode = Mode.EXECUTE, **around: Any) -> RoundRunner:
    """Rounds that empty nodes, and have machines moved by whoever owns them."""
    return rounds_of_method(where, mode, "Migrate", **{"surges_under": "", **around})


@pytest.mark.parametrize("mode", [Mode.EXECUTE, Mode.APPROVE])
def test_a_machine_is_moved_by_its_owner(mode: Mode) -> None:
    """In Execute by itself, and in Approve when a person says yes."""
    where = world()
    ledger = SimulatedLedger(where.clock)
    runner = rounds(where, mode, ledger=ledger)
    outcome = runner.run_once()
    assert outcome.plan is not None
    assert [move.method for move in outcome.plan.moves] == [MoveMethod.MIGRATE]
    if mode is Mode.APPROVE:
        assert (outcome.result, where.asked) == (None, [])
        outcome = runner.carry_out_approved(outcome.plan)
    assert outcome.reason == ""
    assert where.asked == [("vm", False)]
    where.settle()
    assert {item.node_name for item in where.read().pods if not item.is_finished} == {"n1"}
    assert left_behind(where) == []
    (entry,) = ledger.ledger.entries
    assert (entry.method, entry.state, entry.landed_on) == (MoveMethod.MIGRATE, EntryState.REPAID, "n1")


def test_an_owner_who_gave_up_is_not_asked_again_at_once() -> None:
    """Its workload is left alone for ``disruption.backOff.first``; the breaker counts no failure."""
    where = world(migration_seconds=None, migration_patience_seconds=10.0)
    ledger = SimulatedLedger(where.clock)
    runner = rounds(where, ledger=ledger)
    assert "has given up" in runner.run_once().reason
    where.clock.sleep(60.0)
    runner.run_once()
    assert where.asked == [("vm", False)]
    assert ledger.ledger.breaker.opened_at is None


class Killed(BaseException):
    """kill -9."""


def test_after_a_death_nobody_is_asked_again_until_it_is_known_what_became_of_it() -> None:
    """The owner goes on; the next process finds in the ledger that he was asked, and later that he is done."""
    where = world(migration_seconds=100.0, migration_patience_seconds=300.0)
    ledger = SimulatedLedger(where.clock)

    def die(pod: Any, _dry_run: bool) -> None:
        where.clock.after(5.0, _raise)

    def _raise() -> None:
        raise Killed

    where.script = [die]
    with pytest.raises(Killed):
        rounds(where, ledger=ledger).run_once()
    assert [entry.state for entry in ledger.ledger.entries] == [EntryState.SURGING]
    for _ in range(3):
        where.clock.sleep(20.0)
        rounds(where, ledger=ledger).run_once()
    assert where.asked == [("vm", False)]
    where.clock.sleep(100.0)
    rounds(where, ledger=ledger).run_once()
    assert where.asked == [("vm", False)]
    (entry,) = ledger.ledger.entries
    assert (entry.state, entry.landed_on) == (EntryState.REPAID, "n1")
