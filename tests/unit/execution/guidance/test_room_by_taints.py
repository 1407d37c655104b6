"""Which room a plan keeps by which means, at each of its edges: taints, placeholders, few moves and many."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.execution.guidance import room
from rescheduler.execution.guidance.guidance_support import PLACEHOLDERS, GuidanceSupport
from rescheduler.execution.guidance.hold_maker import HoldMaker
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.guidance.room import RoomKeeper, left_for_good
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Toleration
from rescheduler.model.plan.plan import Move, Plan
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.guidance.keepers import Noting
from tests.unit.execution.worlds import plan_of

TAINTS = GuidanceSupport(has_taints=True)
BOTH = GuidanceSupport(has_placeholders=True, has_taints=True)
EVERYTHING = (Toleration(operator="Exists"),)


class Kept:
    """The room of a plan that has begun. ``holds`` are noted only."""

    def __init__(
        self, start: Cluster, plan: Plan, support: GuidanceSupport = PLACEHOLDERS, emptied: tuple[str, ...] = ()
    ) -> None:
        self.start, self.plan = start, plan
        self.target: Any = Noting()
        self.holds = Holds(self.target, self.target.clock)
        self.maker = HoldMaker(plan, start, "p", 60)
        self.keeper = RoomKeeper(self.holds, self.maker, plan, support)
        self.keeper.begin(plan, emptied, start)

    def before(self, *moves: Move) -> None:
        """These moves come next."""
        self.keeper.before_segment(self.plan, moves, self.start)

    @property
    def held(self) -> list[str]:
        """Nodes with placeholders for pods."""
        return sorted(found.request.node for found in self._all if found.pod is not None)

    @property
    def shut(self) -> list[str]:
        """Nodes with placeholders for nobody."""
        return sorted(found.request.node for found in self._all if found.pod is None and not found.is_taint)

    @property
    def _all(self) -> list[Any]:
        return self.holds.on(item.name for item in self.start.nodes)


def two_nodes(**fields: Any) -> tuple[Cluster, Plan]:
    """n0 is emptied onto n1; n2 is empty already."""
    start = cluster(node("n0", "4"), node("n1", "4"), node("n2", "4"), pod("web-0", "1", node="n0", **fields))
    return start, plan_of(start, [("web-0", "n1", 1)], objective="EmptyNodes")


def test_nodes_that_are_left_for_good_are_told_once() -> None:
    """Those that are to be empty, and those that pods leave while nobody comes."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)), pod("a-0", node="n0"), pod("b-0", node="n0"),
        pod("c-0", node="n1"), pod("d-0", node="n2"),
    )  # fmt: skip
    plan = plan_of(start, [("a-0", "n3", 1), ("b-0", "n1", 1), ("c-0", "n3", 1), ("d-0", "n3", 1)])
    assert left_for_good(plan, plan, ["n9", "n2"]) == ["n9", "n2", "n0"]


def test_taints_alone_close_what_is_left_and_what_is_empty() -> None:
    """No placeholder stands beside them."""
    for support in (TAINTS, BOTH):
        kept = Kept(*two_nodes(), support, ("n0",))
        assert kept.holds.tainted == ["n0", "n2"]
        assert (kept.shut, kept.held, kept.keeper.warnings) == ([], [], [])


def test_pods_that_tolerate_every_taint_are_kept_off_by_placeholders_too() -> None:
    """The emptied node and the one that is empty already."""
    kept = Kept(*two_nodes(tolerations=EVERYTHING), BOTH, ("n0",))
    assert kept.holds.tainted == ["n0", "n2"]
    assert (kept.shut, kept.keeper.warnings) == (["n0", "n2"], [])


def test_where_placeholders_cannot_be_used_it_is_told_whom_a_taint_does_not_keep_off() -> None:
    """Those that tolerate it, and no others."""
    start, plan = two_nodes(tolerations=EVERYTHING)
    start = cluster(*start.nodes, *start.pods, pod("db-0", "1", node="n0"))
    plan = plan_of(start, [("web-0", "n1", 1), ("db-0", "n1", 1)], objective="EmptyNodes")
    kept = Kept(start, plan, TAINTS, ("n0",))
    assert kept.keeper.warnings == ["our taint does not keep off default/web-0, which tolerate it"]
    assert (kept.holds.tainted, kept.shut) == (["n0", "n2"], [])
    kept.before(*plan.moves)
    assert (kept.shut, kept.held) == ([], [])


