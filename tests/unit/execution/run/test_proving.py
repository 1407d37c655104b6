"""The rest of a plan is proved anew, and mended where a pod that landed elsewhere took another's place."""

from __future__ import annotations

from collections import Counter

import pytest

from rescheduler.execution.guidance import guiding, room
from rescheduler.execution.guidance.hold_maker import fits, free_room, take
from rescheduler.execution.run import segments
from rescheduler.execution.run.proving import Stray, exchanged
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.consolidation import emptying, sparse
from tests.unit.execution.worlds import World, executor, outcomes, plan_of


def by_room(start: Cluster, rest: Plan) -> list[str]:
    """A proof that only counts room: what speaks against a plan is each move that finds none."""
    rooms = {item.name: free_room(start, item.name) for item in start.nodes}
    found = []
    for move in rest.moves:
        requests = start.pod_by_key[move.pod.key].spec.requests
        if not fits(rooms[move.to_node], requests):
            found.append(f"{move.pod.key} has no room on {move.to_node}")
        take(rooms[move.to_node], requests)
    return found


def test_a_place_that_a_stray_left_free_goes_to_the_pod_whose_place_it_took() -> None:
    """To the one that asks for as much, rather than to the first."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)),
        pod("big-0", "2", node="n0"), pod("web-0", "1", node="n0"), pod("web-1", "1", node="n0"),
    )  # fmt: skip
    rest = plan_of(start, [("big-0", "n1", 1), ("web-0", "n1", 1), ("web-1", "n2", 1)])
    stray = Stray("n3", "n1", start.pod_by_key["default/web-1"].spec.requests)
    assert [move.to_node for move in exchanged(rest, [stray], start).moves] == ["n1", "n3", "n2"]


def test_nobody_is_sent_to_the_node_it_stands_on() -> None:
    """Nor anywhere, where the stray took nobody's place."""
    start = cluster(node("n0", "4"), node("n1", "4"), node("n2", "4"), pod("web-0", "1", node="n0"))
    rest = plan_of(start, [("web-0", "n1", 1)])
    assert exchanged(rest, [Stray("n0", "n1", ()), Stray("n1", "n2", ())], start) == rest


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Clusters count as too large to be shut, plans as too large to keep all their destinations or go together."""
    monkeypatch.setattr(guiding, "MOST_SHUT", 0)
    monkeypatch.setattr(room, "FEW_MOVES", 1)
    monkeypatch.setattr(segments, "MOST_TOGETHER", 1)


@pytest.mark.usefixtures("large")
def test_nodes_are_emptied_although_the_scheduler_chooses_among_equals() -> None:
    """In clusters too large to shut: room is so scarce that each stray is in somebody's way."""
    start = sparse(nodes=8)
    emptied = ("n4", "n5", "n6", "n7")
    for in_a_wave in (1, 3):
        world = World(start)
        plan = emptying(start, emptied, in_a_wave=in_a_wave)
        result = executor(world, proof=by_room).carry_out(plan)
        world.settle()
        kinds = Counter(kind for kind, _ in outcomes(result).values())
        assert kinds["LandedElsewhere"] > 0
        assert set(kinds) == {"Landed", "LandedElsewhere"}, result.message
        assert not {item.node_name for item in world.read().pods}.intersection(emptied)
        assert sorted(world.evicted) == sorted(move.pod.name for move in plan.moves)


@pytest.mark.usefixtures("large")
def test_where_a_pod_landed_is_judged_by_the_plan_as_it_was_made() -> None:
    """However it was mended on the way."""
    start = sparse(nodes=8)
    world = World(start)
    plan = emptying(start, ("n4", "n5", "n6", "n7"), in_a_wave=1)
    result = executor(world, proof=by_room).carry_out(plan)
    assert any(move.landed_on != move.to_node for move in result.moves)
    for move in result.moves:
        assert (move.landed_on == move.to_node) is (move.outcome.value == "Landed")


def test_a_plan_that_cannot_be_mended_stops_and_says_why() -> None:
    """Nothing further is evicted."""
    start = cluster(
        node("n0", "4"), node("n1", "2"), node("n2", "2"), pod("web-0", "2", node="n0"), pod("web-1", "2", node="n0"),
        workload("web", 2),
    )  # fmt: skip
    world = World(start)
    world.script = [lambda _pod, _dry: world.put(pod("late-0", "2", node="n2"))]
    plan = plan_of(start, [("web-0", "n1", 1), ("web-1", "n2", 2)], objective="EmptyNodes")
    result = executor(world, proof=by_room).carry_out(plan)
    assert world.evicted == ["web-0"]
    assert "default/web-1 has no room on n2" in result.message
