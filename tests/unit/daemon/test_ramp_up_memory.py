"""What the ramp-up needs to know outlives entries, rounds and processes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.disruption.earlier.ramp_up import allowance
from rescheduler.model.daemon.ledger import EntryState, Ledger
from rescheduler.policy.fields.daemon.safety import RampUpPolicy
from rescheduler.policy.fields.policy import Mode
from tests.unit.daemon.rounds.test_rounds import rounds, surroundings
from tests.unit.execution.worlds import World, fragmented

DAY = 86400.0
RAMP_UP: dict[str, Any] = {"disruption": {"rampUp": {"start": 2, "window": "1h", "doubleEvery": "24h"}}}
RULES = RampUpPolicy(start=2)


def fresh(world: World, ledger: SimulatedLedger, **policy: Any) -> RoundRunner:
    """A process that has just been started."""
    return rounds(world, surroundings(world, ledger), **{**RAMP_UP, **policy})


def test_the_first_round_in_execute_is_remembered_when_all_entries_are_gone() -> None:
    """After weeks without evictions a new process does not begin with few again."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    fresh(world, ledger).run_once()
    first = ledger.ledger.clean_since
    assert first is not None
    assert first <= ledger.ledger.entries[0].at
    world.clock.sleep(600)
    fresh(world, ledger).run_once()
    assert ledger.ledger.clean_since == first
    world.clock.sleep(30 * DAY)
    fresh(world, ledger).run_once()
    ledger.write(structs.replace(ledger.ledger, entries=()), ledger.version)
    fresh(world, ledger).run_once()
    assert ledger.ledger.entries == ()
    assert ledger.ledger.clean_since == first
    assert allowance(ledger.ledger, RULES, world.clock.now()).allowed > 2**20


def test_a_failure_starts_it_again_for_every_process() -> None:
    """Also when the failed entry is dropped afterwards."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    fresh(world, ledger).run_once()
    world.clock.sleep(1.5 * DAY)
    fresh(world, ledger).run_once()
    assert allowance(ledger.ledger, RULES, world.clock.now()).allowed == 4
    failed = structs.replace(ledger.ledger.entries[0], state=EntryState.FAILED, closed_at=world.clock.now())
    ledger.write(structs.replace(ledger.ledger, entries=(failed,)), ledger.version)
    fresh(world, ledger).run_once()
    ledger.write(structs.replace(ledger.ledger, entries=()), ledger.version)
    fresh(world, ledger).run_once()
    assert ledger.ledger.clean_since == failed.closed_at
    assert allowance(ledger.ledger, RULES, world.clock.now()).allowed == 2


@pytest.mark.parametrize(
    "given", [{"mode": Mode.DRY_RUN}, {"mode": Mode.APPROVE}, {"disruption": {"rampUp": "unlimited"}}]
)
def test_only_a_ramp_up_that_may_act_writes(given: dict[str, Any]) -> None:
    """It begins in Execute, and without a ramp-up there is nothing to remember."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    fresh(world, ledger).run_once()
    world.clock.sleep(600)
    rounds(world, surroundings(world, ledger), disruption={"rampUp": "unlimited"}).run_once()
    before: Ledger = structs.replace(ledger.ledger, clean_since=None)
    ledger.write(before, ledger.version)
    fresh(world, ledger, **given).run_once()
    assert ledger.ledger == before
