"""What make room begins with: moves and places of earlier objectives, limits they used, nominations that stand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace as with_changes

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.make_room.opening import groups_helped_together
from rescheduler.planning.room_model.instance_builder import build_instance
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.scheduler_choice import close
from tests.builders import cluster, node, pod
from tests.unit.planning.asked import RoomRequest, plan_make_room, room_problem
from tests.unit.planning.brute_force import BruteForce, TinyCluster
from tests.unit.planning.planning_requests import index, moves_by_name, places_by_name, request_of
from tests.unit.planning.test_against_brute_force import schedule_of
from tests.unit.planning.tiny import request_for, tiny_clusters

GROUP = "scheduling.x-k8s.io/pod-group"


def after(request: RoomRequest, state: Cluster, **moved: str) -> RoomRequest:
    """The request once earlier objectives have sent pods (names with _ for -) to nodes."""
    start = request.placement.copy()
    names = {item.name: number for number, item in enumerate(state.nodes)}
    for name, target in moved.items():
        pod_index = index(state, name.replace("_", "-"))
        (start.move if start.node_of[pod_index] >= 0 else start.assume)(pod_index, names[target])
        start.settle()
    return replace(request, placement=start)


def five_node_state() -> Cluster:
    """Two cores are free on n1 and n3; x needs four."""
    return cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="2", node="n2"),
        pod("c-1", cpu="1", node="n2"), pod("d-1", cpu="2", node="n3"), pod("x-1", cpu="4"),
    )  # fmt: skip


def test_a_pod_that_has_moved_stays_where_it_is_now() -> None:
    """It is not moved twice, though the snapshot's node of it would be the cheapest to free."""
    state = five_node_state()
    request = after(request_of(state, fixed=["c-1"]), state, a_1="n3")
    answer = plan_make_room(request)
    assert moves_by_name(state, answer) == {}
    assert places_by_name(state, answer) == {"x-1": ("n1", 0)}
    back = after(request_of(state, fixed=["b-1", "c-1", "d-1"]), state, d_1="n1")
    assert plan_make_room(back).helped == 1
    stuck = after(request_of(state, fixed=["b-1", "c-1"]), state, d_1="n1")
    assert "d-1" not in moves_by_name(state, plan_make_room(stuck))


def test_earlier_moves_count_against_the_limits() -> None:
    """One eviction is left of two: enough for one pod, not for a plan of two."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), node("n4"), pod("a-1", cpu="1", node="n1"), pod("a-2", cpu="1", node="n1"),
        pod("b-1", cpu="3", node="n2"), pod("c-1", cpu="2", node="n3"), pod("d-1", cpu="1", node="n4"),
        pod("x-1", cpu="4"),
    )  # fmt: skip
    request = request_of(state, fixed=["b-1", "c-1"], limits=MoveLimits(max_evictions=2))
    assert plan_make_room(request).value == 1
    spent = after(request_of(state, fixed=["b-1", "c-1"], limits=MoveLimits(max_evictions=1)), state, d_1="n1")
    answer = plan_make_room(spent)
    assert (answer.helped, answer.value) == (1, 0)
    used = after(request_of(state, fixed=["b-1", "c-1"], limits=MoveLimits(max_evictions=1)), state, a_1="n4")
    assert plan_make_room(used).moves == ()
    assert plan_make_room(used).helped == 0


def test_moves_off_one_node_and_in_one_namespace_count_against_their_own_limits() -> None:
    """What was used on n1 is used there; n2 still has its own."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="1", node="n1"), pod("a-2", cpu="3", node="n1"),
        pod("b-1", cpu="3", node="n2"), pod("x-1", cpu="4"),
    )  # fmt: skip
    for limits in (MoveLimits(max_evictions_per_node=1), MoveLimits(max_evictions_per_namespace=2)):
        request = after(request_of(state, limits=limits), state, a_1="n2")
        answer = plan_make_room(request)
        assert answer.helped == 1
    spent = after(request_of(state, limits=MoveLimits(max_evictions_per_namespace=1)), state, a_1="n2")
    assert plan_make_room(spent).moves == ()


