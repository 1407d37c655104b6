"""Pods are brought to the very node of the plan, past nodes that the scheduler likes better."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.execution.guidance import guiding
from rescheduler.execution.guidance.guiding import Guide, is_guided, open_nodes
from rescheduler.execution.guidance.hold_maker import HoldMaker
from rescheduler.execution.guidance.holds import Holds
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.objects.annotations import HOLD_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference
from tests.builders import cluster, node, pod, taint, workload
from tests.unit.execution.guidance.keepers import Noting
from tests.unit.execution.worlds import World, executor, outcomes, plan_of


def crowded_and_idle(**fields: Any) -> Cluster:
    """One busy node, three idle ones, one pod of web on each; the scheduler prefers the idle ones."""
    return cluster(
        node("busy", "8"), *(node(f"idle{number}", "8") for number in range(3)),
        *(pod(f"base-{number}", "1", node="busy", owner="base") for number in range(4)),
        *(pod(f"web-{number}", "500m", node=f"idle{number}", **fields) for number in range(3)),
        pod("web-3", "500m", node="busy", **fields),
        workload("base", 4), workload("web", 4, kind=fields.get("kind", "ReplicaSet")),
    )  # fmt: skip


def test_the_scheduler_alone_would_go_elsewhere() -> None:
    """What the other tests rest on."""
    start = crowded_and_idle()
    world = World(start)
    plan = plan_of(start, [("web-0", "busy", 1)], objective="Defragment")
    result = executor(world, guidance="Predict").carry_out(plan)
    assert outcomes(result)["web-0"][0] == "LandedElsewhere"


@pytest.mark.parametrize("fields", [{}, {"kind": "StatefulSet"}, {"termination_grace_seconds": 90}])
@pytest.mark.parametrize("wave_of_third", [1, 2])
def test_guided_pods_land_on_the_node_of_the_plan(fields: dict[str, Any], wave_of_third: int) -> None:
    """Alone or in company of their like, whether their owner waits for the end of the old pod or not."""
    start = crowded_and_idle(**fields)
    world = World(start, termination_seconds=5.0)
    names = ("web-0", "web-1", "web-2")
    moves = [("web-0", "busy", 1), ("web-1", "busy", 1), ("web-2", "busy", wave_of_third)]
    result = executor(world).carry_out(plan_of(start, moves, objective="Defragment", guided=names))
    assert {outcomes(result)[name] for name in names} == {("Landed", "busy")}, result
    assert world.leftovers() == []


def test_pods_of_one_wave_come_each_to_their_own_node() -> None:
    """Nodes that tie for the scheduler's favour included."""
    start = cluster(
        *(node(f"n{number}", "8") for number in range(8)),
        *(pod(f"web-{number}", "2", node=f"n{number // 2}") for number in range(8)), workload("web", 8),
    )  # fmt: skip
    for seed in range(3):
        world = World(start)
        moves = [(f"web-{2 * number}", f"n{(number + seed) % 4 + 4}", 1) for number in range(4)]
        result = executor(world).carry_out(plan_of(start, moves, objective="SpreadLoad"))
        assert outcomes(result) == {name: ("Landed", target) for name, target, _ in moves}


def test_nodes_are_shut_only_while_pods_move() -> None:
    """When the wave is through, and before its pods are ready, everything is open again."""
    start = crowded_and_idle()
    world = World(start, startup_seconds=30.0)
    shut: list[int] = []

    def look(_pod: PodReference, dry_run: bool) -> EvictionAnswer | None:
        holds = [item.nominated_node for item in world.read().pods if HOLD_GATE in item.scheduling_gates]
        shut.append(sum(name is not None for name in holds))
        return None

    world.script = [look] * 10
    world.clock.after(15.0, lambda: shut.append(-len(world.leftovers())))
    plan = plan_of(start, [("web-0", "busy", 1)], objective="Defragment", guided=["web-0"])
    executor(world).carry_out(plan)
    assert shut[0] > 1
    assert -shut[-1] == 1, "the node that it left is closed to the end"


