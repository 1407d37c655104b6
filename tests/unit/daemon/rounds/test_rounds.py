"""Rounds of a daemon: what they carry out, and what keeps them from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.rounds import MakePlan, RoundRunner
from rescheduler.daemon.rounds.world import RoundContext as Surroundings
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.extension_points import ClusterError, LedgerReading, StoreError
from rescheduler.model.daemon.ledger import Breaker, EntryState, Ledger, LedgerEntry
from rescheduler.model.objects.annotations import EXPIRES, GUIDE_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node_pool import NodePool
from rescheduler.model.plan.leaving_taint import leaving_taint
from rescheduler.model.plan.move_change import MoveChange
from rescheduler.model.plan.plan import ObjectiveResult, Plan, PodReference, Status
from rescheduler.policy.fields.daemon.autoscaler import AutoscalerPolicy, BuyingTaints
from rescheduler.policy.fields.daemon.safety import Health
from rescheduler.policy.fields.policy import Guidance, Mode, Policy
from tests.builders import NOW, node, pod, workload
from tests.unit.execution.worlds import World, fragmented, plan_of

EXECUTE: dict[str, Any] = {"mode": Mode.EXECUTE}


def surroundings(world: World, ledger: SimulatedLedger | None = None, **given: Any) -> Surroundings:
    """The world and a ledger as rounds meet them."""
    return Surroundings(world, ledger or SimulatedLedger(world.clock), world.clock, **given)


def planner(world: World, policy: Policy) -> MakePlan:
    """The real planner."""

    def plan(cluster: Cluster, _: Ledger, wanted: Mapping[str, Wanted]) -> Plan:
        return make_plan(cluster, policy, CycleOptions(world.clock, is_daemon=True, wanted=wanted))

    return plan


def rounds(world: World, around: Surroundings | None = None, **policy: Any) -> RoundRunner:
    """Rounds with the real planner."""
    found = Policy.model_validate({**EXECUTE, **policy})
    return RoundRunner(around or surroundings(world), found, planner(world, found))


def test_a_round_tells_how_far_each_move_has_come() -> None:
    """Of its own run, from planned to settled."""
    world = World(fragmented())
    told: list[tuple[str, str, str]] = []

    def moved(run_id: str, change: MoveChange) -> None:
        told.append((run_id, change.pod.name, change.state.value))

    around = surroundings(world, running=lambda _: nullcontext("run-7"), moved=moved)
    assert rounds(world, around).run_once().reason == ""
    assert {run_id for run_id, _, _ in told} == {"run-7"}
    for name in world.evicted:
        states = [state for _, pod_name, state in told if pod_name == name]
        assert (states[0], states[-1]) == ("planned", "settled")
        assert "evicted" in states


@pytest.mark.parametrize("seconds", [60.0, 900.0, 6 * 3600.0])
def test_the_breaker_stays_closed_however_long_after_it_the_next_round_comes(seconds: float) -> None:
    """What was replaced at once is no failure because nobody has looked for a quarter of an hour."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    found = rounds(world, surroundings(world, ledger), disruption={"breaker": {"failures": 1}})
    assert found.run_once().reason == ""
    sent = len(ledger.ledger.entries)
    assert sent
    world.clock.sleep(seconds)
    found.run_once()
    assert {entry.state for entry in ledger.ledger.entries[:sent]} == {EntryState.REPAID}
    assert ledger.ledger.breaker.opened_at is None