def test_without_taints_placeholders_close_all_of_them() -> None:
    """No taint stands."""
    kept = Kept(*two_nodes(), PLACEHOLDERS, ("n0",))
    assert (kept.holds.tainted, kept.shut, kept.keeper.warnings) == ([], ["n0", "n2"], [])


@pytest.mark.parametrize(("most", "shut"), [(1, ["n0", "n2"]), (0, ["n0"])])
def test_so_many_empty_nodes_are_closed_and_no_more(
    monkeypatch: pytest.MonkeyPatch, most: int, shut: list[str]
) -> None:
    """Where they are more, none of them is, and that is told."""
    monkeypatch.setattr(room, "MOST_EMPTY_CLOSED", most)
    kept = Kept(*two_nodes(), PLACEHOLDERS, ("n0",))
    assert kept.shut == shut
    assert bool(kept.keeper.warnings) is (most == 0)


def rows(count: int, room_for: int, room_from: int = 1) -> Cluster:
    """So many pods of one CPU on nodes of their own, and as many nodes to go to."""
    return cluster(
        *(node(f"from{number}", str(room_from)) for number in range(count)),
        *(node(f"to{number}", str(room_for)) for number in range(count)),
        *(pod(f"web-{number}", "1", node=f"from{number}") for number in range(count)), workload("web", count),
    )  # fmt: skip


@pytest.mark.parametrize(("number", "held"), [(1, 0), (2, 2), (20, 20), (21, 0)])
def test_all_destinations_of_two_to_twenty_moves_are_kept_from_the_beginning(number: int, held: int) -> None:
    """One pod has nobody to compete with, and many are kept wave by wave."""
    start = rows(number, 1)
    kept = Kept(start, plan_of(start, [(f"web-{item}", f"to{item}", 1) for item in range(number)]))
    assert len(kept.held) == held


def test_a_plan_of_one_move_keeps_no_destination() -> None:
    """Not before its segment either."""
    start = rows(1, 1)
    kept = Kept(start, plan_of(start, [("web-0", "to0", 1)]))
    kept.before(*kept.plan.moves)
    assert kept.held == []


def large(to: dict[int, str], waves: dict[int, int], room_for: int) -> Kept:
    """21 moves of a wave each in its turn, but for those of which it is told where they go, and when."""
    start = rows(21, room_for, 4)
    moves = [(f"web-{item}", to.get(item, f"to{item}"), waves.get(item, item + 3)) for item in range(21)]
    return Kept(start, plan_of(start, moves))


def test_what_is_held_for_others_makes_a_destination_contested() -> None:
    """There seems to be room for one more, and is not."""
    kept = large({}, {0: 1, 1: 1}, 4)
    kept.before(*kept.plan.moves[:2])
    assert kept.held == []
    kept.holds.set(kept.maker.closing("to0", (("cpu", 3000),)))
    kept.before(*kept.plan.moves[:2])
    assert kept.held == ["to0"]


def test_a_node_that_the_whole_wave_goes_to_is_not_contested() -> None:
    """Whoever comes there is expected there."""
    kept = large({0: "to0", 1: "to0"}, {0: 1, 1: 1}, 2)
    kept.before(*kept.plan.moves[:2])
    assert kept.held == []


def test_where_nothing_moves_nothing_is_kept() -> None:
    """Though a later move counts on room that an earlier one makes."""
    kept = large({1: "from0"}, {0: 1, 1: 2}, 4)
    kept.before()
    assert kept.held == []


def test_room_that_a_move_makes_for_another_of_its_segment_is_kept() -> None:
    """Both are on their way together."""
    kept = large({1: "from0"}, {0: 1, 1: 2}, 4)
    kept.before(*kept.plan.moves[:2])
    assert kept.held == ["from0"]


def test_room_that_is_to_be_made_later_is_not_kept_now() -> None:
    """Its time comes with the move that makes it."""
    kept = large({2: "from1"}, {0: 1, 1: 2, 2: 3}, 4)
    kept.before(kept.plan.moves[0])
    assert kept.held == []
    kept.before(*kept.plan.moves[:2])
    assert kept.held == ["from1"]
