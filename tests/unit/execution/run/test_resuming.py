"""A plan that was stopped half-way goes on with what is left; what was done is recognised by uid."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.run.resuming import made_at, rest_of, what_is_left
from rescheduler.extension_points import ExecutionInterruptedError
from rescheduler.model.plan.plan import Plan, PodReference
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.execution.worlds import World, chain, chained, executor, fragmented, outcomes, plan_of, two_moves


def evict(world: World, name: str) -> None:
    """Somebody evicts a pod, and the cluster comes to rest."""
    standing = world.pod(name)
    world.evict(PodReference("default", name, standing.uid), standing.resource_version, dry_run=False)
    world.settle()


def test_a_plan_stopped_between_waves_goes_on_with_the_second() -> None:
    """What the first run moved is told as done; only the rest is evicted."""
    start = chained()
    world = World(start)
    plan = chain(start)
    evict(world, "little-0")
    result = executor(world).carry_out(plan)
    assert world.evicted == ["little-0", "mid-0"]
    assert outcomes(result) == {"little-0": ("Landed", "n2"), "mid-0": ("Landed", "n1"), "big-0": ("Landed", "n0")}


def test_moves_of_an_earlier_run_that_are_still_under_way_come_to_rest_first() -> None:
    """A pod that runs out its grace is waited for before anything else is evicted."""
    start = chained()
    world = World(start, termination_seconds=20.0)
    plan = chain(start)
    standing = world.pod("little-0")
    world.evict(PodReference("default", "little-0", standing.uid), standing.resource_version, dry_run=False)
    world.clock.sleep(1)
    result = executor(world).carry_out(plan)
    assert world.evicted == ["little-0", "mid-0"]
    assert outcomes(result) == {"little-0": ("Landed", "n2"), "mid-0": ("Landed", "n1"), "big-0": ("Landed", "n0")}


def test_a_homeless_replacement_of_an_earlier_run_stops_the_plan() -> None:
    """While a pod that an earlier run moved has no node, the room is not given to another."""
    start = fragmented()
    world = World(start)
    plan = two_moves(start)
    homeless = pod("web-new", "9", owner="web", created_at=NOW)
    world.put(homeless)
    world.delete_pod("default", "web-00")
    for other in range(1, 4):
        world.put(node(f"n{other}", "4", is_unschedulable=True))
    world.put(node("n0", "4", is_unschedulable=True))
    world.settle()
    result = executor(world).carry_out(plan)
    assert "earlier run" in result.message
    assert not world.writes


def test_placeholders_of_a_killed_run_are_waited_for() -> None:
    """They vanish at their deadline; then the plan is carried out."""
    start = fragmented()
    world = World(start)
    plan = two_moves(start)

    def die(_pod: PodReference, _dry_run: bool) -> None:
        raise SystemExit

    world.script = [die]
    dying = executor(world, deadline=20)
    world.release = lambda _names: None  # type: ignore[method-assign]
    with pytest.raises(SystemExit):
        dying.carry_out(plan)
    del world.release
    assert world.leftovers()
    result = executor(world, deadline=20).carry_out(plan)
    assert outcomes(result)["big-0"] == ("Landed", "n0")
    assert world.leftovers() == []


def test_placeholders_of_a_living_run_stop_the_plan() -> None:
    """Two runs at once would take each other's room: the second one waits, then leaves with a reason."""
    start = fragmented()
    world = World(start)
    world.leftovers = lambda: ["hold-other-0"]  # type: ignore[method-assign]
    result = executor(world, deadline=20).carry_out(two_moves(start))
    assert "hold-other-0" in result.message
    assert "rescheduler clean" in result.message
    assert not world.evicted