def test_a_round_carries_its_plan_out_and_the_ledger_shows_it() -> None:
    """The pending pod gets its room; each eviction stands in the ledger with the node that its pod went to."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    done = rounds(world, surroundings(world, ledger)).run_once()
    assert done.result is not None
    assert done.reason == ""
    assert world.pod("big-0").node_name is not None
    assert [entry.pod.name for entry in ledger.ledger.entries] == world.evicted
    assert all(entry.landed_on for entry in ledger.ledger.entries)


def test_a_plan_has_time_for_a_workload_that_loses_one_pod_after_the_other() -> None:
    """Each when the last is repaid, 30 s after its replacement is Ready: three take longer than a short plan may."""
    world = World(fragmented())
    plan = plan_of(fragmented(), [(f"web-0{i}", f"n{i + 1}", i + 1) for i in range(3)], objective="SpreadLoad")
    plan = structs.replace(
        plan, objectives=(ObjectiveResult("SpreadLoad", Status.FEASIBLE, 1.0, 1.0, 0.0, "pods", 0.0),)
    )
    lifted = {"rampUp": "unlimited", "rates": {"perWorkloadPerHour": "unlimited"}}
    policy = Policy.model_validate({**EXECUTE, "disruption": {"workloads": {"maxUnavailable": 1}, **lifted}})
    RoundRunner(surroundings(world), policy, lambda *_: plan, timeout_seconds=60.0).run_once()
    assert world.evicted == ["web-00", "web-01", "web-02"]
    assert world.clock.monotonic() > 60.0


def test_whoever_judges_load_learns_the_ledger_before_the_plan_is_made() -> None:
    """So that what another leader has moved settles here too; the second round knows of the first one's evictions."""
    world = World(fragmented())
    ledger, order = SimulatedLedger(world.clock), []
    around = surroundings(world, ledger, learn=lambda entries: order.append(len(entries)))
    policy = Policy.model_validate(EXECUTE)

    def plan(cluster: Cluster, known: Ledger, wanted: Mapping[str, Wanted]) -> Plan:
        order.append(-len(known.entries))
        return planner(world, policy)(cluster, known, wanted)

    some = RoundRunner(around, policy, plan)
    some.run_once()
    assert order == [0, 0]
    some.run_once()
    assert order == [0, 0, len(world.evicted), -len(world.evicted)]


def test_debts_are_closed_by_a_later_round() -> None:
    """Replacements that have been ready for half a minute repay what was owed."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    some = rounds(world, surroundings(world, ledger))
    some.run_once()
    world.clock.sleep(60)
    some.run_once()
    assert {entry.state for entry in ledger.ledger.entries} == {EntryState.REPAID}


@pytest.mark.parametrize("mode", [Mode.DRY_RUN, Mode.APPROVE])
def test_only_execute_executes(mode: Mode) -> None:
    """In any other mode there is a plan and no write."""
    world = World(fragmented())
    done = rounds(world, mode=mode).run_once()
    assert done.plan is not None
    assert done.plan.moves
    assert done.result is None
    assert mode.value in done.reason
    assert list(world.writes) == []


def test_a_workload_that_was_just_scaled_is_left_out_of_the_plan() -> None:
    """What the gate would refuse, with all that comes after it, is told beforehand and planned around."""
    world = World(fragmented())
    some = rounds(world)
    some.watch(world.read())
    (web,) = (item for item in world.read().workloads if item.name == "web")
    world.put(structs.replace(web, desired_replicas=13, updated_replicas=13))
    world.settle()
    done = some.run_once()
    assert done.plan is not None
    assert done.plan.moves == ()
    assert {refusal.rule for refusal in done.plan.refusals} == {"Rescaled"}
    assert world.evicted == []


def test_a_planner_that_fails_moves_nothing() -> None:
    """An exception of the planner is the reason, and nothing else happens."""
    world = World(fragmented())

    def broken(cluster: Cluster, ledger: Ledger, wanted: Mapping[str, Wanted]) -> Plan:
        raise ZeroDivisionError("by accident")

    done = RoundRunner(surroundings(world), Policy.model_validate(EXECUTE), broken).run_once()
    assert done.plan is None
    assert "ZeroDivisionError" in done.reason
    assert world.evicted == []


def test_the_mark_on_the_ledger_stops_everything() -> None:
    """Not even a plan is made."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    ledger.stop = "maintenance"
    done = rounds(world, surroundings(world, ledger)).run_once()
    assert "maintenance" in done.reason
    assert world.evicted == []


