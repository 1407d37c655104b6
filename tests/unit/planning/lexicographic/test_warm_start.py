"""Plans that begin where another plan ended: never worse than what of it is still valid, and what is lost is told."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from msgspec import structs

from rescheduler.adapters.simulated.scenarios import fragmented, several_pending
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, Status
from rescheduler.planning.lexicographic import warm_start
from rescheduler.planning.objectives.empty_nodes import search
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import RemainingLimits
from rescheduler.planning.waves.still_possible import still_possible
from rescheduler.policy.fields.policy import Policy
from tests.builders import budget, cluster, node, pod, workload
from tests.clocks import FakeClock, LookedAtClock

ARGUMENTS: dict[str, dict[str, Any]] = {
    "MakeRoom": {},
    "EmptyNodes": {},
    "SpreadLoad": {"target": {"cpu": "60%"}},
    "SeparateAntagonists": {"label": "app"},
    "Defragment": {"shapes": [{"cpu": "3"}]},
    "SchedulerScore": {"minimumGain": 5},
}
HIGHER_IS_BETTER = ("EmptyNodes", "Defragment", "SchedulerScore")
A_FEW_LOOKS = "20s"
PODS_ON = (4, 4, 4, 4, 4, 4, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0)


def scattered() -> Cluster:
    """Nodes of four cores, some full and many nearly empty; pods of one core."""
    on = [f"n{number}" for number, count in enumerate(PODS_ON) for _ in range(count)]
    pods = [pod(f"web-{number}", "1", node=where) for number, where in enumerate(on)]
    return cluster(*(node(f"n{number}", "4") for number in range(len(PODS_ON))), *pods, workload("web", len(pods)))


def world_of(name: str) -> Cluster:
    """A cluster in which an objective has something to do."""
    if name == "MakeRoom":
        return several_pending(0)
    return fragmented(0) if name in ("SeparateAntagonists", "SchedulerScore") else scattered()


def policy(name: str, deadline: str = "60s", guidance: str = "Hold", most: int = 100) -> Policy:
    """A policy for one objective that lets five pods of a workload move at once."""
    written = {
        "apiVersion": "rescheduler/v1alpha1",
        "kind": "ReschedulerPolicy",
        "objectives": [{"name": name, "args": ARGUMENTS[name]}],
        "limits": {"maxEvictions": most, "deadline": deadline},
        "disruption": {"workloads": {"maxUnavailable": 5}},
        "guidance": guidance,
    }
    return Policy.model_validate_json(json.dumps(written))


def planned(world: Cluster, wanted: Policy, start: Plan | None = None, *, counts_looks: bool = False) -> Plan:
    """A plan that the checker lets through; ``counts_looks``: each look at the clock takes a second."""
    clock = LookedAtClock() if counts_looks else FakeClock()
    plan = make_plan(world, wanted, CycleOptions(clock, start=start))
    assert not [text for text in plan.warnings if "checker" in text]
    return plan


def merit(plan: Plan) -> tuple[float, float]:
    """More is better: pods helped, then the value."""
    (found,) = plan.objectives
    value = found.value or 0.0
    helped = found.helped if isinstance(found.helped, int) else 0
    return helped, round(value if found.name in HIGHER_IS_BETTER else -value, 6)


def told(plan: Plan) -> list[str]:
    """What the plan says of its start."""
    return [text for text in plan.warnings if "of the start" in text]


def without_time(plan: Plan) -> bytes:
    """The document but for how long it took."""
    timeless = tuple(structs.replace(item, seconds=0.0) for item in plan.objectives)
    return msgspec.json.encode(structs.replace(plan, objectives=timeless))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_plan_begins_with_its_start_however_little_time_there_is(name: str) -> None:
    """In a time in which the search alone finds less, all that the start reached is reached, and the same again."""
    world, short = world_of(name), policy(name, "24s" if name == "MakeRoom" else A_FEW_LOOKS)
    cold = planned(world, policy(name))
    assert merit(planned(world, short, counts_looks=True)) < merit(cold)
    warm = planned(world, short, cold, counts_looks=True)
    assert merit(warm) >= merit(cold)
    assert not told(warm)
    assert without_time(planned(world, short, cold, counts_looks=True)) == without_time(warm)


@pytest.mark.parametrize("name", ["MakeRoom", "EmptyNodes", "SpreadLoad", "SeparateAntagonists", "SchedulerScore"])
def test_without_holds_the_start_counts_as_well(name: str) -> None:
    """As far as the scheduler makes its moves by itself."""
    world = world_of(name)
    cold = planned(world, policy(name, guidance="Predict"))
    warm = planned(world, policy(name, guidance="Predict"), cold)
    assert merit(warm) >= merit(cold)


def test_a_search_goes_on_from_its_start() -> None:
    """With more evictions allowed than the start had, more nodes are emptied, those of the start among them."""
    world = scattered()
    start = planned(world, policy("EmptyNodes", most=2))
    assert {move.from_node for move in start.moves} == {"n11", "n12"}
    more = planned(world, policy("EmptyNodes"), start)
    assert merit(more) > merit(start)


@pytest.mark.parametrize(
    ("name", "guidance", "share"),
    [("EmptyNodes", "Hold", 0.6), ("EmptyNodes", "Guide", 0.25), ("MakeRoom", "Hold", 0.25)],
)
def test_moves_that_only_need_to_be_packed_may_be_looked_at_for_most_of_the_time(
    name: str, guidance: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is cut off of a large start is lost; where orders are sought, that must leave time for the search."""
    world, wanted, given = world_of(name), policy(name, guidance=guidance), list[float]()
    start = planned(world, wanted)

    def looked_at(problem: Problem, limits: RemainingLimits, draft: Draft, deadline: Deadline) -> WaveSchedule:
        given.append(deadline.seconds)
        return still_possible(problem, limits, draft, deadline)

    monkeypatch.setattr(warm_start, "still_possible", looked_at)
    planned(world, wanted, start)
    assert given == [pytest.approx(60 * share)]


