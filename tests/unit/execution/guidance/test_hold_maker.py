"""Placeholders are as large as needed, no larger than that, and of the right priority."""

from __future__ import annotations

from rescheduler.execution.guidance.hold_maker import (
    HeldRoom,
    HoldMaker,
    enlarged,
    fits,
    free_room,
    is_placeholder,
    needed_holds,
    take,
    without_placeholders,
)
from rescheduler.model.objects.annotations import HOLD_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.resources import resources
from rescheduler.model.plan.plan import Plan
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import chain, chained, fragmented, plan_of, two_moves


def holds_of(plan: Plan, start: Cluster, seconds: float = 60) -> list[HeldRoom]:
    """The placeholders of a plan that keeps all its destinations, as one of several moves does."""
    destinations = plan.moves if len(plan.moves) > 1 else ()
    return needed_holds(plan, start, HoldMaker(plan, start, "p", seconds), destinations)


def test_a_single_move_needs_no_placeholder_of_its_own() -> None:
    """Only the pending pod's hole is kept: nobody competes for the moved pod's room."""
    start = fragmented()
    holds = holds_of(plan_of(start, [("web-00", "n1", 1)], [("big-0", "n0", 1)]), start)
    assert [(hold.pod.name, hold.request.node) for hold in holds] == [("big-0", "n0")]
    assert dict(holds[0].request.requests)["cpu"] == 2500


def test_several_moves_do_not_take_each_others_room() -> None:
    """Every destination is kept; only the pending pod's hole is made by the plan itself."""
    start = fragmented()
    holds = holds_of(two_moves(start), start)
    assert [(hold.pod.name, hold.request.node) for hold in holds] == [
        ("big-0", "n0"),
        ("web-00", "n1"),
        ("web-01", "n2"),
    ]
    assert [hold.is_made_by_plan for hold in holds] == [True, False, False]


def test_chained_moves_keep_their_destinations() -> None:
    """The second wave's room exists only after the first wave, so it is kept like the pending pod's."""
    start = chained()
    holds = holds_of(chain(start), start)
    made = [(hold.pod.name, hold.request.node) for hold in holds if hold.is_made_by_plan]
    assert made == [("big-0", "n0"), ("mid-0", "n1")]


def test_a_hole_larger_than_its_pod_is_closed_to_the_pods_that_left_it() -> None:
    """Where ports, affinity or spread forced the move, the placeholder is so large that none of them returns."""
    start = cluster(
        node("n0", "8"), node("n1", "8"), pod("web-0", "3", node="n0", ports=[80]), pod("big-0", "1", ports=[80]),
        workload("web", 1), workload("big", 1),
    )  # fmt: skip
    plan = plan_of(start, [("web-0", "n1", 1)], [("big-0", "n0", 1)])
    request = holds_of(plan, start)[0].request
    room = free_room(start, "n0")
    take(room, start.pod_by_key["default/web-0"].spec.requests, -1)
    take(room, request.requests)
    assert not fits(room, start.pod_by_key["default/web-0"].spec.requests)
    assert dict(request.requests)["cpu"] == 8000 - 3000 + 1


def test_the_highest_priority_involved_keeps_the_hole() -> None:
    """Else the replacement of a more important pod would take it."""
    start = cluster(
        node("n0", "2"), node("n1", "2"),
        pod("web-0", "2", node="n0", priority=100, priority_class_name="high"), pod("big-0", "2"),
        workload("web", 1), workload("big", 1),
    )  # fmt: skip
    plan = plan_of(start, [("web-0", "n1", 1)], [("big-0", "n0", 1)])
    assert holds_of(plan, start)[0].request.priority_class_name == "high"


def test_a_hole_is_kept_from_the_other_pending_pods_too() -> None:
    """One of a higher priority, whose own place is elsewhere, would not mind a hold of a lower one."""
    start = cluster(
        *(node(name, "4") for name in ("n0", "n1", "n2", "n3")),
        pod("web-0", "3", node="n0"), pod("web-1", "3", node="n1"), workload("web", 2),
        pod("low-0", "2"), pod("high-0", "2", priority=9, priority_class_name="high"),
    )  # fmt: skip
    plan = plan_of(start, [("web-0", "n2", 1), ("web-1", "n3", 1)], [("low-0", "n0", 1), ("high-0", "n1", 1)])
    assert {hold.request.priority_class_name for hold in holds_of(plan, start)} == {"high"}
    plan = plan_of(start, [("web-0", "n2", 1)], [("low-0", "n0", 1), ("high-0", "n3", 0)])
    assert {hold.request.priority_class_name for hold in holds_of(plan, start)} == {""}


