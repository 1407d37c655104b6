"""Guidance by our own taint on the simulated cluster: what it closes, what stands beside it, and what is left."""

from __future__ import annotations

import pytest

from rescheduler.execution.landing.emptied import standing_on
from rescheduler.extension_points import ClusterError, EvictionAnswer, ExecutionInterruptedError
from rescheduler.model.objects.annotations import HOLD_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint, Toleration
from rescheduler.model.plan.leaving_taint import LEAVING, leaving_taint, leaving_taints, plan_of
from rescheduler.model.plan.plan import PodReference
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.consolidation import emptying, sparse
from tests.unit.execution.worlds import World, executor, fragmented, outcomes
from tests.unit.execution.worlds import plan_of as plan_with

FOREIGN = Taint("example.com/own", "x", "PreferNoSchedule")


def used(start: Cluster) -> set[str]:
    """Nodes on which somebody stands."""
    return {item.name for item in start.nodes if standing_on(start, item.name)}


def node_writes(world: World) -> list[tuple[str, bool]]:
    """Each write to a node: its name, and whether our taint stood after it."""
    return [(write.name, write.detail != "") for write in world.writes if write.resource == "nodes"]


def test_emptied_nodes_are_closed_by_the_taint_alone_until_the_plan_is_done() -> None:
    """Before the first eviction, and by no placeholder; at the end none is left and every pod is where it was to be."""
    start = sparse()
    world = World(start)
    seen: list[set[str]] = []

    def look(_pod: PodReference, dry_run: bool) -> EvictionAnswer | None:
        if not dry_run:
            seen.append(set(leaving_taints(world.read())))
            closing = {item.nominated_node for item in world.read().pods if HOLD_GATE in item.scheduling_gates}
            assert not closing & {"n3", "n4", "n5"}
        return None

    world.script = [look] * 100
    result = executor(world, guidance="Taint").carry_out(emptying(start, ("n3", "n4", "n5")))
    world.settle()
    assert used(world.read()) == {"n0", "n1", "n2"}
    assert seen == [{"n3", "n4", "n5"}] * 6
    assert (result.message, result.warnings) == ("", ())
    assert leaving_taints(world.read()) == {}
    assert world.leftovers() == []


def test_taints_are_renewed_while_a_plan_lasts() -> None:
    """A plan much longer than the deadline keeps its nodes closed all the time."""
    start = sparse()
    world = World(start, termination_seconds=55.0)
    executor(world, guidance="Taint").carry_out(emptying(start, ("n4", "n5"), in_a_wave=1))
    put = [name for name, is_there in node_writes(world) if is_there]
    assert put.count("n5") > 2
    assert used(world.read()) == {"n0", "n1", "n2", "n3"}
    assert leaving_taints(world.read()) == {}


def test_other_taints_stay_as_they_are() -> None:
    """Also on the very nodes that we close."""
    start = sparse()
    world = World(start)
    world.put(*(node(f"n{number}", "4", taints=(FOREIGN,)) for number in (4, 5)))
    executor(world, guidance="Taint").carry_out(emptying(start, ("n4", "n5")))
    assert {item.name: item.taints for item in world.read().nodes if item.taints} == {
        "n4": (FOREIGN,),
        "n5": (FOREIGN,),
    }


def test_room_for_a_pending_pod_is_kept_by_a_placeholder_beside_the_taint() -> None:
    """A taint would keep the very pod off that the room is for."""
    start = fragmented()
    world = World(start)
    plan = plan_with(start, [("web-00", "n1", 1), ("web-01", "n2", 1)], [("big-0", "n0", 1)])
    result = executor(world, guidance="Taint").carry_out(plan)
    assert outcomes(result)["big-0"] == ("Landed", "n0")
    assert any(write.resource == "jobs" for write in world.writes)
    assert node_writes(world) == []