def test_a_start_that_is_best_already_is_proven_so_at_once() -> None:
    """Nothing is sought beside it, not even by the simple rule: rounds in which nothing has changed are short."""
    start = planned(scattered(), policy("EmptyNodes"))
    assert start.objectives[0].status is Status.OPTIMAL
    warm, steps = warmed(start)
    assert warm.objectives[0].status is Status.OPTIMAL
    assert merit(warm) == merit(start)
    assert "bounding what can be emptied" in steps
    assert not [step for step in steps if step.startswith("emptying node by node")]


@pytest.mark.parametrize(("many_pods", "is_sought"), [(1, False), (1000, True)])
def test_of_many_pods_a_start_that_empties_as_much_as_can_be_is_kept(
    monkeypatch: pytest.MonkeyPatch, many_pods: int, is_sought: bool
) -> None:
    """Whether fewer evictions would do is asked of small clusters alone: a second search takes as long as the first."""
    start = planned(scattered(), policy("EmptyNodes"))
    monkeypatch.setattr(search, "_MANY_PODS", many_pods)
    monkeypatch.setattr(search.EmptyingSearch, "_fewest_for_best", lambda _: 0)
    warm, steps = warmed(start)
    assert merit(warm) == merit(start)
    assert any(step.startswith("emptying node by node") for step in steps) is is_sought


def warmed(start: Plan) -> tuple[Plan, list[str]]:
    """A plan for the same cluster that begins with another one, and the steps of its search."""
    steps: list[str] = []

    def progress(step: str, done: int = 0, total: int | None = None) -> None:
        steps.append(step)

    return make_plan(
        scattered(), policy("EmptyNodes"), CycleOptions(FakeClock(), start=start, progress=progress)
    ), steps


def test_pods_and_nodes_that_are_gone_are_left_out_and_told() -> None:
    """Pods by uid, not by name; who stands elsewhere; who may not be moved any more, with the rule that says so."""
    world = scattered()
    start = planned(world, policy("EmptyNodes"))
    assert len(start.moves) == 6
    gone, renewed, elsewhere, barred = (move.pod.name for move in start.moves[:4])
    goals = {move.to_node for move in start.moves}

    def changed(one: Any) -> Any:
        if one.name == renewed:
            return structs.replace(one, uid="another")
        if one.name == elsewhere:
            return structs.replace(one, node_name="n15")
        if one.name == barred:
            return structs.replace(one, annotations={**one.annotations, "rescheduler.dev/do-not-evict": "true"})
        return one

    assert "n15" not in goals
    pods = tuple(changed(one) for one in world.pods if one.name != gone)
    warm = planned(replace(world, pods=pods), policy("EmptyNodes"), start)
    (text,) = told(warm)
    assert text.startswith("the search began with ")
    assert "2 of pods that are gone" in text
    assert "1 of pods that stand elsewhere now" in text
    assert "1 of pods that may not be moved now (" in text


def test_moves_to_nodes_that_are_gone_or_of_other_objectives_are_left_out() -> None:
    """A plan for one thing is no start for another."""
    world = scattered()
    start = planned(world, policy("EmptyNodes", most=1))
    (move,) = start.moves
    fewer = replace(
        world,
        nodes=tuple(one for one in world.nodes if one.name != move.to_node),
        pods=tuple(one for one in world.pods if one.node_name != move.to_node),
    )
    assert told(planned(fewer, policy("EmptyNodes", most=1), start)) == [
        "the search began with 0 of 1 moves and places of the start; left out: 1 to nodes that are gone"
    ]
    assert told(planned(world, policy("SpreadLoad"), start)) == [
        "the search began with 0 of 1 moves and places of the start; left out: 1 for objectives that are not asked for"
    ]


def test_what_finds_no_room_any_more_is_left_out() -> None:
    """Where the start sends its pod there is another one now, and nothing else is moved in its place."""
    world = cluster(
        node("a", "4"), node("b", "4"), pod("web-0", "1", node="a"), pod("web-1", "1", node="b"), workload("web", 2)
    )
    start = planned(world, policy("EmptyNodes"))
    (move,) = start.moves
    full = replace(world, pods=(*world.pods, pod("large-0", "3", node=move.to_node)))
    warm = planned(full, policy("EmptyNodes"), start)
    assert told(warm) == [
        "the search began with 0 of 1 moves and places of the start; left out: 1 that limits, room or time do not allow"
    ]


def test_limits_that_are_tighter_now_are_kept() -> None:
    """Of the start's nodes as many are emptied as the limit allows, each whole."""
    world = scattered()
    start = planned(world, policy("EmptyNodes"))
    assert merit(start) == (0, 5)
    warm = planned(world, policy("EmptyNodes", A_FEW_LOOKS, most=3), start, counts_looks=True)
    assert len(warm.moves) == 3
    assert merit(warm) == (0, 3)
    assert "3 that limits, room or time do not allow" in told(warm)[0]


def test_a_budget_that_is_used_up_stops_the_moves_of_the_start() -> None:
    """No start reaches past what may be disrupted."""
    world = scattered()
    start = planned(world, policy("EmptyNodes"))
    shut = replace(world, budgets=(budget("web", allowed=0, app="web"),))
    assert not planned(shut, policy("EmptyNodes"), start).moves