def test_the_switch_on_this_machine_stops_everything() -> None:
    """The plan is made and not carried out."""
    world = World(fragmented())
    done = rounds(world, surroundings(world, stopped=lambda: "file /stop exists")).run_once()
    assert "file /stop exists" in done.reason
    assert world.evicted == []


def test_unready_nodes_freeze_it_until_it_has_been_calm() -> None:
    """With three nodes down nothing moves, nor right after they are back, but ten minutes later."""
    world = World(fragmented(*(node(f"down-{number}", "4", is_ready=False) for number in range(3))))
    some = rounds(world)
    assert "nodes are not ready" in some.run_once().reason
    for number in range(3):
        world.put(node(f"down-{number}", "1m"))
    world.clock.sleep(60)
    assert "calm" in some.run_once().reason
    assert world.evicted == []
    world.clock.sleep(601)
    assert some.run_once().reason == ""
    assert world.evicted


@pytest.mark.parametrize("fails", ["ledger", "tidying"])
def test_unready_nodes_are_remembered_where_the_round_fails_after_reading_them(fails: str) -> None:
    """The snapshot was seen, though nothing was decided on it: it has to be calm for as long as after any other."""

    class Failing(SimulatedLedger):
        def read(self) -> LedgerReading:
            if is_failing[0] and fails == "ledger":
                raise StoreError("no answer")
            return super().read()

    class Untidy(World):
        def untaint(self, nodes: Sequence[str]) -> None:
            if is_failing[0] and fails == "tidying":
                raise ClusterError("no answer")
            super().untaint(nodes)

    is_failing = [True]
    left = node("n9", "1m", taints=(leaving_taint("0123456789", 1.0),))
    world = Untidy(fragmented(left, *(node(f"down-{number}", "4", is_ready=False) for number in range(3))))
    some = rounds(world, surroundings(world, Failing(world.clock)), guidance=Guidance.TAINT)
    assert some.run_once().reason == "no answer"
    is_failing[0] = False
    for number in range(3):
        world.put(node(f"down-{number}", "1m"))
    world.clock.sleep(60)
    assert "calm" in some.run_once().reason
    assert world.evicted == []


def test_unready_nodes_are_remembered_where_the_plan_is_stopped_by_what_was_read_with_them() -> None:
    """The gate was not asked any more, since the plan did not hold: the next round has to wait all the same."""

    class Falling(World):
        reads = 0

        def read(self) -> Cluster:
            self.reads += 1
            found = super().read()
            if self.reads != 2:
                return found
            return replace(found, nodes=tuple(structs.replace(item, is_ready=False) for item in found.nodes))

    world = Falling(fragmented())
    found = Policy.model_validate(EXECUTE)
    some = RoundRunner(surroundings(world), found, planner(world, found))
    assert "does not hold" in some.run_once().reason
    world.clock.sleep(60)
    assert "calm" in some.run_once().reason
    assert world.evicted == []


def test_an_open_breaker_lets_nothing_go() -> None:
    """Its reason is told."""
    world = World(fragmented())
    breaker = Breaker(opened_at=world.clock.now(), openings=1, reason="two of two failed")
    ledger = SimulatedLedger(world.clock, Ledger(plan=1, breaker=breaker))
    done = rounds(world, surroundings(world, ledger)).run_once()
    assert "two of two failed" in done.reason
    assert world.evicted == []


def test_an_unreachable_cluster_is_a_reason() -> None:
    """The round ends, the process does not."""

    class Away(World):
        def read(self) -> Cluster:
            raise ClusterError("no route")

    assert rounds(Away(fragmented())).run_once().reason == "no route"


def test_a_clock_that_jumps_is_not_believed_at_once() -> None:
    """Ages and windows are judged by the clock: after a jump of an hour nothing moves until it has been calm."""
    world = World(fragmented())
    jump = [0.0]

    class Jumping:
        monotonic, sleep = world.clock.monotonic, world.clock.sleep

        def now(self) -> float:
            return world.clock.now() + jump[0]

    around = Surroundings(world, SimulatedLedger(world.clock), Jumping())
    some = rounds(world, around)
    jump[0] = 3600.0
    assert "jumped by 3600s" in some.run_once().reason
    world.clock.sleep(300)
    assert "calm" in some.run_once().reason
    assert world.evicted == []
    world.clock.sleep(301)
    assert some.run_once().reason == ""


