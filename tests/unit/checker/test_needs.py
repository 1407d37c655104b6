"""Moves that need not wait for one another: every order is possible, by brute force on tiny clusters, and is proven."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.checker.needs import check_needs
from rescheduler.model.columns.selectors import selects
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Requirement
from rescheduler.model.plan.disruption import DisruptionGroup
from rescheduler.model.plan.needs import needs_of, ranks_of
from rescheduler.model.plan.plan import Move, Plan, reference_to
from tests.builders import budget, cluster, node, pod, selector, workload
from tests.unit.checker.cases import anything_goes, move, plan
from tests.unit.checker.naive import fits, misfits, subsets
from tests.unit.checker.test_orders import NAMES, NODES, PODS

PLANNED, UNDER_WAY, SETTLED = range(3)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Cluster, Plan]:
    """A tiny cluster, and a plan of several waves of which each is possible in any order."""
    pods, steps = [], []
    for number in range(draw(st.integers(2, 5))):
        origin = draw(st.sampled_from(NAMES))
        pods.append(pod(f"run-{number}", node=origin, **draw(PODS)))
        target = draw(st.sampled_from([name for name in NAMES if name != origin]))
        steps.append(move(f"run-{number}", origin, target, draw(st.integers(1, 3))))
    world, proposed = cluster(*NODES, *pods), plan(*steps)
    while stuck := misfits(world, proposed).stuck:
        proposed = plan(*(step for step in proposed.moves if step.pod.key not in stuck))
    return world, proposed


def impossible(world: Cluster, moves: Sequence[Move], needs: Sequence[frozenset[int]]) -> list[str]:
    """Moves that would not fit when they may start, in some order that the needs allow.

    Of one that is under way nobody knows whether it has come; it holds both places. So does, for others of its own
    wave, one that has settled: that is how a wave is proven.
    """
    nodes = {item.name: item for item in world.nodes}
    pods = [world.pod_by_key[item.pod.key] for item in moves]
    moved = {item.key for item in pods}
    standing = [(item, nodes[item.node_name]) for item in world.pods if item.key not in moved and item.node_name]
    found, seen, waiting = [], set(), [(PLANNED,) * len(moves)]
    while waiting:
        state = waiting.pop()
        if state in seen:
            continue
        seen.add(state)
        for index, item in enumerate(moves):
            if state[index] == UNDER_WAY:
                waiting.append((*state[:index], SETTLED, *state[index + 1 :]))
            if state[index] != PLANNED or any(state[need] != SETTLED for need in needs[index]):
                continue
            waiting.append((*state[:index], UNDER_WAY, *state[index + 1 :]))
            sitting, flying = list(standing), []
            for other, step in enumerate(moves):
                if other == index:
                    continue
                if state[other] != SETTLED or step.wave == item.wave:
                    sitting.append((pods[other], nodes[step.from_node]))
                if state[other] == SETTLED:
                    sitting.append((pods[other], nodes[step.to_node]))
                if state[other] == UNDER_WAY:
                    flying.append((pods[other], nodes[step.to_node]))
            if not all(
                fits(pods[index], nodes[item.to_node], [*sitting, *some], world.nodes) for some in subsets(flying)
            ):
                found.append(item.pod.key)
    return found


@settings(max_examples=150, deadline=None)
@given(cases())
def test_every_order_that_the_needs_allow_is_possible(case: tuple[Cluster, Plan]) -> None:
    """Whoever may start finds its place, whoever else is on the way; and the checker finds nothing to object to."""
    world, proposed = case
    needs = needs_of(proposed.moves, world)
    assert impossible(world, proposed.moves, needs) == []
    assert list(check_needs(world, proposed, needs, anything_goes(world))) == []


@settings(max_examples=150, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_needs_that_the_checker_lets_pass_are_enough(case: tuple[Cluster, Plan], random: object) -> None:
    """Some needs are forgotten: either the checker says so, or no order suffers by it."""
    world, proposed = case
    thinned = [
        frozenset(other for other in found if random.random() < 0.7)  # type: ignore[attr-defined]
        for found in needs_of(proposed.moves, world)
    ]
    if not list(check_needs(world, proposed, thinned, anything_goes(world))):
        assert impossible(world, proposed.moves, thinned) == []


def chained(*extra: object, **fields: object) -> Cluster:
    """Two full nodes, and an empty one."""
    return cluster(
        node("n0", "2"), node("n1", "2"), node("n2", "2"), pod("a-0", "2", node="n0", owner="a"),
        pod("b-0", "2", node="n1", owner="b", **fields), *extra,
    )  # fmt: skip


def test_a_pod_waits_for_the_one_whose_room_it_gets() -> None:
    """And for nobody else."""
    world = chained(pod("c-0", "1", node="n2", owner="c"), node("n3", "2"), node("n4", "8"))
    moves = (move("a-0", "n0", "n3", 1), move("c-0", "n2", "n4", 1), move("b-0", "n1", "n0", 2))
    assert needs_of(moves, world) == (frozenset(), frozenset(), frozenset({0}))
    assert ranks_of(needs_of(moves, world)) == (1, 0, 0)
    assert set(impossible(world, moves, (frozenset(),) * 3)) == {"default/b-0"}


def test_without_needs_the_checker_objects() -> None:
    """The reason is told with both pods."""
    world = chained()
    proposed = plan(move("a-0", "n0", "n2", 1), move("b-0", "n1", "n0", 2))
    (found,) = check_needs(world, proposed, (frozenset(), frozenset()), anything_goes(world))
    assert found.message == "default/b-0 does not wait for default/a-0 of an earlier wave: it leaves n0"


def test_nobody_waits_for_a_later_wave() -> None:
    """Else two could wait for one another for ever."""
    world = chained()
    proposed = plan(move("a-0", "n0", "n2", 1), move("b-0", "n1", "n0", 2))
    found = list(check_needs(world, proposed, (frozenset({1}), frozenset({0})), anything_goes(world)))
    assert [item.message for item in found] == ["default/a-0 waits for default/b-0, which comes no earlier"]


def test_whoever_is_counted_together_keeps_the_order_of_waves() -> None:
    """A workload, a budget, a term of one that picks the other, pods that leave before they arrive."""
    apart = {"anti_affinity": (PodAffinityTerm("zone", selector(app="a")),)}
    labelled = cluster(*chained(labels={"app": "b"}, **apart).nodes, pod("a-0", "2", node="n0", labels={"app": "a"}),
                       pod("b-0", "2", node="n1", labels={"app": "b"}, **apart))  # fmt: skip
    moves = (move("a-0", "n0", "n2", 1), move("b-0", "n1", "n2", 2))
    assert needs_of(moves, labelled)[1] == {0}
    assert needs_of(moves, chained())[1] == frozenset()
    first = (structs.replace(moves[0], evict_first=True), moves[1])
    assert needs_of(first, chained())[1] == {0}
    both = cluster(*chained().nodes, pod("w-0", node="n0"), pod("w-1", node="n1"), workload("w", 2))
    together = (move("w-0", "n0", "n2", 1), move("w-1", "n1", "n2", 2))
    assert needs_of(together, both)[1] == {0}


APPS = st.fixed_dictionaries({}, optional={"app": st.sampled_from(["a", "b"]), "tier": st.sampled_from(["x", "y"])})
RULES = [
    selector(app="a"),
    selector(app="b", tier="x"),
    LabelSelector((Requirement("app", "In", ("a", "b", "a")),)),
    LabelSelector((Requirement("app", "NotIn", ("a",)), Requirement("tier", "In", ("x",)))),
    LabelSelector(()),
    None,
]


@given(st.lists(st.tuples(st.sampled_from(["one", "two"]), APPS), min_size=2, max_size=5), st.sets(st.integers(0, 5)))
def test_whoever_one_budget_covers_keeps_the_order_of_waves(
    found: list[tuple[str, dict[str, str]]], chosen: set[int]
) -> None:
    """Whatever its selector says; a budget of another namespace counts for nobody."""
    pods = [
        pod(f"p-{number}", node="n0", owner=f"o-{number}", namespace=name, labels=labels)
        for number, (name, labels) in enumerate(found)
    ]
    budgets = [budget(f"b-{number}", 1, namespace="one", selector=RULES[number]) for number in sorted(chosen)]
    world = cluster(node("n0", "8"), node("n1", "8"), *pods, *budgets)
    moves = [
        structs.replace(move(item.name, "n0", "n1", wave), pod=reference_to(item)) for wave, item in enumerate(pods, 1)
    ]
    for later, needed in enumerate(needs_of(moves, world)):
        assert needed == {
            earlier
            for earlier in range(later)
            if pods[earlier].namespace == pods[later].namespace == "one"
            and any(all(selects(RULES[one], pods[at].labels) for at in (earlier, later)) for one in chosen)
        }


def test_a_limit_that_both_count_for_is_the_checkers_concern_too() -> None:
    """By the groups that were decided, not by selectors."""
    world = chained()
    proposed = plan(move("a-0", "n0", "n2", 1), move("b-0", "n1", "n2", 2))
    group = DisruptionGroup("PodDisruptionBudget", "default/both", 1, (0, 1))
    eligibility = structs.replace(anything_goes(world), groups=(group,))
    (found,) = check_needs(world, proposed, needs_of(proposed.moves, world), eligibility)
    assert "counted for one limit" in found.message
