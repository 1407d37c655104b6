"""When placeholders stand: some for the whole plan, others for the wave that needs them."""

from __future__ import annotations

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.execution.guidance import room
from rescheduler.execution.guidance.hold_maker import HeldRoom, HoldMaker, fits, room_after, take
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.guidance.room import FEW_MOVES, RoomKeeper, closings, empty_before, enough_to_close
from rescheduler.execution.landing.emptied import emptied_nodes
from rescheduler.execution.run.resuming import rest_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Toleration
from rescheduler.model.plan.plan import Plan
from tests.builders import cluster, node, pod, taint, workload
from tests.unit.execution.worlds import World, executor, outcomes, plan_of

# Placeholders for nobody: where they stand and how large they are.


def closed(plan: Plan, start: Cluster) -> list[HeldRoom]:
    """The closings of a plan of which nothing has been done yet."""
    return closings(plan, plan, emptied_nodes(plan, plan.moves, start), start, HoldMaker(plan, start, "p", 60))


def has_room(start: Cluster, hold: HeldRoom, name: str) -> bool:
    """Whether a pod fits on the node of a placeholder once all pods of web have left it."""
    node_name = hold.request.node
    room = room_after(start, node_name, [item for item in start.pods if item.node_name == node_name])
    take(room, hold.request.requests)
    return fits(room, start.pod_by_key[f"default/{name}"].spec.requests)


def test_a_node_that_is_emptied_is_closed_to_every_pod_of_the_plan() -> None:
    """By one placeholder, whatever they ask for: CPU, memory alone, or a device."""
    start = cluster(
        node("n0", "4", extended={"example.com/gpu": "2"}), node("n1", "16", extended={"example.com/gpu": "4"}),
        pod("big-0", "3", "1Gi", node="n0"), pod("tiny-0", "1m", "1Mi", node="n0"),
        pod("memory-0", "0", "1Gi", node="n0"), pod("gpu-0", "0", "0", node="n0", extended={"example.com/gpu": "1"}),
    )  # fmt: skip
    names = ("big-0", "tiny-0", "memory-0", "gpu-0")
    (hold,) = closed(plan_of(start, [(name, "n1", 1) for name in names], objective="EmptyNodes"), start)
    assert hold.request.node == "n0"
    assert hold.pod is None
    assert not any(has_room(start, hold, name) for name in names)


def test_equal_placeholders_close_unequal_nodes() -> None:
    """So that they can share a Job: each is as large as the largest node."""
    start = cluster(
        node("n0", "4"), node("n1", "8"), node("n2", "64", "256Gi"),
        pod("web-0", "1", node="n0"), pod("web-1", "1", node="n1"), workload("web", 2),
    )  # fmt: skip
    holds = closed(plan_of(start, [("web-0", "n2", 1), ("web-1", "n2", 1)], objective="EmptyNodes"), start)
    assert [hold.request.node for hold in holds] == ["n0", "n1"]
    assert {hold.request.requests for hold in holds} == {(("cpu", 64000), ("memory", 256 * 2**30))}


def test_a_node_that_keeps_pods_is_closed_to_those_that_left_it_and_not_to_smaller_ones() -> None:
    """What they had stays taken, and so much more that none of them fits beside what stays."""
    start = cluster(
        node("n0", "8"), node("n1", "8"),
        pod("web-0", "2", node="n0"), pod("stay-0", "1", node="n0"), pod("small-0", "500m", node="n1"),
    )  # fmt: skip
    (hold,) = closed(plan_of(start, [("web-0", "n1", 1)], objective="SpreadLoad"), start)
    assert dict(hold.request.requests)["cpu"] == 8000 - 1000 - 2000 + 1
    room = room_after(start, "n0", [start.pod_by_key["default/web-0"]])
    take(room, hold.request.requests)
    assert not fits(room, start.pod_by_key["default/web-0"].spec.requests)
    assert fits(room, start.pod_by_key["default/small-0"].spec.requests)