def test_what_a_killed_process_left_is_taken_away() -> None:
    """A taint that ran out goes, a pod whose gate nobody opens is let go; what still holds, or is others', stays."""
    now = World(fragmented()).clock.now()
    old, new = leaving_taint("gone", now - 100), leaving_taint("other", now + 500)
    foreign = Taint("maintenance", "", "NoSchedule")
    gated = pod(
        "gated-0", "1m", owner="gated", scheduling_gates=(GUIDE_GATE,), annotations={EXPIRES: "2020-01-01T00:00:00Z"}
    )
    world = World(fragmented(node("a", taints=[old, foreign]), node("b", taints=[new]), gated, workload("gated", 1)))
    rounds(world, guidance=Guidance.TAINT).run_once()
    nodes = world.read().node_by_name
    assert nodes["a"].taints == (foreign,)
    assert nodes["b"].taints == (new,)
    assert world.pod("gated-0").scheduling_gates == ()


def test_a_plan_that_ends_without_head_room_is_not_begun() -> None:
    """Half of it would be evictions for nothing."""
    world = World(fragmented())
    done = rounds(world, health=Health(head_room=0.5)).run_once()
    assert "headRoom" in done.reason
    assert world.evicted == []


def test_no_round_closes_nodes_by_taints_beside_karpenter() -> None:
    """It would buy a machine for each pod that a taint turns away; the reason says what lets it."""
    world = World(replace(fragmented(), node_pools=(NodePool("a"),)))
    done = rounds(world, guidance=Guidance.TAINT).run_once()
    assert world.evicted == []
    assert done.result is None
    assert "autoscaler.taints: Allow" in done.reason
    allowed = AutoscalerPolicy(taints=BuyingTaints.ALLOW)
    assert rounds(world, guidance=Guidance.TAINT, autoscaler=allowed).run_once().result is not None


@pytest.mark.parametrize("is_owed", [False, True])
def test_no_pod_takes_the_last_place_of_one_that_was_evicted_before_and_waits_for_it(is_owed: bool) -> None:
    """Whatever the planner makes of pods that wait: the scheduler may pass over one for a while."""
    waits = pod("db-9", "2", scheduler_name="slow", created_at=NOW)
    world = World(fragmented(node("n9", "2"), workload("db", 1), waits))
    gone = PodReference("default", "db-0", "uid-db-0")
    fields: dict[str, Any] = {"workload": "uid-default-db", "workload_key": "ReplicaSet default/db", "desired": 1}
    debt = LedgerEntry(1, 1, gone, "n0", "n9", NOW, state=EntryState.OPEN, **fields)
    ledger = SimulatedLedger(world.clock, Ledger(plan=1, next_entry=2, entries=(debt,) if is_owed else ()))

    def plan(cluster: Cluster, _ledger: Ledger, _wanted: Mapping[str, Wanted]) -> Plan:
        return structs.replace(plan_of(cluster, [("web-00", "n9", 1)]), objectives=(objective,))

    objective = ObjectiveResult("MakeRoom", Status.FEASIBLE, 1.0, 1.0, 0.0, "pods", 0.0)
    found = Policy.model_validate({**EXECUTE, "disruption": {"rampUp": "unlimited"}})
    done = RoundRunner(surroundings(world, ledger), found, plan).run_once()
    assert world.evicted == ([] if is_owed else ["web-00"])
    assert ("insufficient cpu" in done.reason) is is_owed


def test_no_move_is_begun_where_much_was_asked_of_the_api_server_within_the_minute() -> None:
    """Whatever asked for so much; the plan ends when its time is over."""
    world = World(fragmented())
    done = rounds(world, surroundings(world, asked=lambda: 500)).run_once()
    assert "more than the plan's time allows" in done.reason
    assert world.evicted == []
