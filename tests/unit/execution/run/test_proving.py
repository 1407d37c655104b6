"""The rest of a plan is proved anew, and mended where a pod that landed elsewhere took another's place."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from rescheduler.checker.violation import Violation
from rescheduler.execution.guidance import guiding, room
from rescheduler.execution.guidance.hold_maker import fits, free_room, take
from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.execution.run import segments
from rescheduler.execution.run.proving import Stray, exchanged, is_harmless
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.plan.plan import Plan
from tests.builders import cluster, node, pod, selector, workload
from tests.unit.execution.consolidation import emptying, sparse
from tests.unit.execution.worlds import World, against, executor, outcomes, plan_of


def by_room(start: Cluster, rest: Plan) -> list[Violation]:
    """A proof that only counts room: what speaks against a plan is each move that finds none."""
    rooms = {item.name: free_room(start, item.name) for item in start.nodes}
    found, wave = [], 0
    for move in rest.moves:
        requests = start.pod_by_key[move.pod.key].spec.requests
        if move.wave != wave:
            for left in (other for other in rest.moves if wave <= other.wave < move.wave):
                take(rooms[left.from_node], start.pod_by_key[left.pod.key].spec.requests, -1)
            wave = move.wave
        if not fits(rooms[move.to_node], requests):
            found += against(f"{move.pod.key} has no room on {move.to_node}", pod=move.pod.key)
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


@pytest.mark.usefixtures("large")
def test_a_move_that_does_not_hold_any_more_is_left_out_and_the_others_go_on() -> None:
    """Somebody took the room of one of three; it is told with the reason."""
    start = cluster(
        node("n0", "6"), node("n1", "8"), node("n2", "2"), node("n3", "3"),
        *(pod(f"{name}-0", "2", node="n0") for name in ("web", "db", "job")),
        *(workload(name, 1) for name in ("web", "db", "job")),
    )  # fmt: skip
    world = World(start)
    world.script = [lambda _pod, _dry: world.put(pod("late-0", "2", node="n2"))]
    plan = plan_of(start, [("web-0", "n1", 1), ("db-0", "n2", 2), ("job-0", "n3", 3)])
    result = executor(world, proof=by_room).carry_out(plan)
    assert world.evicted == ["web-0", "job-0"]
    assert outcomes(result)["db-0"] == ("NotAttempted", None)
    assert outcomes(result)["job-0"][0] in ("Landed", "LandedElsewhere")
    assert "default/db-0 has no room on n2" in result.message
    assert list(world.leftovers()) == []


@pytest.mark.usefixtures("large")
@pytest.mark.parametrize("change", ["pod", "node"])
def test_a_pod_that_has_gone_meanwhile_is_left_out_and_the_others_go_on(change: str) -> None:
    """As one is whose node of destination has gone; where nothing else is left, the plan has been overtaken."""
    start = cluster(
        node("n0", "6"), node("n1", "8"), node("n2", "2"), node("n3", "3"),
        *(pod(f"{name}-0", "2", node="n0") for name in ("web", "db", "job")),
        *(workload(name, 1) for name in ("web", "db", "job")),
    )  # fmt: skip

    def meddle(world: World) -> None:
        if change == "pod":
            world.delete_pod("default", "db-0")
        else:
            world.remove_node("n2")

    for moves, evicted in ((("web", "db", "job"), ["web-0", "job-0"]), (("web", "db"), ["web-0"])):
        world = World(start)
        world.script = [lambda _pod, _dry, world=world: meddle(world)]
        to = {"web": ("n1", 1), "db": ("n2", 2), "job": ("n3", 3)}
        result = executor(world, proof=by_room).carry_out(plan_of(start, [(f"{name}-0", *to[name]) for name in moves]))
        assert world.evicted == evicted
        assert outcomes(result)["db-0"] == ("NotAttempted", None)
        assert "db-0" in result.message


@pytest.mark.usefixtures("large")
def test_what_rests_on_a_move_that_does_not_hold_is_left_out_with_it() -> None:
    """The place that it was to leave is not there; what needs neither is moved."""
    start = cluster(
        node("n0", "6"), node("n1", "8"), node("n2", "2"), node("n3", "2"), node("n4", "2"),
        *(pod(f"web-{number}", "2", node="n0") for number in range(3)),
        pod("db-0", "2", node="n4"), workload("web", 3), workload("db", 1),
    )  # fmt: skip
    world = World(start)
    world.script = [lambda _pod, _dry: world.put(pod("late-0", "2", node="n2"))]
    plan = plan_of(start, [("web-0", "n1", 1), ("db-0", "n2", 2), ("web-1", "n3", 2), ("web-2", "n4", 3)])
    result = executor(world, proof=by_room).carry_out(plan)
    assert world.evicted == ["web-0", "web-1"]
    assert [outcomes(result)[name] for name in ("db-0", "web-2")] == [("NotAttempted", None)] * 2
    assert "default/db-0 has no room on n2" in result.message


@pytest.mark.usefixtures("large")
def test_what_counts_that_lag_behind_may_explain_is_waited_for_before_a_move_is_left_out() -> None:
    """A budget that is recounted late costs nobody his move; a node that is full is not waited for."""
    start = cluster(
        *(node(f"n{number}", "8") for number in range(3)), pod("web-0", "2", node="n0"), pod("web-1", "2", node="n0"),
        workload("web", 2),
    )  # fmt: skip
    plan = plan_of(start, [("web-0", "n1", 1), ("web-1", "n2", 2)])
    for rule, evicted in (("Eligibility", ["web-0", "web-1"]), ("NodeResourcesFit", ["web-0"])):
        seen: list[int] = []

        def proof(_fresh: Cluster, rest: Plan, rule: str = rule, seen: list[int] = seen) -> list[Violation]:
            seen.append(len(rest.moves))
            late = len(rest.moves) == 1 and seen.count(1) < 3
            return [Violation(rule, "default/web-1 may not be moved", "default/web-1")] if late else []

        world = World(start)
        result = executor(world, proof=proof).carry_out(plan)
        assert world.evicted == evicted
        assert ("may not be moved" in result.message) is (len(evicted) == 1)


def scene(**fields: Any) -> Cluster:
    """Two pods leave n0; n1 has room for two of them, n2 for one."""
    return cluster(
        node("n0", "4"), node("n1", "2"), node("n2", "1"), pod("web-0", "1", node="n0", **fields),
        pod("web-1", "1", node="n0"), pod("web-2", "1", node="n0"),
    )  # fmt: skip


def landed(start: Cluster, name: str, expected: str, on: str) -> EvictedPod:
    """A pod that was moved and is on a node."""
    left = start.pod_by_key[f"default/{name}"]
    (move,) = plan_of(start, [(name, expected, 1)]).moves
    return EvictedPod(move, left, None, frozenset(), True, pod(f"{name}-new", "1", node=on))


def test_a_stray_beside_whom_the_others_fit_is_harmless() -> None:
    """Also where two strays share a node; not where the last room is another's."""
    start = scene()
    stray = landed(start, "web-0", "n2", "n1")
    wave = plan_of(start, [("web-0", "n2", 1), ("web-1", "n1", 1)]).moves
    assert is_harmless(stray, wave, [stray], start)
    second = landed(start, "web-2", "n2", "n1")
    assert not is_harmless(second, wave, [stray, second], start)
    other = landed(start, "web-1", "n1", "n2")
    assert not is_harmless(other, plan_of(start, [("web-0", "n2", 1)]).moves, [other], start)


def test_a_pod_that_came_back_is_not_harmless() -> None:
    """It was moved for nothing; nor is one on a node that nobody knows."""
    start = scene()
    assert not is_harmless(landed(start, "web-0", "n1", "n0"), (), [], start)
    assert not is_harmless(landed(start, "web-0", "n1", "n9"), (), [], start)


APART = PodAffinityTerm("kubernetes.io/hostname", selector(app="web"))


@pytest.mark.parametrize("fields", [{"ports": [80]}, {"anti_affinity": (APART,)}])
def test_a_pod_that_may_be_in_the_way_by_more_than_its_requests_is_not_harmless(fields: dict[str, Any]) -> None:
    """Ports, affinity and spread are looked at by the proof, when the wave is through."""
    start = scene(**fields)
    stray = landed(start, "web-0", "n2", "n1")
    assert not is_harmless(stray, (), [stray], start)
