"""Groups that are helped all or none, and pods that are worth so many evictions: as an exhaustive search has it."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.plan.plan import Status
from rescheduler.planning.room_model.ranking import help_vector
from rescheduler.planning.waves.replay import replay
from tests.builders import cluster, node, pod
from tests.unit.planning.asked import plan_make_room, room_problem
from tests.unit.planning.brute_force import BruteForce, TinyCluster
from tests.unit.planning.planning_requests import request_of
from tests.unit.planning.test_against_brute_force import schedule_of
from tests.unit.planning.tiny import request_for, tiny_clusters


@st.composite
def clusters_with_groups(draw: st.DrawFn) -> TinyCluster:
    """Two or three pending pods, of which two or all go together."""
    tiny = draw(tiny_clusters(most_running=4, most_pending=3, least_pending=2))
    pending = [number for number, item in enumerate(tiny.pods) if item.node is None]
    number = draw(st.integers(2, len(pending)))
    return replace(tiny, together=(tuple(pending[:number]),))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters_with_groups())
def test_a_group_is_helped_whole_or_not_at_all(tiny: TinyCluster) -> None:
    """Help by importance and evictions are the best that leave no group in two; all of it proven."""
    request = request_for(tiny)
    answer = plan_make_room(request)
    helped, evictions = BruteForce(tiny).best()
    problem = room_problem(request)
    placed = {place.pod for place in answer.placements}
    assert all(len(placed.intersection(group)) in (0, len(group)) for group in request.together)
    assert help_vector(problem, placed) == helped
    assert (answer.value, answer.bound) == (evictions, evictions)
    assert answer.status is (Status.OPTIMAL if sum(helped) == answer.wanted else Status.INFEASIBLE)
    assert replay(problem, schedule_of(answer)) == []


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_running=5, most_pending=3, priorities=1), st.integers(0, 3), st.booleans())
def test_a_prize_limits_what_help_may_cost(tiny: TinyCluster, prize: int, is_together: bool) -> None:
    """Of one importance, as many pods are helped as makes the prizes less the evictions most; all of it proven."""
    pending = tuple(number for number, item in enumerate(tiny.pods) if item.node is None)
    tiny = replace(tiny, prize=prize, together=(pending,) if is_together else ())
    request = request_for(tiny)
    answer = plan_make_room(request)
    helped, evictions = BruteForce(tiny).most_worth()
    assert (answer.helped, answer.value, answer.bound) == (sum(helped), evictions, evictions)
    is_certain = answer.certificate is not None  # that not all can be helped at any price
    assert answer.status is (Status.INFEASIBLE if is_certain else Status.OPTIMAL)
    assert replay(room_problem(request), schedule_of(answer)) == []


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(most_running=5, most_pending=3))
def test_a_higher_prize_never_helps_fewer(tiny: TinyCluster) -> None:
    """With every eviction more that a pod is worth the plan helps as much or more, and never beyond no prize at all."""
    vectors = []
    for prize in (0, 1, 2, None):
        request = request_for(replace(tiny, prize=prize))
        answer = plan_make_room(request)
        assert prize is None or answer.value <= prize * answer.helped
        vectors.append(help_vector(room_problem(request), (place.pod for place in answer.placements)))
    assert vectors[2] <= vectors[3]
    assert vectors == sorted(vectors)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters_with_groups(), st.sampled_from((None, 1, 2)), st.randoms(use_true_random=False))
def test_names_and_order_of_nodes_do_not_matter(tiny: TinyCluster, prize: int | None, shuffler: Random) -> None:
    """The same cluster with its nodes in another order has as good a plan, with groups and a prize as well."""
    pods = tuple(replace(item, priority=0) for item in tiny.pods)
    tiny = replace(tiny, prize=prize, pods=pods)
    order = list(range(len(tiny.nodes)))
    shuffler.shuffle(order)
    moved = tuple(replace(item, node=None if item.node is None else order.index(item.node)) for item in pods)
    other = replace(tiny, nodes=tuple(tiny.nodes[number] for number in order), pods=moved)
    first, second = (plan_make_room(request_for(each)) for each in (tiny, other))
    assert (first.helped, first.value, first.bound) == (second.helped, second.value, second.bound)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters_with_groups(), st.sampled_from((None, None, 2)))
def test_more_time_never_makes_a_plan_worse(tiny: TinyCluster, prize: int | None) -> None:
    """A plan that had longer helps at least as much, and as much by no more evictions."""
    pods = tuple(replace(item, priority=0) for item in tiny.pods)
    tiny = replace(tiny, prize=prize, pods=pods)
    worth = 1000 if prize is None else prize
    answers = [plan_make_room(request_for(tiny, deadline_seconds=seconds)) for seconds in (0.0, 1.0, 20.0)]
    reached = [worth * answer.helped - answer.value for answer in answers]
    assert reached == sorted(reached)


def test_a_prize_leaves_out_what_costs_more_and_says_so() -> None:
    """Two evictions for one pod are worth it at a prize of two, and not at one."""
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="5"), *(pod(f"a-{n}", cpu="1", node="n1") for n in range(2)),
        *(pod(f"b-{n}", cpu="1", node="n2") for n in range(3)), pod("x-1", cpu="4"),
    )  # fmt: skip
    worth_it = plan_make_room(replace(request_of(state), prize=2))
    assert (worth_it.status, worth_it.helped, worth_it.value) == (Status.OPTIMAL, 1, 2)
    too_dear = plan_make_room(replace(request_of(state), prize=1))
    assert (too_dear.status, too_dear.helped, too_dear.moves) == (Status.OPTIMAL, 0, ())
    assert "proven: none of them can be helped by at most 1 eviction more each (prize)" in too_dear.message


def test_a_prize_counts_for_the_important_pods_first() -> None:
    """Both want the one node, where the less important one would leave more of its prize: importance decides."""
    here = (("kubernetes.io/hostname", "n1"),)
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="8"), *(pod(f"a-{n}", cpu="1", node="n1") for n in range(4)),
        pod("x-1", cpu="3", priority=10, node_selector=here), pod("y-1", cpu="2", node_selector=here),
    )  # fmt: skip
    answer = plan_make_room(replace(request_of(state), prize=3))
    assert ([state.pods[place.pod].name for place in answer.placements], answer.value) == (["x-1"], 3)
    cheap = plan_make_room(replace(request_of(state), prize=2))
    assert ([state.pods[place.pod].name for place in cheap.placements], cheap.value) == (["y-1"], 2)


def test_a_group_that_cannot_be_whole_leaves_its_room_to_others() -> None:
    """The pair does not fit, so the room of its first pod goes to the pod that stands alone."""
    state = cluster(node("n1", cpu="4"), pod("x-1", cpu="3"), pod("x-2", cpu="3"), pod("y-1", cpu="2"))
    pair = tuple(number for number, item in enumerate(state.pods) if item.name.startswith("x"))
    answer = plan_make_room(replace(request_of(state), helped_together=(pair,)))
    assert [state.pods[place.pod].name for place in answer.placements] == ["y-1"]
    assert "default/x-1, default/x-2 go together and are helped all or none" in answer.message