def test_a_node_on_which_somebody_arrives_is_not_closed_for_the_whole_plan() -> None:
    """Neither one that a move leads to nor one on which a pending pod gets its place."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(3)), pod("web-0", "2", node="n0"), pod("mid-0", "2", node="n1"),
        pod("big-0", "4"),
    )  # fmt: skip
    assert closed(plan_of(start, [("mid-0", "n2", 1), ("web-0", "n1", 2)], [("big-0", "n0", 2)]), start) == []


def test_every_scheduler_of_the_plan_is_kept_off() -> None:
    """One does not see what is nominated for another."""
    start = cluster(
        node("n0", "4"), node("n1", "4"), pod("web-0", "1", node="n0"),
        pod("batch-0", "1", node="n0", scheduler_name="batch-scheduler"),
    )  # fmt: skip
    holds = closed(plan_of(start, [("web-0", "n1", 1), ("batch-0", "n1", 1)], objective="EmptyNodes"), start)
    assert [hold.request.scheduler_name for hold in holds] == ["batch-scheduler", "default-scheduler"]


def test_the_closing_has_the_priority_of_the_most_important_pod_that_leaves() -> None:
    """A placeholder of a lower one would not keep it off."""
    start = cluster(
        node("n0", "4"), node("n1", "4"), pod("web-0", "1", node="n0"),
        pod("vip-0", "1", node="n0", priority=9, priority_class_name="vip"),
    )  # fmt: skip
    (hold,) = closed(plan_of(start, [("web-0", "n1", 1), ("vip-0", "n1", 1)], objective="EmptyNodes"), start)
    assert hold.request.priority_class_name == "vip"


def test_a_pod_that_asks_for_nothing_cannot_be_kept_off() -> None:
    """No placeholder is made in vain."""
    start = cluster(node("n0", "4"), node("n1", "4"), pod("web-0", "0", "0", node="n0"), pod("stay-0", node="n0"))
    assert closed(plan_of(start, [("web-0", "n1", 1)], objective="SpreadLoad"), start) == []


def test_placeholders_that_stand_there_count() -> None:
    """Where the room of the pod that leaves is kept for another, nothing more is needed."""
    start = cluster(node("n0", "4"), node("n1", "4"), pod("web-0", "2", node="n0"), pod("stay-0", "2", node="n0"))
    leaver = start.pod_by_key["default/web-0"]
    beside = HoldMaker(plan_of(start, [("web-0", "n1", 1)]), start, "p", 60).closing("n0", (("cpu", 1000),))
    assert enough_to_close("n0", [leaver], start) == (("cpu", 1),)
    assert enough_to_close("n0", [leaver], start, beside=beside) == ()


def test_empty_nodes_are_told_from_those_that_nobody_of_the_plan_could_use() -> None:
    """A cordoned or virtual node, and one with a taint that no pod tolerates, attracts nobody."""
    tolerant = (Toleration(key="pool", operator="Exists"),)
    start = cluster(
        node("n0", "4"), node("n1", "4"), node("free", "4"), node("cordoned", "4", is_unschedulable=True),
        node("virtual", "4", labels={"type": "virtual-kubelet"}), node("tainted", "4", taints=[taint("other")]),
        node("pool", "4", taints=[taint("pool")]),
        pod("web-0", node="n0"), pod("web-1", node="n1"), pod("side-0", node="n0", tolerations=tolerant),
    )  # fmt: skip
    plan = plan_of(start, [("web-0", "n1", 1), ("side-0", "n1", 1)], objective="EmptyNodes")
    leavers = [start.pod_by_key["default/web-0"], start.pod_by_key["default/side-0"]]
    assert empty_before(plan, plan, ["n0"], start, leavers) == ["free", "pool"]
    other = plan_of(start, [("web-0", "n1", 1)], objective="SpreadLoad")
    assert empty_before(other, other, ["n0"], start, leavers) == []


class Kept:
    """The placeholders of a plan on a simulated cluster."""

    def __init__(self, start: Cluster, plan: Plan, emptied: tuple[str, ...] = ()) -> None:
        self.start, self.plan = start, plan
        self.holds = Holds(World(start), SimulatedClock())
        self.keeper = RoomKeeper(self.holds, HoldMaker(plan, start, "p", 60), plan)
        self.keeper.begin(plan, emptied, start)

    def before_wave(self, number: int) -> None:
        """The plan has come to this wave, which is a segment of its own."""
        rest = rest_of(self.plan, [move for move in self.plan.moves if move.wave >= number], ())
        self.keeper.before_segment(rest, [move for move in rest.moves if move.wave == 1], self.start)

    def nodes(self, *, of_pods: bool) -> list[str]:
        """Nodes with placeholders for pods, or for nobody."""
        names = [item.name for item in self.start.nodes]
        return sorted(hold.request.node for hold in self.holds.on(names) if (hold.pod is not None) is of_pods)


def rows(count: int, room_for: int) -> Cluster:
    """``count`` full nodes from0, from1, … with a pod of 1 CPU each, and as many to0, to1, … of ``room_for`` CPU."""
    return cluster(
        *(node(f"from{number}", "1") for number in range(count)),
        *(node(f"to{number}", str(room_for)) for number in range(count)),
        *(pod(f"web-{number}", "1", node=f"from{number}") for number in range(count)), workload("web", count),
    )  # fmt: skip


def in_waves(count: int) -> list[tuple[str, str, int]]:
    """Moves of two pods a wave, each to its own node."""
    return [(f"web-{number}", f"to{number}", number // 2 + 1) for number in range(count)]


def test_a_small_plan_keeps_all_its_destinations_from_the_beginning() -> None:
    """Nothing can come in between, and it costs little."""
    start = rows(4, 1)
    kept = Kept(start, plan_of(start, in_waves(4)))
    assert kept.nodes(of_pods=True) == ["to0", "to1", "to2", "to3"]


def test_a_large_plan_keeps_the_contested_destinations_of_one_wave() -> None:
    """Where a pod of the wave that lands elsewhere would take another's room; hundreds at once would take too long."""
    count = FEW_MOVES + 2
    start = rows(count, 1)
    kept = Kept(start, plan_of(start, in_waves(count)))
    assert kept.nodes(of_pods=True) == []
    kept.before_wave(1)
    assert kept.nodes(of_pods=True) == ["to0", "to1"]


