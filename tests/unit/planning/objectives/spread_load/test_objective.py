"""Plans that spread load: what they reach, what they leave alone, and what they say."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.model.plan.plan import Refusal, Status
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.objectives.spread_load.objective import least_overload
from rescheduler.planning.objectives.spread_load.state import LoadState
from rescheduler.planning.objectives.spread_load.whole_model import MOST_CHOICES, solve_whole
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.waves.scheduler_choice import close
from tests.builders import cluster, node, pod, selector
from tests.unit.planning.asked import plan_spread_load
from tests.unit.planning.objectives.spread_load.questions import moved, question_of, requested, use_of
from tests.unit.planning.planning_requests import endless


def plan(question: PlanRequest, target: float = 0.5, unknown: tuple[str, ...] = (), **cores: float) -> ObjectivePlan:
    """Plan for the cpu that pods use."""
    return plan_spread_load(question, use_of(question, cores, unknown=unknown), {"cpu": target})


def test_the_pod_that_is_enough_leaves_the_hot_node() -> None:
    """4 cores, target 2, use 3.5: the pod of 1.5 is enough, the smaller one is not."""
    question = question_of(
        cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("b", node="n1"), pod("c", node="n1"))
    )
    answer = plan(question, a=1.5, b=0.5, c=1.5)
    assert len(answer.moves) == 1
    assert moved(question, answer).keys() <= {"a", "c"}
    assert (answer.status.value, answer.value, answer.bound, answer.unit) == (
        "OPTIMAL",
        0,
        0,
        "nodes' worth of overload",
    )
    assert "by 1 eviction; 0.375 nodes' worth before; target cpu 50%;" in answer.message
    assert "hottest n1 at 88% of cpu before" in answer.message


def test_use_decides_and_requests_bind() -> None:
    """The idle node is full by requests, so that the busier one takes the pod."""
    question = question_of(
        cluster(
            node("n1"),
            node("n2"),
            node("n3"),
            pod("a", node="n1"),
            pod("b", node="n1"),
            pod("idle", "4", node="n2"),
            pod("c", node="n3"),
        )
    )
    assert set(moved(question, plan(question, a=1.5, b=1.5, idle=0, c=0.2)).values()) == {"n3"}


def test_no_node_is_brought_above_its_target() -> None:
    """Every other node would be hot with the pod, so that it stays and the node is told of."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("c", node="n2")))
    answer = plan(question, a=3, c=0.5)
    assert answer.moves == ()
    assert [(refusal.node, refusal.rule) for refusal in answer.refusals] == [("n1", "NoCoolNode")]
    assert "n1 stays at cpu 75% (target 50%)" in answer.refusals[0].message


def test_nothing_hot_is_nothing_to_do() -> None:
    """OPTIMAL with no moves; the message names the hottest node."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1")))
    answer = plan(question, a=1)
    assert (answer.status.value, answer.moves, answer.value, answer.bound) == ("OPTIMAL", (), 0, 0)
    assert "no node is above its target" in answer.message


def test_a_node_whose_load_is_not_known_is_neither_judged_nor_used() -> None:
    """n3 is the coolest to the eye, n4 the hottest; nobody knows."""
    question = question_of(
        cluster(
            node("n1"),
            node("n2"),
            node("n3"),
            node("n4"),
            pod("a", node="n1"),
            pod("b", node="n1"),
            pod("c", node="n2"),
            pod("d", node="n4"),
        )
    )
    answer = plan(question, unknown=("n3", "n4"), a=1.5, b=1.5, c=0.4, d=4)
    assert set(moved(question, answer).values()) == {"n2"}
    assert answer.value == 0


def test_closed_nodes_receive_nothing() -> None:
    """An earlier objective has emptied n2."""
    question = question_of(
        cluster(node("n1"), node("n2"), node("n3"), pod("a", node="n1"), pod("b", node="n1"), pod("c", node="n3"))
    )
    close(question.placement, [1])
    assert set(moved(question, plan(question, a=1.5, b=1.5, c=0.4)).values()) == {"n3"}


def test_best_effort_pods_leave_first() -> None:
    """Of two pods that use the same, the one that was promised nothing."""
    bare = pod("bare", "0", "0", node="n1", priority=1000, containers=())
    question = question_of(
        cluster(node("n1"), node("n2"), bare, pod("firm", node="n1")), limits=MoveLimits(max_evictions=1)
    )
    assert moved(question, plan(question, bare=1.5, firm=1.5)) == {"bare": "n2"}


def test_a_swap_is_made_where_no_single_move_helps() -> None:
    """The busy pod fits nowhere below the target, unless the quiet one takes its place."""
    question = question_of(
        cluster(
            node("n1"),
            node("n2"),
            pod("busy", node="n1"),
            pod("x", node="n1"),
            pod("quiet", node="n2"),
            pod("y", node="n2"),
        )
    )
    answer = plan(question, busy=1.5, x=1.0, quiet=0.9, y=0.5)
    assert moved(question, answer) == {"busy": "n2", "quiet": "n1"}
    assert answer.value == 0


def test_move_cost_leaves_out_what_gains_too_little() -> None:
    """Half a core over is an eighth of a node; at a price of 1 it stays, and the message says so."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("b", node="n1")), move_cost=1.0)
    answer = plan(question, a=1.25, b=1.25)
    assert answer.moves == ()
    assert "an eviction of ordinary price costs 1; moves that gain no more are left out" in answer.message
    assert answer.refusals[0].rule == "moveCost"
    assert plan(replace(question, move_cost=0.01), a=1.25, b=1.25).value == 0