def test_where_too_many_nodes_would_have_to_be_shut_the_scheduler_chooses(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the result says for how many pods that matters."""
    monkeypatch.setattr(guiding, "MOST_SHUT", 1)
    start = crowded_and_idle()
    world = World(start)
    plan = plan_of(start, [("web-0", "busy", 1)], objective="Defragment", guided=["web-0"])
    result = executor(world).carry_out(plan)
    assert outcomes(result)["web-0"][0] == "LandedElsewhere"
    assert any("1 of the pods that need guidance" in warning for warning in result.warnings)


def test_moves_that_make_room_are_guided_only_where_the_plan_says_so() -> None:
    """There it matters that pods leave, not where they go; elsewhere every node is meant."""
    start = crowded_and_idle(kind="StatefulSet", termination_grace_seconds=600)
    slow = start.pod_by_key["default/web-0"]
    quick = start.pod_by_key["default/base-0"]
    (make_room,) = plan_of(start, [("web-0", "busy", 1)]).moves
    (guided,) = plan_of(start, [("web-0", "busy", 1)], guided=["web-0"]).moves
    (spread,) = plan_of(start, [("web-0", "busy", 1)], objective="SpreadLoad").moves
    assert [is_guided(make_room, quick), is_guided(guided, quick), is_guided(spread, quick)] == [False, True, True]
    assert not is_guided(spread, slow), "all nodes would be shut until it has ended"
    assert is_guided(guided, slow)


def test_nodes_are_open_where_one_of_the_pods_finds_room_once_they_have_left() -> None:
    """Full nodes, those with a taint, cordoned ones and those that are held already need no shutting."""
    start = cluster(
        node("own", "1"), node("full", "2"), node("free", "2"), node("held", "2"), node("leaving", "1"),
        node("tainted", "4", taints=[taint("other")]), node("cordoned", "4", is_unschedulable=True),
        pod("web-0", "1", node="own"), pod("big-0", "1500m", node="full"),
        pod("old-0", "1", node="leaving", deletion_at=1.0),
    )  # fmt: skip
    mover = start.pod_by_key["default/web-0"]
    plan = plan_of(start, [("web-0", "free", 1)])
    holds = Holds(World(start), SimulatedClock())
    holds.set(HoldMaker(plan, start, "p", 60).closing("held", (("cpu", 1500),)))
    assert open_nodes([mover], start, holds) == ["free", "leaving", "own"]


@pytest.mark.parametrize(
    ("nodes", "pods", "is_needed", "too_many"),
    [
        (250, 1, True, 0), (251, 1, True, 251), (50, 1, False, 0), (51, 1, False, 51), (70, 7, False, 0),
        (71, 7, False, 71), (250, 26, False, 0), (251, 26, False, 251),
    ],
)  # fmt: skip
def test_so_many_nodes_are_shut_and_no_more(nodes: int, pods: int, too_many: int, *, is_needed: bool) -> None:
    """Each costs a placeholder for each scheduler; fewer are worth it where the scheduler agrees anyway."""
    waiting = [pod(f"web-{number}", "1") for number in range(pods)]
    start = cluster(*(node(f"n{item}", "2") for item in range(nodes)), *waiting)
    target: Any = Noting()
    guide = Guide(Holds(target, target.clock), HoldMaker(plan_of(start, [("web-0", "n0", 1)]), start, "p", 60))
    assert guide.too_many(start.pods, start, is_needed=is_needed) == too_many


def test_one_node_after_the_other_is_open() -> None:
    """The one that it is the turn of; at the end all are."""
    start = cluster(node("n0", "2"), node("n1", "2"), pod("web-0", "1"))
    target: Any = Noting()
    holds = Holds(target, target.clock)
    guide = Guide(holds, HoldMaker(plan_of(start, [("web-0", "n0", 1)]), start, "p", 60))

    def shut() -> list[str]:
        return [found.request.node for found in holds.on(["n0", "n1"])]

    guide.shut(start.pods, start)
    assert shut() == ["n0", "n1"]
    guide.open("n0")
    assert shut() == ["n1"]
    guide.shut_again("n0")
    assert sorted(shut()) == ["n0", "n1"]
    guide.open("n9")
    guide.shut_again("n9")
    guide.end()
    assert shut() == []
    guide.shut_again("n0")
    assert shut() == []


@pytest.mark.parametrize(
    ("kind", "grace", "guided"),
    [
        ("StatefulSet", 30, True),
        ("StatefulSet", 31, False),
        ("ReplicaSet", 600, True),
        ("ReplicaSet", 30, True),
        (None, 600, True),
    ],
)
def test_nodes_are_shut_for_thirty_seconds_of_waiting_and_no_longer(kind: str | None, grace: int, guided: bool) -> None:
    """Only a StatefulSet's pod comes when the old one has ended; others come at once."""
    owned = {"owner": None} if kind is None else {"kind": kind}
    mover = pod("web-0", "1", node="n0", termination_grace_seconds=grace, **owned)
    [move] = plan_of(cluster(node("n0"), mover), [("web-0", "n1", 1)], objective="SpreadLoad").moves
    assert is_guided(move, mover) is guided


def test_a_pod_that_leaves_gives_its_room_back_once() -> None:
    """A node that has too little even then needs no shutting."""
    start = cluster(
        node("n0", "2"), pod("stays-0", "1", node="n0"), pod("leaves-0", "500m", node="n0", deletion_at=1.0),
        pod("web-0", "1200m"),
    )  # fmt: skip
    assert open_nodes([start.pod_by_key["default/web-0"]], start, Holds(World(start), SimulatedClock())) == []


@pytest.mark.parametrize(("guided", "landed"), [((), "LandedElsewhere"), (("web-0",), "Landed")])
def test_few_pods_that_need_no_guidance_are_not_worth_shutting_many_nodes(
    guided: tuple[str, ...], landed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The scheduler is foretold to bring them there; for one that would go elsewhere all the others are shut."""
    monkeypatch.setattr(guiding, "FEW_SHUT", 0)
    monkeypatch.setattr(guiding, "SHUT_A_POD", 1)
    start = crowded_and_idle()
    world = World(start)
    result = executor(world).carry_out(plan_of(start, [("web-0", "busy", 1)], objective="Defragment", guided=guided))
    assert outcomes(result)["web-0"][0] == landed
    assert result.warnings == ()
    assert world.leftovers() == []
