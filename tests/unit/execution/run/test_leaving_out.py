"""What is left out of a plan with a move that is not made."""

from __future__ import annotations

from msgspec import UNSET, structs

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.run.leaving_out import NOTHING_LEFT_OUT, LeavingOut, left_out
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PodReference
from tests.builders import cluster, node, pod
from tests.unit.execution.worlds import World, chain, chained, fragmented, plan_of, two_moves


def names(plan: Plan, start: Cluster, *dropped: str) -> tuple[list[str], list[str]]:
    """Moves and placements that fall with some, by name."""
    pods = {move.pod for move in plan.moves if move.pod.name in dropped}
    found = left_out(pods, plan.moves, plan.placements, start)
    return sorted(pod.name for pod in found.moves), sorted(pod.name for pod in found.placements)


def test_nothing_falls_where_nothing_is_dropped() -> None:
    """The common case."""
    start = fragmented()
    plan = two_moves(start)
    assert left_out((), plan.moves, plan.placements, start) == NOTHING_LEFT_OUT


def test_a_move_that_goes_where_the_dropped_one_leaves_falls_with_it() -> None:
    """And the room that both were to make; one that needs nobody stays."""
    start = chained()
    assert names(chain(start), start, "little-0") == (["little-0", "mid-0"], ["big-0"])


def test_moves_that_make_room_for_nobody_any_more_are_of_no_use() -> None:
    """Their pods stay where they are."""
    start = fragmented()
    assert names(two_moves(start), start, "web-00") == (["web-00", "web-01"], ["big-0"])
    assert names(chain(chained()), chained(), "mid-0") == (["little-0", "mid-0"], ["big-0"])


def test_other_room_and_other_objectives_go_on() -> None:
    """A move of another purpose, and those that make room on another node."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)), pod("a-0", "1", node="n0"), pod("b-0", "1", node="n1"),
        pod("c-0", "1", node="n0"), pod("p-0", "3"), pod("q-0", "3"),
    )  # fmt: skip
    rooms = plan_of(start, [("a-0", "n2", 1), ("b-0", "n3", 1)], [("p-0", "n0", 1), ("q-0", "n1", 1)])
    assert names(rooms, start, "a-0") == (["a-0"], ["p-0"])
    spread = plan_of(start, [("a-0", "n2", 1), ("c-0", "n3", 1)], objective="SpreadLoad")
    assert names(spread, start, "a-0") == (["a-0"], [])


def test_pods_that_change_places_go_together_or_not_at_all() -> None:
    """Those of another wave that need neither go on."""
    start = cluster(node("n0", "4"), node("n1", "4"), node("n2", "4"), *(pod(f"{i}-0", "1", node="n0") for i in "abc"))
    plan = plan_of(start, [("c-0", "n2", 1), ("a-0", "n1", 2), ("b-0", "n2", 2)], objective="FaultDomains")
    swap = structs.replace(
        plan, moves=tuple(structs.replace(move, evict_first=move.wave == 2 or UNSET) for move in plan.moves)
    )
    assert names(swap, start, "a-0") == (["a-0", "b-0"], [])


def in_a_group() -> tuple[Cluster, Plan, frozenset[PodReference]]:
    """Three pods leave n0, of which a-0 and b-0 move together."""
    start = cluster(node("n0", "4"), node("n1", "4"), node("n2", "4"), *(pod(f"{i}-0", "1", node="n0") for i in "abc"))
    plan = plan_of(start, [("a-0", "n1", 1), ("b-0", "n1", 1), ("c-0", "n2", 1)], objective="SpreadLoad")
    return start, plan, frozenset(move.pod for move in plan.moves[:2])


def test_pods_that_move_together_stay_together() -> None:
    """As long as none of them was sent; whoever is of no group goes on."""
    start, plan, group = in_a_group()
    leaving_out = beginning(start, plan)
    leaving_out.groups = [group]
    leaving_out.dropped.append(plan.moves[0])
    assert {pod.name for pod in leaving_out.fallen.moves} == {"a-0", "b-0"}


def test_a_group_that_is_not_whole_any_more_goes_on() -> None:
    """One of it has left, so that the others are nearer to it where they were to go."""
    start, plan, group = in_a_group()
    leaving_out = beginning(start, plan)
    leaving_out.groups = [group]
    leaving_out.sent.append(plan.moves[1].pod)
    leaving_out.dropped.append(plan.moves[0])
    assert {pod.name for pod in leaving_out.fallen.moves} == {"a-0"}


def test_whoever_empties_a_node_is_tied_to_all_others_on_it() -> None:
    """And to who goes where they leave; where the node is not promised empty each goes by himself."""
    start = cluster(
        node("n0", "4"), node("n1", "2"), node("n2", "4"), *(pod(f"{i}-0", "1", node="n0") for i in "ab"),
        pod("c-0", "2", node="n1"), pod("d-0", "1", node="n2"),
    )  # fmt: skip
    plan = plan_of(start, [("a-0", "n2", 1), ("b-0", "n2", 1), ("d-0", "n0", 1)], objective="EmptyNodes")
    leaving_out = beginning(start, plan)
    assert {pod.name for pod in leaving_out.tied_to(plan.moves[:1])} == {"a-0"}
    leaving_out.promised_empty = ["n0"]
    assert {pod.name for pod in leaving_out.tied_to(plan.moves[:1])} == {"a-0", "b-0"}
    assert {pod.name for pod in leaving_out.tied_to(plan.moves[2:])} == {"d-0"}


def test_who_makes_room_with_others_is_tied_to_them() -> None:
    """Nobody moves for a pod that does not get in."""
    start = fragmented()
    plan = two_moves(start)
    assert {pod.name for pod in beginning(start, plan).tied_to(plan.moves[:1])} == {"web-00", "web-01"}


def test_a_pending_pod_that_is_gone_needs_no_room() -> None:
    """Who was to make it stays, and it is said why."""
    start = fragmented()
    plan = two_moves(start)
    leaving_out = beginning(start, plan)
    rest = leaving_out.without(plan, (), plan.placements)
    assert (rest.moves, rest.placements) == ((), ())
    at_once = structs.replace(plan, moves=(), placements=tuple(structs.replace(i, wave=0) for i in plan.placements))
    assert leaving_out.without(at_once).placements == ()
    assert leaving_out.told == "default/big-0, which room was made for, is gone or another pod by now"


def beginning(start: Cluster, plan: Plan) -> LeavingOut:
    """All of a plan is left, and was proven on this cluster."""
    world = World(start)
    fresh = FreshCluster(world, world.clock, lambda found: found)
    leaving_out = LeavingOut(plan, fresh, Outcomes(plan))
    leaving_out.now_at(plan, start)
    return leaving_out