def test_a_pod_that_may_not_move_is_the_reason_told() -> None:
    """With the rule and the words of its refusal."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1")), fixed=("a",))
    refused = {0: Refusal(rule="OwnerlessPod", message="default/a has no owner")}
    question = replace(
        question, eligibility=type(question.eligibility)(movable=(), refusals=refused, helpable=(), not_helpable={})
    )
    answer = plan(question, a=3)
    assert (answer.refusals[0].rule, answer.refusals[0].node) == ("OwnerlessPod", "n1")
    assert "default/a has no owner" in answer.refusals[0].message
    assert (answer.status.value, answer.value) == ("OPTIMAL", 0.25)


def test_the_limit_that_binds_is_named() -> None:
    """Two hot nodes, one eviction."""
    question = question_of(
        cluster(
            node("n1"), node("n2"), node("n3"), *(pod(name, node=f"n{1 + n // 2}") for n, name in enumerate("abcd"))
        ),
        limits=MoveLimits(max_evictions=1),
    )
    answer = plan(question, a=1.5, b=1.5, c=1.5, d=1.5)
    assert (len(answer.moves), answer.value, answer.bound, answer.status.value) == (1, 0.25, 0.25, "OPTIMAL")
    assert [refusal.rule for refusal in answer.refusals] == ["limits.maxEvictions"]


def test_several_resources_are_added_up_in_average_nodes() -> None:
    """1 of 4 cores and 2 of 16 GiB above the target: a quarter and an eighth."""
    question = question_of(cluster(node("n1"), node("n2"), pod("a", "3", "10Gi", node="n1")), fixed=("a",))
    answer = plan_spread_load(question, requested(question), {"cpu": 0.5, "memory": 0.5})
    assert answer.value == pytest.approx(0.375)
    assert "0.375 nodes' worth of overload left; no allowed move helps; target cpu 50%, memory 50%;" in answer.message


def test_replicas_stay_spread_over_zones() -> None:
    """The cool node of the other zone would make the spread uneven."""
    rule = (TopologySpreadConstraint("topology.kubernetes.io/zone", 1, selector=selector(app="w")),)
    question = question_of(
        cluster(
            node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="a"),
            pod("w-1", node="n1", topology_spread=rule), pod("w-2", node="n2", topology_spread=rule),
            pod("w-3", node="n2", topology_spread=rule), pod("x", node="n1"),
        ),
        fixed=("x",),
    )  # fmt: skip
    assert moved(question, plan(question, **{"w-1": 1.5, "x": 1.5})) == {"w-1": "n3"}


def test_without_holds_only_what_the_scheduler_does_by_itself_is_moved() -> None:
    """It prefers the emptiest node by requests, which is hot by use: nothing is moved then."""
    names = cluster(
        node("n1"),
        node("n2"),
        node("n3"),
        pod("a", node="n1"),
        pod("b", "2", node="n1"),
        pod("c", "2", node="n2"),
        pod("d", "500m", node="n3"),
    )
    hot_favourite = plan(question_of(names, is_guided_by_holds=False, fixed=("b",)), a=1.5, b=1.5, c=0.1, d=1.9)
    assert hot_favourite.moves == ()
    question = question_of(names, is_guided_by_holds=False, fixed=("b",))
    assert moved(question, plan(question, a=1.5, b=1.5, c=1.9, d=0.1)) == {"a": "n3"}


@pytest.mark.parametrize("seed", range(3))
def test_load_spreads_over_newly_added_nodes_by_hardly_more_evictions_than_any_plan_needs(seed: int) -> None:
    """16 nodes about 86 % full and 8 empty ones, target 60 % by requests: at most 1.1 times the least."""
    draw = random.Random(seed)
    pods, nodes = [], [node(f"n{number:02d}", cpu="8", memory="32Gi") for number in range(24)]
    for number in range(16):
        left = 6900
        while (size := draw.choice([100, 250, 500, 500, 1000, 1500, 2000])) <= left:
            left -= size
            pods.append(pod(f"w{len(pods) % 40}-{len(pods):03d}", f"{size}m", f"{2 * size}Mi", node=f"n{number:02d}"))
    question = question_of(cluster(*nodes, *pods))
    observed = requested(question)
    answer = plan_spread_load(question, observed, {"cpu": 0.6, "memory": 0.6})
    least = sum(_fewest(observed, question, number) for number in range(16))
    assert (answer.value, answer.status.value) == (0, "OPTIMAL")
    assert len(answer.moves) <= 1.1 * least


def _fewest(observed: ObservedUse, question: PlanRequest, number: int) -> int:
    """Largest pods first until the node is below the target, resource by resource."""
    here = question.placement.node_of == number
    fewest = 0
    for use, capacity in zip(observed.of_pods[:, here], observed.capacity[:, number], strict=True):
        freed = np.cumsum(np.sort(use)[::-1])
        excess = use.sum() - 0.6 * capacity
        fewest = max(fewest, int(np.searchsorted(freed, excess - 1e-6)) + 1 if excess > 1e-6 else 0)
    return fewest


def test_odd_clusters_are_no_error() -> None:
    """No nodes, no pods, a target that nobody can keep."""
    empty = question_of(cluster())
    assert plan(empty).value == 0
    alone = question_of(cluster(node("n1"), pod("a", node="n1")))
    assert plan(alone, a=4).value == pytest.approx(0.5)
    full = question_of(cluster(node("n1"), node("n2"), pod("a", "0", node="n1")))
    assert plan(full, target=0.0, a=1).moves == ()


def test_where_no_load_can_be_believed_nothing_is_known() -> None:
    """No trusted load, or no resource with a target that a node offers: never OPTIMAL, and nothing moves."""
    hot = question_of(cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("b", node="n1")))
    answers = [
        plan(hot, unknown=("n1", "n2"), a=3, b=3),
        plan_spread_load(hot, requested(hot), {"example.com/foo": 0.5}),
    ]
    for answer in answers:
        assert (answer.status, answer.bound, answer.moves, answer.is_judged) == (Status.UNKNOWN, None, (), False)
        assert answer.message.startswith("no node has a load that can be believed")
    assert plan(hot, unknown=("n2",), a=3, b=3).is_judged


def test_a_node_without_capacity_is_no_error() -> None:
    """What its pods use lies above any target, and it takes nobody."""
    question = question_of(
        cluster(node("n1"), node("n2"), node("n3", cpu="0"), pod("a", node="n1"), pod("b", "0", node="n3"))
    )
    answer = plan(question, a=1, b=1)
    assert np.isfinite(answer.value)
    assert moved(question, answer) == {"b": "n2"}


def bound(question: PlanRequest, target: float = 0.5, **cores: float) -> float:
    """The bound by marginal reliefs."""
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, cores), {"cpu": target})
    return least_overload(problem, state, remaining_limits(question.eligibility.limits, question.placement))


def two_hot_nodes(**fields: object) -> PlanRequest:
    """n1 and n2 hold two pods each; n3 and n4 are empty."""
    pods = (pod(name, node=f"n{1 + number // 2}") for number, name in enumerate("abcd"))
    return question_of(cluster(node("n1"), node("n2"), node("n3"), node("n4"), *pods), **fields)  # type: ignore[arg-type]


def test_the_largest_reliefs_count_as_far_as_evictions_go() -> None:
    """1 and 2 cores over of 4: one eviction takes away at most 2 of 3."""
    use = {"a": 2.0, "b": 1.0, "c": 2.0, "d": 2.0}
    assert bound(two_hot_nodes(limits=MoveLimits(max_evictions=1)), **use) == pytest.approx(0.25)
    assert bound(two_hot_nodes(limits=MoveLimits(max_evictions=2)), **use) == 0
    assert bound(two_hot_nodes(limits=MoveLimits(max_evictions=0)), **use) == pytest.approx(0.75)


def test_a_limit_for_each_node_binds_each_node() -> None:
    """n1 needs two evictions and may have one: 1.5 cores of the 3 over stay, and nothing of n2's."""
    question = two_hot_nodes(limits=MoveLimits(max_evictions_per_node=1))
    assert bound(question, target=0.25, a=1.5, b=1.5, c=1, d=0.5) == pytest.approx(0.5 / 4)


