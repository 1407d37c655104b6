"""Plans that empty nodes, carried out on the simulated cluster: what they promise is so in the end."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.execution.landing.emptied import standing_on
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.objects.annotations import HOLD_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.consolidation import emptying, sparse
from tests.unit.execution.worlds import World, executor, outcomes, plan_of


def used(start: Cluster) -> set[str]:
    """Nodes on which somebody stands."""
    return {item.name for item in start.nodes if standing_on(start, item.name)}


def test_nodes_are_empty_at_the_end_and_every_pod_is_where_the_plan_said() -> None:
    """The scheduler prefers the emptiest nodes; the plan fills nodes up one by one, and so it comes."""
    start = sparse()
    world = World(start)
    plan = emptying(start, ("n3", "n4", "n5"))
    result = executor(world).carry_out(plan)
    world.settle()
    assert used(world.read()) == {"n0", "n1", "n2"}
    assert [move.outcome.value for move in result.moves] == ["Landed"] * 6
    assert (result.message, result.warnings) == ("", ())
    assert sorted(world.evicted) == sorted(move.pod.name for move in plan.moves)
    assert world.leftovers() == []


def test_without_guidance_the_scheduler_puts_pods_back_and_the_result_says_so() -> None:
    """The promise is compared with the world: each node that is not empty is named with a pod."""
    start = sparse()
    world = World(start)
    result = executor(world, guidance="Predict").carry_out(emptying(start, ("n4", "n5"), in_a_wave=4))
    assert result.message == "2 of 2 nodes that were to be empty are not"
    assert any(warning.startswith("node n5 was to be empty, but default/app") for warning in result.warnings)


def test_nodes_empty_before_stay_empty_unless_the_plan_uses_them() -> None:
    """They attract the scheduler most of all."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)),
        pod("web-0", "1", node="n0"), pod("web-1", "1", node="n1"), workload("web", 2),
    )  # fmt: skip
    world = World(start)
    executor(world).carry_out(plan_of(start, [("web-1", "n0", 1)], objective="EmptyNodes"))
    assert used(world.read()) == {"n0"}
    world = World(start)
    executor(world).carry_out(plan_of(start, [("web-1", "n2", 1)], objective="EmptyNodes"))
    assert used(world.read()) == {"n0", "n2"}


def test_emptied_nodes_are_closed_before_the_first_eviction_until_the_last() -> None:
    """Whatever wave empties them."""
    start = sparse()
    world = World(start)
    standing: list[set[str]] = []

    def look(_pod: PodReference, dry_run: bool) -> EvictionAnswer | None:
        if not dry_run:
            holds = [item for item in world.read().pods if HOLD_GATE in item.scheduling_gates]
            standing.append({item.nominated_node for item in holds if item.nominated_node})
        return None

    world.script = [look] * 100
    executor(world).carry_out(emptying(start, ("n4", "n5"), in_a_wave=1))
    assert len(standing) == 4
    assert all({"n4", "n5"} <= nodes for nodes in standing)
    assert world.leftovers() == []


def test_a_node_that_gets_a_pod_meanwhile_is_given_up_and_the_others_are_emptied() -> None:
    """Nobody is evicted from it any more; the result names the node, the newcomer, and what was left undone."""
    start = sparse()
    world = World(start)
    newcomer = pod("late-0", "100m", node="n5", owner="late")

    def intrude(_pod: PodReference, _dry_run: bool) -> EvictionAnswer | None:
        world.put(newcomer)
        return None

    world.script = [intrude]
    result = executor(world).carry_out(emptying(start, ("n4", "n5"), in_a_wave=1))
    told = outcomes(result)
    assert [told[name][0] for name in ("app0-4", "app0-5", "app1-4", "app1-5")] == [
        "Landed", "NotAttempted", "Landed", "NotAttempted",
    ]  # fmt: skip
    assert used(world.read()) == {"n0", "n1", "n2", "n3", "n5"}
    assert result.message == "1 of 2 nodes that were to be empty are not"
    assert "default/late-0" in next(move.message for move in result.moves if move.pod.name == "app1-5")