def test_a_pod_that_has_its_place_already_waits_no_more() -> None:
    """It is neither wanted nor helped again, and its room is taken."""
    state = cluster(node("n1"), pod("x-1", cpu="3"), pod("y-1", cpu="2"))
    answer = plan_make_room(after(request_of(state), state, x_1="n1"))
    assert (answer.wanted, answer.helped, answer.status) == (1, 0, Status.INFEASIBLE)


def test_a_closed_node_receives_nothing_and_proofs_still_hold() -> None:
    """Nodes that earlier objectives keep empty have no room; all the same the plan is proven best."""
    state = cluster(
        node("n0"), *(node(f"n{n}") for n in range(1, 4)), *(pod(f"a-{n}", cpu="2", node=f"n{n}") for n in range(1, 4)),
        pod("x-1", cpu="4"),
    )  # fmt: skip
    request = request_of(state)
    assert places_by_name(state, plan_make_room(request)) == {"x-1": ("n0", 0)}
    start = request.placement.copy()
    close(start, [0])
    answer = plan_make_room(replace(request, placement=start))
    assert (answer.status, answer.value, answer.bound) == (Status.OPTIMAL, 1, 1)
    assert build_instance(room_problem(replace(request, placement=start)), np.arange(4)).is_exact


@pytest.mark.parametrize(("owing", "taken"), [("web-1", "api-1"), ("api-1", "web-1")])
def test_a_workload_that_is_not_waited_for_is_taken_first(owing: str, taken: str) -> None:
    """Either pod would do: the one is taken whose workload has all its replacements."""
    state = cluster(
        node("n1", cpu="2"), node("n2", cpu="2"), node("n3", cpu="1"),
        pod("web-1", node="n1", cpu="1"), pod("api-1", node="n2", cpu="1"), pod("big", cpu="2"),
    )  # fmt: skip
    request = request_of(state)
    eligibility = with_changes(request.eligibility, owing=frozenset({index(state, owing)}))
    answer = plan_make_room(replace(request, eligibility=eligibility))
    assert set(moves_by_name(state, answer)) == {taken}
    assert set(places_by_name(state, answer)) == {"big"}


def test_a_nominated_pod_keeps_its_room_and_needs_no_help() -> None:
    """The scheduler waits for pods to end there: nobody is evicted for it, and nobody is sent to its room."""
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="4"), pod("gone-1", cpu="4", node="n1", deletion_at=1.0),
        pod("b-1", cpu="2", node="n2"), pod("x-1", cpu="4", nominated_node="n1"), pod("y-1", cpu="3"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, fixed=["gone-1"]))
    assert (answer.wanted, answer.helped, answer.moves) == (1, 0, ())
    assert "only waits for pods to end there: default/x-1 on n1" in answer.message


def test_a_nominated_pod_that_fits_goes_to_its_node() -> None:
    """The scheduler tries the nominated node first; an emptier one does not count."""
    state = cluster(
        node("n1", cpu="8"), node("n2", cpu="8"), pod("a-1", cpu="5", node="n1"), pod("x-1", nominated_node="n1")
    )
    assert places_by_name(state, plan_make_room(request_of(state))) == {"x-1": ("n1", 0)}