def test_a_pod_that_fits_already_needs_no_placeholder() -> None:
    """Wave 0: nothing has to leave for it."""
    start = fragmented()
    plan = plan_of(start, [("web-00", "n1", 1)], [("big-0", "n0", 0)])
    assert holds_of(plan, start) == []


def test_deadlines_are_whole_seconds_and_at_least_one() -> None:
    """As Kubernetes wants them; never longer than asked for."""
    start = fragmented()
    assert holds_of(two_moves(start), start, 7.9)[0].request.deadline_seconds == 7
    assert holds_of(two_moves(start), start, 0.2)[0].request.deadline_seconds == 1


def test_only_our_own_placeholders_are_taken_out_of_a_snapshot() -> None:
    """Another tool's pod with our label, or another gate, stays."""
    ours = pod(
        "hold-x", namespace="rescheduler-holds", labels={"app.kubernetes.io/managed-by": "rescheduler"},
        scheduling_gates=(HOLD_GATE,),
    )  # fmt: skip
    labelled = pod("labelled-0", labels={"app.kubernetes.io/managed-by": "rescheduler"})
    gated = pod("gated-0", scheduling_gates=("example.com/gate",))
    start = cluster(node("n0"), ours, labelled, gated)
    assert is_placeholder(ours)
    assert [item.name for item in without_placeholders(start).pods] == ["gated-0", "labelled-0"]


def test_a_node_that_is_gone_has_no_room() -> None:
    """It may vanish amid a plan; whoever asks for its room is not the one to fall over it."""
    assert not fits(free_room(cluster(node("n0", "4")), "gone"), resources([("cpu", 1)]))


def test_a_pod_with_our_gate_that_others_made_stays() -> None:
    """As does one with our label behind another gate: it takes both."""
    foreign = pod("foreign-0", scheduling_gates=(HOLD_GATE,))
    labelled = pod(
        "labelled-0", labels={"app.kubernetes.io/managed-by": "rescheduler"}, scheduling_gates=("example.com/gate",)
    )
    assert [is_placeholder(foreign), is_placeholder(labelled)] == [False, False]


def test_a_taint_counts_as_large_as_the_largest_node() -> None:
    """It closes a node for every scheduler's pods, and is for no pod."""
    start = fragmented()
    maker = HoldMaker(two_moves(start), start, "p", 60)
    found = maker.taint("n3")
    assert (found.is_taint, found.pod, found.request.node, found.request.scheduler_name) == (True, None, "n3", "")
    assert found.request.requests == maker.full
    assert dict(maker.full) == {name: amount for name, amount in start.nodes[0].allocatable if name != "pods"}


def test_a_node_is_closed_for_nobody_in_particular() -> None:
    """No room that the plan makes."""
    start = fragmented()
    [found] = HoldMaker(two_moves(start), start, "p", 60).closing("n3", resources([("cpu", 5)]))
    assert (found.pod, found.is_made_by_plan, found.is_taint) == (None, False, False)
    assert HeldRoom(None, found.request) == found


def test_room_is_made_by_a_plan_only_where_somebody_leaves_before() -> None:
    """The pending pod comes after the first wave; those that leave its node in the second make no room for it."""
    start = fragmented()
    plan = plan_of(start, [("web-00", "n3", 1), ("web-10", "n3", 2)], [("big-0", "n1", 1)])
    [found] = needed_holds(plan, start, HoldMaker(plan, start, "p", 60), ())
    assert not found.is_made_by_plan


def test_each_pod_takes_one_place_besides_its_requests() -> None:
    """Of a room that may have none of a resource, and gives it back."""
    room = {"pods": 1}
    assert fits(room, ())
    take(room, resources([("cpu", 5)]))
    assert room == {"pods": 0, "cpu": -5}
    assert not fits(room, ())
    take(room, resources([("cpu", 5)]), -1)
    assert room == {"pods": 1, "cpu": 0}


def test_what_keeps_one_pod_out_keeps_larger_ones_out_too() -> None:
    """It is enlarged by no more than that."""
    room = {"cpu": 4000, "memory": 1 << 40, "pods": 100}
    small, large = pod("a-0", "1"), pod("b-0", "2")
    assert dict(enlarged((), room, [small, large])) == {"cpu": 3001}
    assert room["cpu"] == 999


def test_a_pod_is_kept_out_by_what_it_asks_for() -> None:
    """One that asks for neither CPU nor memory by its device; one that asks for nothing by nothing."""
    room = {"cpu": 4000, "memory": 1 << 40, "pods": 100, "example.com/gpu": 3}
    guest = pod("a-0", "0", "0", extended={"example.com/gpu": "1"})
    assert dict(enlarged((), room, [pod("none-0", "0", "0"), guest])) == {"example.com/gpu": 3}