def test_pods_of_daemonsets_do_not_keep_a_node_from_being_empty() -> None:
    """They go with their node."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(3)),
        *(pod(f"agent-{number}", "100m", node=f"n{number}", kind="DaemonSet") for number in range(3)),
        pod("web-0", "1", node="n0"), pod("web-1", "1", node="n1"), workload("web", 2),
    )  # fmt: skip
    world = World(start)
    result = executor(world).carry_out(plan_of(start, [("web-1", "n0", 1)], objective="EmptyNodes"))
    assert (result.message, result.warnings) == ("", ())
    assert used(world.read()) == {"n0"}


def test_where_placeholders_cannot_be_used_no_node_is_begun_to_be_emptied() -> None:
    """The evictions would be for nothing; the message says what to do."""
    start = sparse()
    world = World(start, cannot_hold="we may not create jobs")
    result = executor(world).carry_out(emptying(start, ("n5",)))
    assert world.evicted == []
    assert "we may not create jobs" in result.message
    assert "guidance: Predict" in result.message


def test_a_plan_stopped_half_way_goes_on_and_keeps_what_it_emptied_before() -> None:
    """The second run closes the nodes that the first one emptied too."""
    start = sparse()
    world = World(start)
    plan = emptying(start, ("n4", "n5"), in_a_wave=1)
    first = executor(world, timeout=1.0).carry_out(plan)
    assert 0 < len(world.evicted) < len(plan.moves), first.message
    again = executor(world).carry_out(plan)
    world.settle()
    assert used(world.read()) == {"n0", "n1", "n2", "n3"}
    assert sorted(world.evicted) == sorted(move.pod.name for move in plan.moves)
    assert again.message == ""


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
def test_owners_of_every_manner_are_followed(kind: str) -> None:
    """A StatefulSet makes its pod anew under the old name, when the old one is gone."""
    start = sparse(nodes=4, kind=kind)
    start = cluster(*start.nodes, *start.pods, workload("app0", 4, kind=kind), workload("app1", 4, kind=kind))
    world = World(start)
    result = executor(world).carry_out(emptying(start, ("n2", "n3")))
    assert {kind for kind, _ in outcomes(result).values()} == {"Landed"}, result
    assert used(world.read()) == {"n0", "n1"}


def test_several_replicas_of_one_owner_move_in_one_wave() -> None:
    """Each is counted once, and all are where the plan wants them."""
    start = sparse(nodes=6, replicas=1)
    world = World(start)
    result = executor(world).carry_out(emptying(start, ("n3", "n4", "n5"), in_a_wave=3))
    assert {kind for kind, _ in outcomes(result).values()} == {"Landed"}
    assert len({move.message for move in result.moves}) == 3
    assert used(world.read()) == {"n0", "n1", "n2"}


@st.composite
def half_full(draw: st.DrawFn) -> tuple[Cluster, tuple[str, ...]]:
    """Nodes so empty that the pods of three have room on one, and some of them to empty."""
    count = draw(st.integers(3, 6))
    objects: list[Any] = [node(f"n{number}", "8") for number in range(count)]
    numbers: dict[str, int] = {}
    for number in range(count):
        for size in draw(st.lists(st.sampled_from([250, 500, 1000, 1250]), max_size=2)):
            owner = f"app{size}"
            index = numbers[owner] = numbers.get(owner, -1) + 1
            objects.append(pod(f"{owner}-{index}", f"{size}m", "64Mi", node=f"n{number}", owner=owner))
    objects += [workload(owner, last + 1) for owner, last in numbers.items()]
    return cluster(*objects), tuple(f"n{number}" for number in range(count // 2, count))


@settings(max_examples=40, deadline=None)
@given(start=half_full(), seed=st.integers(0, 3), in_a_wave=st.integers(1, 4))
def test_what_is_to_be_empty_is_empty_whatever_the_cluster(
    start: tuple[Cluster, tuple[str, ...]], seed: int, in_a_wave: int
) -> None:
    """By exactly the plan's evictions, with nobody left without a place and nothing of ours left."""
    before, emptied = start
    world = World(before)
    plan = emptying(before, emptied, in_a_wave=in_a_wave)
    result = executor(world).carry_out(plan)
    world.settle()
    after = world.read()
    assert not used(after).intersection(emptied)
    assert {kind for kind, _ in outcomes(result).values()} <= {"Landed"}, result
    assert sorted(world.evicted) == sorted(move.pod.name for move in plan.moves)
    assert not after.pending_pods
    assert len(after.pods) == len(before.pods)
    assert world.leftovers() == []