def test_where_nodes_cannot_be_tainted_placeholders_do_it_with_a_warning() -> None:
    """The reason is told."""
    start = sparse()
    world = World(start, cannot_taint="we may not patch nodes")
    result = executor(world, guidance="Taint").carry_out(emptying(start, ("n4", "n5")))
    assert used(world.read()) == {"n0", "n1", "n2", "n3"}
    assert any("we may not patch nodes" in warning and "guidance: Hold" in warning for warning in result.warnings)
    assert node_writes(world) == []


def test_taints_alone_empty_nodes_where_placeholders_cannot_be_used() -> None:
    """The role for taints is enough for that."""
    start = sparse()
    world = World(start, cannot_hold="no rights to jobs")
    result = executor(world, guidance="Taint").carry_out(emptying(start, ("n3", "n4", "n5")))
    assert used(world.read()) == {"n0", "n1", "n2"}
    assert [write for write in world.writes if write.resource == "jobs"] == []
    assert result.warnings == ()


def test_without_placeholders_it_is_told_that_no_room_is_kept() -> None:
    """Taints close origins; they cannot keep a hole for one pod."""
    start = fragmented()
    world = World(start, cannot_hold="no rights to jobs")
    plan = plan_with(start, [("web-00", "n1", 1), ("web-01", "n2", 1)], [("big-0", "n0", 1)])
    result = executor(world, guidance="Taint").carry_out(plan)
    assert any("nothing keeps the room" in warning for warning in result.warnings)


@pytest.mark.parametrize(("cannot_hold", "is_told"), [(None, False), ("no rights", True)])
def test_pods_that_tolerate_everything_are_kept_off_by_placeholders_or_told(
    cannot_hold: str | None, is_told: bool
) -> None:
    """Our taint means nothing to them."""
    start = sparse(tolerations=(Toleration(operator="Exists"),))
    world = World(start, cannot_hold=cannot_hold)
    result = executor(world, guidance="Taint").carry_out(emptying(start, ("n4", "n5")))
    assert any("tolerate it" in warning for warning in result.warnings) is is_told
    assert (used(world.read()) == {"n0", "n1", "n2", "n3"}) is not is_told
    assert leaving_taints(world.read()) == {}


@pytest.mark.parametrize("blow", [KeyboardInterrupt(), ClusterError("connection refused")])
def test_no_taint_is_left_after_any_stop(blow: BaseException) -> None:
    """A person's, or the cluster's."""
    start = sparse()
    world = World(start)

    def stop(_pod: PodReference, dry_run: bool) -> EvictionAnswer | None:
        if dry_run:
            return None
        raise blow

    world.script = [None, None, None, stop]
    try:
        executor(world, guidance="Taint").carry_out(emptying(start, ("n4", "n5"), in_a_wave=1))
    except ExecutionInterruptedError:
        assert isinstance(blow, KeyboardInterrupt)
    assert leaving_taints(world.read()) == {}
    assert node_writes(world)


def test_a_taint_that_cannot_be_taken_off_is_told_with_its_nodes() -> None:
    """It does not go by itself, as a placeholder would."""
    start = sparse()
    world = World(start)

    def fail(_nodes: object) -> None:
        raise ClusterError("connection refused")

    world.untaint = fail  # type: ignore[method-assign]
    result = executor(world, guidance="Taint").carry_out(emptying(start, ("n4", "n5")))
    assert any("n4, n5" in warning and "rescheduler clean" in warning for warning in result.warnings)


