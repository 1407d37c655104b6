"""When placeholders stand: some for the whole plan, others for the wave that needs them."""

from __future__ import annotations

import pytest

from rescheduler.execution import room
from rescheduler.execution.holding import HoldMaker
from rescheduler.execution.holds import Holds
from rescheduler.execution.resuming import rest_of
from rescheduler.execution.room import FEW_MOVES, RoomKeeper
from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Plan
from rescheduler.simulation.clock import SimulatedClock
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import World, executor, outcomes, plan_of


class Kept:
    """The placeholders of a plan on a simulated cluster."""

    def __init__(self, start: Cluster, plan: Plan, emptied: tuple[str, ...] = ()) -> None:
        self.start, self.plan = start, plan
        self.holds = Holds(World(start), SimulatedClock())
        self.keeper = RoomKeeper(self.holds, HoldMaker(plan, start, "p", 60), plan)
        self.keeper.begin(plan, emptied, start)

    def before_wave(self, number: int) -> None:
        """The plan has come to this wave."""
        moves = [move for move in self.plan.moves if move.wave >= number]
        self.keeper.before_wave(rest_of(self.plan, moves, ()), self.start)

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
    kept.keeper.after_wave()
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