def test_pods_that_fit_on_no_other_node_relieve_nothing() -> None:
    """n2 is too small for the large pod even when it is empty."""
    question = question_of(cluster(node("n1"), node("n2", cpu="2"), pod("large", "3", node="n1"), pod("x", node="n1")))
    assert bound(question, large=3, x=0.5) == pytest.approx((1.5 - 0.5) / 3)


def test_what_all_nodes_use_together_cannot_go_away() -> None:
    """6 of 8 cores in use, 4 allowed: 2 stay whatever is moved."""
    question = question_of(cluster(node("n1"), node("n2"), *(pod(f"p{n}", node="n1") for n in range(4))))
    assert bound(question, p0=1.5, p1=1.5, p2=1.5, p3=1.5) == pytest.approx(0.5)


def test_nothing_hot_needs_nothing() -> None:
    """Neither do no pods at all."""
    assert bound(two_hot_nodes(), a=0.5) == 0
    assert bound(question_of(cluster(node("n1")))) == 0


def test_the_whole_program_counts_receivers() -> None:
    """Only one of two pods finds a cool place, which reliefs alone do not see."""
    question = question_of(
        cluster(node("n1"), node("n2", cpu="2"), pod("a", node="n1"), pod("b", node="n1"), pod("c", node="n2"))
    )
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, {"a": 1.6, "b": 1.6, "c": 0.5}), {"cpu": 0.5})
    limits = remaining_limits(question.eligibility.limits, question.placement)
    whole = solve_whole(problem, state, limits, np.zeros(3), endless())
    assert whole is not None
    assert bound(question, a=1.6, b=1.6, c=0.5) == pytest.approx(0.7 / 3)
    assert whole.bound == pytest.approx(1.2 / 3, abs=1e-5)


def test_what_moves_cost_is_weighed_and_bounds_nothing() -> None:
    """A move that gains less than it costs is not made; the bound is of overload alone."""
    question = two_hot_nodes()
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, {"a": 1.5, "b": 1.0}), {"cpu": 0.5})
    limits = remaining_limits(question.eligibility.limits, question.placement)
    dear = solve_whole(problem, state, limits, np.ones(4), endless())
    cheap = solve_whole(problem, state, limits, np.full(4, 0.01), endless())
    assert dear is not None
    assert cheap is not None
    assert (dear.moves, dear.bound, len(cheap.moves)) == ((), 0, 1)


def test_a_large_cluster_is_no_whole_program() -> None:
    """It would take too long."""
    nodes = [node(f"n{number:03d}") for number in range(80)]
    pods = [pod(f"p{number:03d}", node=f"n{number:03d}") for number in range(MOST_CHOICES // 80 + 1)]
    question = question_of(cluster(*nodes, *pods))
    problem = problem_of(question)
    state = LoadState(problem, use_of(question, {"p000": 3}), {"cpu": 0.5})
    limits = remaining_limits(question.eligibility.limits, question.placement)
    assert solve_whole(problem, state, limits, np.zeros(len(pods)), endless()) is None