@settings(max_examples=60, deadline=None)
@given(done=st.sets(st.sampled_from(["web-00", "web-01", "big-0"])))
def test_no_pod_is_ever_evicted_twice_whatever_was_done_before(done: set[str]) -> None:
    """From any half-way state each pod uid sees at most one accepted eviction, and no successor sees any."""
    start = fragmented()
    world = World(start)
    plan = two_moves(start)
    for name in sorted(done - {"big-0"}):
        evict(world, name)
    if "big-0" in done:
        world.put(node("n9", "4"))
        world.settle()
    executor(world).carry_out(plan)
    executor(world).carry_out(plan)
    assert len(world.evicted) == len(set(world.evicted))
    assert set(world.evicted) <= {"web-00", "web-01"}


def test_an_interrupted_run_can_be_taken_up_again() -> None:
    """After Ctrl-C between two evictions the same plan ends well."""
    start = fragmented()
    world = World(start)
    plan = two_moves(start)

    def stop(_pod: PodReference, _dry_run: bool) -> None:
        raise KeyboardInterrupt

    world.script = [None, None, stop]
    with pytest.raises(ExecutionInterruptedError):
        executor(world).carry_out(plan)
    world.settle()
    result = executor(world).carry_out(plan)
    assert sorted(world.evicted) == ["web-00", "web-01"]
    assert outcomes(result)["big-0"] == ("Landed", "n0")


def test_waves_are_counted_from_one_again() -> None:
    """Placements come with the last wave they wait for; those that wait for none come at once."""
    start = fragmented()
    plan = plan_of(start, [("web-00", "n1", 1), ("web-10", "n2", 3), ("web-20", "n3", 5)], [("big-0", "n0", 3)])
    rest = rest_of(plan, plan.moves[1:], plan.placements)
    assert [move.wave for move in rest.moves] == [1, 2]
    assert [item.wave for item in rest.placements] == [1]
    assert [item.wave for item in rest_of(plan, plan.moves[2:], plan.placements).placements] == [0]


def test_a_successor_counts_once_and_where_planned_first() -> None:
    """Two moved pods of one owner and two younger ones: each is told with the node that fits the plan best."""
    start = cluster(
        node("n0"), node("n1"), node("n2"), pod("web-a", node="n0"), pod("web-b", node="n0"), workload("web", 2)
    )
    plan = plan_of(start, [("web-a", "n1", 1), ("web-b", "n2", 1)], [])
    now = cluster(
        node("n0"), node("n1"), node("n2"),
        pod("web-c", node="n2", created_at=NOW + 5), pod("web-d", node="n1", created_at=NOW + 5), workload("web", 2),
    )  # fmt: skip
    told = Outcomes(plan)
    left = what_is_left(plan, now, told)
    assert left.moves == ()
    assert {move.pod.name: move.landed_on for move in told.result().moves} == {"web-a": "n1", "web-b": "n2"}


def test_older_pods_of_an_owner_are_no_successors() -> None:
    """A pod that stood before the plan was made took nobody's place."""
    start = cluster(node("n0"), node("n1"), pod("web-a", node="n0"), pod("web-z", node="n1"), workload("web", 2))
    plan = plan_of(start, [("web-a", "n1", 1)], [])
    told = Outcomes(plan)
    what_is_left(plan, cluster(node("n0"), node("n1"), pod("web-z", node="n1"), workload("web", 2)), told)
    assert told.result().moves[0].landed_on is None


def test_a_pod_that_only_claims_the_owner_is_no_successor() -> None:
    """A pod that names an owner which does not have it took nobody's place."""
    start = cluster(node("n0"), node("n1"), pod("web-a", node="n0"), workload("web", 1))
    plan = plan_of(start, [("web-a", "n1", 1)], [])
    told = Outcomes(plan)
    forged = pod("web-z", node="n1", created_at=NOW + 1, labels={"app": "another"})
    what_is_left(plan, cluster(node("n0"), node("n1"), forged, workload("web", 1)), told)
    assert told.result().moves[0].landed_on is None


def test_the_time_of_a_plan_is_read_in_whole_seconds() -> None:
    """As creation times are; a plan without a time is older than everything."""
    plan: Plan = two_moves(fragmented())
    assert made_at(plan) == NOW
    assert made_at(structs.replace(plan, snapshot=structs.replace(plan.snapshot, taken_at=None))) == 0.0
