"""A plan that ``apply`` carries out keeps out of the room that earlier evictions still owe, as under ``run``."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.composition.live.carrying_out import executor_for
from rescheduler.composition.live.descheduling import PlannedEnds, ways_of
from rescheduler.composition.live.executors import OWN_WAYS, Ways
from rescheduler.composition.live.ledgers import Ledgers
from rescheduler.descheduler.reading.policy_file import read_descheduler_policy
from rescheduler.execution.run.executor import Executor
from rescheduler.extension_points import no_progress
from rescheduler.model.daemon.ledger import EntryState, Ledger, LedgerEntry
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import ObjectiveResult, Plan, PodReference, Status
from rescheduler.policy.fields.policy import Guidance, Policy
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import NOW, node, pod, workload
from tests.unit.composition.live.test_refused_taints import THEIRS
from tests.unit.execution.worlds import World, fragmented, plan_of

PREDICT = Policy(guidance=Guidance.PREDICT)
WAITS = pod("db-9", "2", scheduler_name="slow", created_at=NOW)
"""Made in the place of db-0, which an earlier plan evicted, and passed over by its scheduler for a while."""


def owed(name: str, owner: str, uid: str = "gone", **fields: Any) -> Ledger:
    """The ledger with an open eviction of a pod that was to go to n9."""
    whose: dict[str, Any] = {"workload": f"uid-default-{owner}", "workload_key": f"ReplicaSet default/{owner}"}
    debt = LedgerEntry(
        1, 1, PodReference("default", name, uid), "n0", "n9", NOW, state=EntryState.OPEN, desired=1, **whose, **fields
    )
    return Ledger(plan=1, next_entry=2, entries=(debt,))


def own(world: World, ledger: SimulatedLedger, plan: Plan, ways: Ways = OWN_WAYS) -> Executor:
    """What carries out the plans of a policy of ours."""
    ledgers = Ledgers(ledger, None)
    return executor_for(
        world, world.clock, PREDICT, Selection(), DEFAULTS, 600.0, no_progress, ledgers, plan, ways=ways
    )


def theirs(world: World, ledger: SimulatedLedger, plan: Plan) -> Executor:
    """What carries out the plans of a DeschedulerPolicy."""
    chosen = PlannedEnds(read_descheduler_policy(THEIRS, "theirs.yaml"), PREDICT, Selection(), DEFAULTS)
    return own(world, ledger, plan, ways_of(chosen))


def to_n9(world: World) -> Plan:
    """A reviewed plan, which knows nothing of who waits: web-00 goes to n9."""
    objective = ObjectiveResult("MakeRoom", Status.FEASIBLE, 1.0, 1.0, 0.0, "pods", 0.0)
    return structs.replace(plan_of(world.read(), [("web-00", "n9", 1)]), objectives=(objective,))


@pytest.mark.parametrize("made", [own, theirs])
@pytest.mark.parametrize("is_owed", [False, True])
def test_no_pod_takes_the_last_place_of_one_that_was_evicted_before(made: Any, is_owed: bool) -> None:
    """n9 is the only node with room for db-9; without the debt db-9 is anybody's pod, and the plan goes on."""
    world = World(fragmented(node("n9", "2"), workload("db", 1), WAITS))
    ledger = SimulatedLedger(world.clock, owed("db-0", "db") if is_owed else Ledger())
    reviewed = to_n9(world)
    done = made(world, ledger, reviewed).carry_out(reviewed)
    assert world.evicted == ([] if is_owed else ["web-00"])
    assert ("insufficient cpu" in done.message) is is_owed


def test_room_is_owed_for_debts_that_came_while_the_plan_was_looked_at() -> None:
    """The ledger counts as it is when the plan begins, not as it was when the plan was made."""
    world = World(fragmented(node("n9", "2"), workload("db", 1), WAITS))
    ledger = SimulatedLedger(world.clock, Ledger())
    reviewed = to_n9(world)
    executor = own(world, ledger, reviewed)
    ledger.write(owed("db-0", "db"), ledger.read().version)
    executor.carry_out(reviewed)
    assert world.evicted == []


def test_a_pod_that_an_earlier_run_left_standing_goes_where_it_was_to_go() -> None:
    """Its eviction was in doubt and came to nothing: the room that it was owed is where this plan leads it."""
    world = World(fragmented(node("n9", "1")))
    ledger = SimulatedLedger(world.clock, owed("web-00", "web", uid=world.pod("web-00").uid, is_in_doubt=True))
    reviewed = to_n9(world)
    done = own(world, ledger, reviewed).carry_out(reviewed)
    assert world.evicted == ["web-00"], done.message