def test_ample_destinations_of_a_large_plan_need_no_placeholder() -> None:
    """One more pod fits there anyhow."""
    count = FEW_MOVES + 2
    start = rows(count, 4)
    kept = Kept(start, plan_of(start, in_waves(count)))
    kept.before_wave(1)
    assert kept.nodes(of_pods=True) == []


def test_room_that_a_wave_makes_for_a_later_one_is_kept_from_then_on() -> None:
    """Else the very pods that leave it would come back."""
    count = FEW_MOVES + 2
    start = rows(count, 4)
    moves = [(f"web-{number}", f"to{number}", number + 1) for number in range(count - 1)]
    moves.append((f"web-{count - 1}", "from1", count))
    kept = Kept(start, plan_of(start, moves))
    kept.before_wave(1)
    assert kept.nodes(of_pods=True) == []
    kept.before_wave(2)
    assert kept.nodes(of_pods=True) == ["from1"]
    (hold,) = kept.holds.on(["from1"])
    assert hold.is_made_by_plan


def test_nodes_that_pods_leave_and_others_come_to_are_closed_for_one_wave(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the room of those that come; nodes that nobody comes to are closed all the time."""
    monkeypatch.setattr(room, "FEW_MOVES", 1)
    start = cluster(
        node("n0", "4"), node("n1", "4"), node("n2", "4"),
        pod("web-0", "1", node="n0"), pod("web-1", "1", node="n1"), workload("web", 2),
    )  # fmt: skip
    kept = Kept(start, plan_of(start, [("web-0", "n1", 2), ("web-1", "n2", 1)], objective="SpreadLoad"))
    assert kept.nodes(of_pods=False) == ["n0"]
    kept.before_wave(1)
    assert kept.nodes(of_pods=False) == ["n0", "n1"]
    assert kept.nodes(of_pods=True) == ["n1"], "for the pod that comes after the one that leaves"
    kept.keeper.after_segment()
    assert kept.nodes(of_pods=False) == ["n0"]


def test_too_many_empty_nodes_are_left_open_and_told_of() -> None:
    """A job controller would take minutes for their placeholders."""
    start = cluster(
        *(node(f"n{number:03}", "4") for number in range(room.MOST_EMPTY_CLOSED + 3)),
        pod("web-0", "1", node="n000"), pod("web-1", "1", node="n001"), workload("web", 2),
    )  # fmt: skip
    kept = Kept(start, plan_of(start, [("web-1", "n000", 1)], objective="EmptyNodes"), ("n001",))
    assert kept.nodes(of_pods=False) == ["n001"]
    assert kept.keeper.warnings
    assert f"{room.MOST_EMPTY_CLOSED + 1} nodes are empty already" in kept.keeper.warnings[0]


def test_a_large_plan_ends_as_planned_although_little_is_kept_at_a_time() -> None:
    """Each node takes exactly one pod, and each of them gets its own."""
    count = FEW_MOVES + 4
    start = rows(count, 1)
    world = World(start)
    result = executor(world).carry_out(plan_of(start, in_waves(count), objective="SpreadLoad"))
    assert outcomes(result) == {f"web-{number}": ("Landed", f"to{number}") for number in range(count)}
    assert world.leftovers() == []


def test_two_pods_change_places_where_both_nodes_have_room() -> None:
    """Each node is closed to the pod that leaves it and open to the one that comes."""
    start = cluster(
        node("n0", "4"), node("n1", "4"), pod("a-0", "1", node="n0"), pod("b-0", "1", node="n1"),
        workload("a", 1), workload("b", 1),
    )  # fmt: skip
    for objective in ("SpreadLoad", "MakeRoom"):
        world = World(start)
        result = executor(world).carry_out(plan_of(start, [("a-0", "n1", 1), ("b-0", "n0", 1)], objective=objective))
        assert outcomes(result) == {"a-0": ("Landed", "n1"), "b-0": ("Landed", "n0")}, objective
        assert world.leftovers() == []
