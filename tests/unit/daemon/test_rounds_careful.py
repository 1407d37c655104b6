"""What a round does and does not do where the policy says nothing of rates, ages and the ramp-up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import UNSET, structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.rounds import MakePlan, RoundRunner
from rescheduler.daemon.rounds.world import RoundContext
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Mode, Policy
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.daemon.rounds.test_rounds import EXECUTE, surroundings
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry
from tests.unit.execution.worlds import World, plan_of

HOUR, DAY = 3600.0, 86400.0
AT_ONCE: dict[str, Any] = {"disruption": {"rampUp": "unlimited"}}


def planner(world: World, by: Policy) -> MakePlan:
    """The real planner, as the daemon asks it: with the ledger."""

    def plan(cluster: Cluster, ledger: Ledger, wanted: Mapping[str, Wanted]) -> Plan:
        return make_plan(cluster, by, CycleOptions(world.clock, ledger=ledger, is_daemon=True, wanted=wanted))

    return plan


def rounds(world: World, around: RoundContext | None = None, **given: Any) -> RoundRunner:
    """Rounds with it."""
    by = Policy.model_validate({**EXECUTE, **given})
    return RoundRunner(around or surroundings(world), by, planner(world, by))


def two_wait(**fields: Any) -> Cluster:
    """Two pending pods, each of which gets a place once two pods of two workloads have left a node."""
    pods = [pod(f"{name}-{n}{i}", "1", "1Gi", node=f"n{n}", owner=name, **fields)
            for n in range(8) for i, name in enumerate(("a", "b", "c"))]  # fmt: skip
    owners = [workload(name, 8) for name in ("a", "b", "c")]
    waiting = [pod("big-0", "3"), pod("big-1", "3")]
    return cluster(*(node(f"n{n}", "4") for n in range(8)), *pods, *owners, *waiting, workload("big", 2))


def later(world: World, ledger: SimulatedLedger, seconds: float, **given: Any) -> RoundRunner:
    """A process that has just been started, some time later."""
    world.clock.sleep(seconds)
    return rounds(world, surroundings(world, ledger), **given)


def test_a_pod_that_needs_two_evictions_is_helped_on_the_first_day() -> None:
    """And the next one an hour later: one step goes whole while nothing was sent in the window."""
    world = World(two_wait())
    ledger = SimulatedLedger(world.clock)
    done = rounds(world, surroundings(world, ledger)).run_once()
    assert done.plan is not None
    assert len(world.evicted) == len(done.plan.moves) == 2
    assert any("ramp-up holds 2 of 4 evictions back" in warning for warning in done.plan.warnings)
    again = later(world, ledger, 60).run_once()
    assert again.plan is not None
    assert again.plan.moves == ()
    assert len(world.evicted) == 2
    later(world, ledger, HOUR).run_once()
    assert len(world.evicted) == 4
    assert all(world.pod(f"big-{n}").node_name for n in range(2))


def test_a_planner_that_proposes_more_is_held_back_by_the_gate() -> None:
    """Whatever the plan claims: what is not of the step that goes is refused."""
    world = World(two_wait())

    def everything(cluster: Cluster, ledger: Ledger, wanted: Any) -> Plan:
        by = policy(mode="Execute", disruption={"rampUp": "unlimited"})
        return planner(world, by)(cluster, ledger, wanted)

    around = surroundings(world)
    some = RoundRunner(around, policy(**EXECUTE), everything)
    done = some.run_once()
    assert done.plan is not None
    assert len(done.plan.moves) == 4
    assert len(world.evicted) <= 2
    assert done.result is not None
    assert any("the ramp-up (1 in 1h)" in move.message for move in done.result.moves)


@pytest.mark.parametrize("mode", [Mode.DRY_RUN, Mode.APPROVE])
def test_other_modes_tell_all_that_execute_would_do_and_when(mode: Mode) -> None:
    """The plan stays whole; what the ramp-up would hold back is marked with its time."""
    done = rounds(World(two_wait()), mode=mode).run_once()
    assert done.plan is not None
    marks = [move.not_before for move in done.plan.moves]
    assert len(marks) == 4
    assert marks.count(UNSET) == 2
    assert set(marks) - {UNSET} == {"2027-01-15T09:00:01Z"}


def test_a_plan_that_a_person_has_approved_is_carried_out_whole() -> None:
    """Somebody has looked at it; rates and ages bind it all the same."""
    world = World(two_wait())
    some = rounds(world, mode=Mode.APPROVE)
    plan = some.run_once().plan
    assert plan is not None
    some.carry_out_approved(plan)
    assert len(world.evicted) == 4


@pytest.mark.parametrize("mode", list(Mode))
def test_rates_bind_the_plan_in_each_mode(mode: Mode) -> None:
    """A dry run tells what Execute would do: no more than two pods of one workload."""
    start = cluster(
        *(node(f"n{n}", "4") for n in range(6)), pod("big-0", "4"), workload("big", 1), workload("web", 18),
        *(pod(f"web-{n}{i}", "1", "1Gi", node=f"n{n}", owner="web") for n in range(6) for i in range(3)),
    )  # fmt: skip
    many = {"maxUnavailable": 5}
    found = rounds(World(start), mode=mode, disruption={"rampUp": "unlimited", "workloads": many}).run_once().plan
    assert found is not None
    assert found.moves == ()
    loose = {"workloads": many, "rampUp": "unlimited", "rates": {"perWorkloadPerHour": "unlimited"}}
    found = rounds(World(start), mode=mode, disruption=loose).run_once().plan
    assert found is not None
    assert len(found.moves) == 3


def test_evictions_of_others_count_in_the_rates() -> None:
    """A person's ``apply``, say, written into the same ledger."""
    world = World(two_wait())
    ledger = SimulatedLedger(world.clock)
    entries = tuple(
        structs.replace(entry(n, ago=0, workload=f"w{n}"), at=NOW - 600, closed_at=NOW - 500) for n in range(1, 19)
    )
    ledger.write(Ledger(entries=entries, next_entry=19), ledger.version)
    found = rounds(world, surroundings(world, ledger), **AT_ONCE).run_once().plan
    assert found is not None
    assert len(found.moves) == 2
    assert "disruption.rates.perHour" in found.objectives[0].message


@pytest.mark.parametrize("mode", list(Mode))
def test_young_pods_stay_in_each_mode(mode: Mode) -> None:
    """Five minutes, unless the policy says otherwise."""
    start = two_wait(started_at=NOW - 200, created_at=NOW - 200)
    found = rounds(World(start), mode=mode).run_once().plan
    assert found is not None
    assert found.moves == ()
    assert {refusal.rule for refusal in found.refusals} == {"MinimumAge"}
    found = rounds(World(start), mode=mode, scope={"minimumAge": 0.0}).run_once().plan
    assert found is not None
    assert found.moves


def test_an_eviction_of_the_step_by_somebody_else_takes_its_exception_away() -> None:
    """What was sent meanwhile fills the window, so that the rest is refused."""
    world = World(two_wait())
    ledger = SimulatedLedger(world.clock)

    def proposing(cluster: Cluster, _: Ledger, wanted: Any) -> Plan:
        del wanted
        other = structs.replace(entry(77, ago=0, workload="x"), at=world.clock.now(), closed_at=world.clock.now())
        ledger.write(structs.replace(ledger.ledger, entries=(other,), next_entry=78), ledger.version)
        return plan_of(cluster, [("a-00", "n5", 1), ("b-00", "n4", 1)], [("big-0", "n0", 1)])

    RoundRunner(surroundings(world, ledger), policy(**EXECUTE), proposing).run_once()
    assert world.evicted == []