def test_a_stale_nomination_is_no_place() -> None:
    """Nobody ends on the node, so the pod needs help like any other."""
    state = cluster(
        node("n1"), node("n2"), pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="2", node="n2"),
        pod("x-1", cpu="4", nominated_node="n1"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert (answer.wanted, answer.helped, answer.value) == (1, 1, 1)


def test_groups_are_read_from_labels_of_pending_pods() -> None:
    """PodGroups always, and the policy's label; of one namespace, and no pod that runs."""
    state = cluster(
        node("n1"), pod("a-1", labels={GROUP: "g"}), pod("a-2", labels={GROUP: "g"}),
        pod("a-3", labels={GROUP: "g"}, node="n1"), pod("b-1", labels={"job": "j"}), pod("b-2", labels={"job": "j"}),
        pod("c-1", labels={"job": "j"}, namespace="other"),
    )  # fmt: skip
    names = [{state.pods[pod].name for pod in group} for group in groups_helped_together(state, "job")]
    assert sorted(map(sorted, names)) == [["a-1", "a-2"], ["b-1", "b-2"]]
    assert [{state.pods[pod].name for pod in group} for group in groups_helped_together(state)] == [{"a-1", "a-2"}]


def test_a_group_with_a_pod_that_may_not_be_helped_is_left_out_whole() -> None:
    """A gated member makes the group impossible; the message says whom that leaves out."""
    state = cluster(node("n1"), pod("a-1"), pod("a-2", scheduling_gates=("wait",)), pod("b-1"))
    request = request_of(state)
    may = tuple(pod for pod in request.eligibility.helpable if state.pods[pod].name != "a-2")
    request = replace(
        request,
        eligibility=with_changes(request.eligibility, helpable=may),
        helped_together=((index(state, "a-1"), index(state, "a-2")),),
    )
    answer = plan_make_room(request)
    assert set(places_by_name(state, answer)) == {"b-1"}
    assert (answer.status, answer.helped, answer.wanted) == (Status.INFEASIBLE, 1, 2)
    assert "default/a-1, which go together with pods that may not be helped" in answer.message


def test_all_or_nothing_helps_nobody_where_one_cannot_be() -> None:
    """A pod that fits already gets no place while another of the lot is left."""
    state = cluster(node("n1", cpu="4"), pod("x-1", cpu="1"), pod("y-1", cpu="9"))
    assert plan_make_room(request_of(state)).helped == 1
    answer = plan_make_room(replace(request_of(state), all_or_nothing=True))
    assert (answer.helped, answer.placements, answer.moves, answer.status) == (0, (), (), Status.INFEASIBLE)
    assert "go together and are helped all or none" in answer.message


@st.composite
def clusters_after_moves(draw: st.DrawFn) -> tuple[TinyCluster, TinyCluster, dict[int, int]]:
    """A snapshot, the cluster as earlier moves leave it (moved pods fixed, limits net), and those moves."""
    tiny = draw(tiny_clusters(most_running=5, most_pending=2))
    free = [item.cores - sum(p.cores for p in tiny.pods if p.node == number) for number, item in enumerate(tiny.nodes)]
    moved: dict[int, int] = {}
    for number, item in enumerate(tiny.pods):
        target = draw(st.integers(0, len(tiny.nodes) - 1))
        has_room = item.node is not None and target != item.node and free[target] >= item.cores
        if item.node is not None and has_room and item.is_movable and draw(st.booleans()):
            free[target] -= item.cores
            free[item.node] += item.cores
            moved[number] = target
    pods = tuple(
        replace(item, node=moved[number], is_movable=False) if number in moved else item
        for number, item in enumerate(tiny.pods)
    )
    cap = tiny.max_evictions
    then = replace(tiny, pods=pods, max_evictions=None if cap is None else max(0, cap - len(moved)))
    return tiny, then, moved


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(clusters_after_moves())
def test_a_start_after_other_moves_is_as_good_as_a_snapshot_of_it(
    case: tuple[TinyCluster, TinyCluster, dict[int, int]],
) -> None:
    """Planning on from earlier moves reaches what planning on their result would, with what is left of the limits."""
    tiny, then, moved = case
    request = request_for(tiny)
    start = request.placement.copy()
    by_name = {pod.name: number for number, pod in enumerate(start.columns.cluster.pods)}
    for number, target in moved.items():
        start.move(by_name[f"{tiny.pods[number].workload}-{number:02d}"], target)
    start.settle()
    request = replace(request, placement=start)
    answer = plan_make_room(request)
    helped, evictions = BruteForce(then).best()
    assert (answer.helped, answer.value, answer.bound) == (sum(helped), evictions, evictions)
    assert replay(room_problem(request), schedule_of(answer)) == []