def test_a_stopped_plan_goes_on_past_its_own_taints() -> None:
    """They are no objection to what is left: to the plan these nodes are open."""
    start = sparse()
    world = World(start)
    plan = emptying(start, ("n3", "n4", "n5"), in_a_wave=1)

    def die(_pod: PodReference, dry_run: bool) -> EvictionAnswer | None:
        if dry_run:
            return None
        raise KeyboardInterrupt

    world.script = [None, None, None, None, None, die]
    left_standing = World.untaint
    world.untaint = lambda _nodes: None  # type: ignore[method-assign]
    with pytest.raises(ExecutionInterruptedError):
        executor(world, guidance="Taint").carry_out(plan)
    assert set(leaving_taints(world.read())) == {"n3", "n4", "n5"}
    world.untaint = left_standing.__get__(world)  # type: ignore[method-assign]
    world.settle()
    executor(world, guidance="Taint").carry_out(plan)
    assert used(world.read()) == {"n0", "n1", "n2"}
    assert leaving_taints(world.read()) == {}


def test_another_plans_taint_is_waited_for_and_removed_when_it_has_run_out() -> None:
    """A killed run's node is open again before anything is moved; other people's taints stay."""
    start = sparse()
    world = World(start)
    world.put(node("n5", "4", taints=(FOREIGN, leaving_taint("dead", world.clock.now() + 30))))
    began = world.clock.monotonic()
    result = executor(world, guidance="Hold").carry_out(emptying(start, ("n4",)))
    assert world.clock.monotonic() - began > 30
    assert result.message == ""
    assert world.read().node_by_name["n5"].taints == (FOREIGN,)


def test_what_the_other_run_has_moved_meanwhile_stops_ours() -> None:
    """While its taint was waited for a pod that ours is to move went: the plan stops, in words."""
    start = sparse()
    world = World(start)
    world.put(node("n5", "4", taints=(FOREIGN, leaving_taint("dead", world.clock.now() + 30))))
    plan = emptying(start, ("n4",))
    gone = plan.moves[0].pod
    leftovers = world.leftovers

    def look() -> list[str]:
        world.delete_pod(gone.namespace, gone.name)
        return list(leftovers())

    world.leftovers = look  # type: ignore[method-assign]
    result = executor(world, guidance="Hold").carry_out(plan)
    assert result.message == f"{gone.key} is gone; plan again"
    assert world.evicted == []


def test_a_taint_that_a_living_run_renews_stops_ours() -> None:
    """Before anything is evicted, with the plan that it belongs to."""
    start = sparse()
    world = World(start)
    world.put(node("n5", "4", taints=(leaving_taint("alive", world.clock.now() + 100_000),)))
    result = executor(world, guidance="Taint").carry_out(emptying(start, ("n4",)))
    assert "plan alive" in result.message
    assert world.evicted == []
    assert plan_of(leaving_taints(world.read())["n5"]) == "alive"


def test_under_predict_a_taint_that_ran_out_is_told_and_left() -> None:
    """Nothing but evictions is written there."""
    start = sparse()
    world = World(start)
    world.put(node("n5", "4", taints=(Taint(LEAVING, "what is this", "NoSchedule"),)))
    plan = plan_with(start, [("app0-4", "n0", 1)], objective="SpreadLoad")
    result = executor(world, guidance="Predict").carry_out(plan)
    assert any("n5" in warning and "rescheduler clean" in warning for warning in result.warnings)
    assert node_writes(world) == []


def test_somebody_who_takes_our_taint_off_stops_the_plan() -> None:
    """It is not put back against him."""
    start = cluster(
        *(node(f"n{number}", "8") for number in range(4)),
        *(pod(f"web-{number}", "1", node=f"n{number // 2}") for number in range(8)),
        workload("web", 8),
    )  # fmt: skip
    world = World(start, termination_seconds=30.0)

    def meddle(_pod: PodReference, dry_run: bool) -> EvictionAnswer | None:
        if not dry_run:
            world.put(node("n3", "8"))
        return None

    world.script = [None, None, None, meddle]
    plan = plan_with(start, [(f"web-{number}", "n0", number - 3) for number in range(4, 8)], objective="EmptyNodes")
    result = executor(world, guidance="Taint").carry_out(plan)
    assert "somebody took our taint off" in result.message
    assert len(world.evicted) < 4
    assert leaving_taints(world.read()) == {}
