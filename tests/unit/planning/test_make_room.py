"""What the make-room planner promises, case by case."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import PodAffinityTerm, Toleration, TopologySpreadConstraint
from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.model.plan.plan import Status
from tests.builders import cluster, node, pod, selector, taint
from tests.unit.planning.asked import plan_make_room
from tests.unit.planning.planning_requests import index, moves_by_name, places_by_name, request_of

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"


def test_no_pending_pod_needs_no_plan() -> None:
    """Nothing to help is an optimal answer without moves."""
    answer = plan_make_room(request_of(cluster(node("n1"), pod("a-1", node="n1"))))
    assert (answer.status, answer.value, answer.bound, answer.wanted) == (Status.OPTIMAL, 0, 0, 0)
    assert answer.message == "no pending pod is to be helped"


def test_a_pod_that_fits_already_is_placed_in_wave_0() -> None:
    """Every pending pod that gets a place is listed, also one that needs no move."""
    state = cluster(node("n1"), pod("a-1", cpu="1", node="n1"), pod("x-1", cpu="2"))
    answer = plan_make_room(request_of(state))
    assert answer.moves == ()
    assert places_by_name(state, answer) == {"x-1": ("n1", 0)}


def test_one_eviction_makes_room_and_is_proven_least() -> None:
    """The moved pod goes where it fits, the pending one takes its room when the wave has ended."""
    state = cluster(
        node("n1"), node("n2"), pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="2", node="n2"),
        pod("b-2", cpu="1", node="n2"), pod("x-1", cpu="3"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert (answer.status, answer.value, answer.bound, answer.gap) == (Status.OPTIMAL, 1, 1, 0.0)
    assert moves_by_name(state, answer) == {"b-1": ("n1", 1)}
    assert places_by_name(state, answer) == {"x-1": ("n2", 1)}
    assert answer.moves[0].reason == "makes room for default/x-1 on n2: frees 2 cpu, 1Gi memory"


def test_a_chain_moves_the_small_pod_first() -> None:
    """A pod that fits nowhere today moves into the room that another leaves, one wave later."""
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="4", taints=[taint("pool")]), node("n3", cpu="2", taints=[taint("pool")]),
        pod("big-1", cpu="3", node="n1", tolerations=(Toleration("pool", "Exists"),)),
        pod("fixed-1", cpu="1", node="n1"),
        pod("small-1", cpu="2", node="n2", tolerations=(Toleration("pool", "Exists"),)),
        pod("x-1", cpu="3"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, fixed=["fixed-1"]))
    assert (answer.status, answer.value) == (Status.OPTIMAL, 2)
    assert moves_by_name(state, answer) == {"small-1": ("n3", 1), "big-1": ("n2", 2)}
    assert places_by_name(state, answer) == {"x-1": ("n1", 2)}
    assert "which moves in turn" in answer.moves[0].reason


def test_two_full_nodes_cannot_swap_pods() -> None:
    """Pods arrive before they depart: an end state that needs a swap without room is no plan, and that is proven."""
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="3"), pod("a-1", cpu="3", node="n1"), pod("b-1", cpu="2", node="n2"),
        pod("x-1", cpu="2"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert (answer.status, answer.helped, answer.value) == (Status.INFEASIBLE, 0, 0)
    assert "proven by exhaustive search" in answer.message


def test_two_pending_pods_of_different_shapes_are_helped_together() -> None:
    """The joint optimum counts: the pod that fits already leaves its room to the one that fits nowhere else."""
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="4"), pod("a-1", cpu="2", node="n2"),
        pod("x-1", cpu="2"), pod("y-1", cpu="4"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert (answer.status, answer.value) == (Status.OPTIMAL, 0)
    assert places_by_name(state, answer) == {"x-1": ("n2", 0), "y-1": ("n1", 0)}


def test_the_more_important_pod_is_helped_where_only_one_can_be() -> None:
    """Priority decides who is helped; the message names the other with the scheduler's reasons."""
    state = cluster(node("n1", cpu="4"), pod("low-1", cpu="3"), pod("high-1", cpu="4", priority=10))
    answer = plan_make_room(request_of(state))
    assert (answer.status, answer.helped, answer.wanted) == (Status.INFEASIBLE, 1, 2)
    assert list(places_by_name(state, answer)) == ["high-1"]
    assert "not helped: default/low-1" in answer.message


def test_one_important_pod_counts_more_than_many_others() -> None:
    """Help is counted priority by priority, not in sum."""
    state = cluster(
        node("n1", cpu="4"), pod("low-1", cpu="2"), pod("low-2", cpu="2"), pod("high-1", cpu="3", priority=1)
    )
    answer = plan_make_room(request_of(state))
    assert list(places_by_name(state, answer)) == ["high-1"]


def test_infeasible_comes_with_a_certificate_in_numbers() -> None:
    """A linear programme proves that no rearrangement helps, and no pod is moved for nothing."""
    state = cluster(
        node("n1"), node("n2"), pod("a-1", cpu="3", node="n1"), pod("b-1", cpu="3", node="n2"), pod("x-1", cpu="4")
    )
    answer = plan_make_room(request_of(state))
    assert (answer.status, answer.helped, answer.moves) == (Status.INFEASIBLE, 0, ())
    assert answer.certificate is not None
    assert answer.certificate["kind"] == "LinearProgramme"
    assert answer.certificate["atMost"] < 1
    assert "a node must be added" in answer.message


def test_a_pod_larger_than_every_node_says_so() -> None:
    """No eviction can help it."""
    answer = plan_make_room(request_of(cluster(node("n1"), pod("a-1", node="n1"), pod("x-1", cpu="9"))))
    assert answer.status is Status.INFEASIBLE
    assert "larger than every node" in answer.message


def test_the_limit_that_binds_is_named() -> None:
    """Where more evictions would help, the cap on them is to blame."""
    state = cluster(
        node("n1", cpu="4"), node("n2", cpu="5"), *(pod(f"a-{n}", cpu="1", node="n1") for n in range(2)),
        *(pod(f"b-{n}", cpu="1", node="n2") for n in range(3)), pod("x-1", cpu="4"),
    )  # fmt: skip
    free = plan_make_room(request_of(state))
    bound = plan_make_room(request_of(state, limits=MoveLimits(max_evictions=1)))
    assert (free.status, free.value) == (Status.OPTIMAL, 2)
    assert (bound.status, bound.helped, bound.moves) == (Status.INFEASIBLE, 0, ())
    assert bound.binding_limits == ("limits.maxEvictions (1)",)
    assert "limits.maxEvictions (1) binds: 2 evictions would help 1 of 1" in bound.message


@pytest.mark.parametrize(
    "limits",
    [MoveLimits(max_evictions_per_node=1), MoveLimits(max_evictions_per_namespace=1), MoveLimits(max_evictions=0)],
)
def test_limits_bind_the_whole_plan(limits: MoveLimits) -> None:
    """Two evictions from one node and namespace would be needed; a cap below that leaves the pod pending."""
    state = cluster(
        node("n1", cpu="2"), node("n2", cpu="4"), pod("a-1", cpu="1", node="n1"), pod("a-2", cpu="1", node="n1"),
        pod("b-1", cpu="2", node="n2", namespace="other"), pod("x-1", cpu="2", node_selector=((HOST, "n1"),)),
    )  # fmt: skip
    assert plan_make_room(request_of(state)).value == 2
    assert plan_make_room(request_of(state, limits=limits)).helped == 0


def test_a_budget_without_allowance_is_planned_around() -> None:
    """Pods of a group that allows nothing stay; another pod moves, though that costs more."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="1", node="n2"),
        pod("b-2", cpu="1", node="n2"), pod("c-1", cpu="1", node="n2"),
        pod("d-1", cpu="2", node="n3"), pod("x-1", cpu="4"),
    )  # fmt: skip
    group = DisruptionGroup("PodDisruptionBudget", "default/a", 0, (index(state, "a-1"), index(state, "d-1")))
    answer = plan_make_room(request_of(state, groups=[group]))
    assert (answer.status, answer.value) == (Status.OPTIMAL, 3)
    assert set(moves_by_name(state, answer)) == {"b-1", "b-2", "c-1"}


def test_a_budget_of_one_spreads_its_pods_over_waves() -> None:
    """An allowance binds each wave, so replicas of one budget take turns."""
    state = cluster(
        node("n1"), node("n2"), *(pod(f"a-{n}", cpu="2", node="n1") for n in range(2)),
        pod("x-1", cpu="4", node_selector=((HOST, "n1"),)),
    )  # fmt: skip
    pods = (index(state, "a-0"), index(state, "a-1"))
    together = plan_make_room(request_of(state, groups=[DisruptionGroup("PodDisruptionBudget", "default/a", 2, pods)]))
    in_turn = plan_make_room(request_of(state, groups=[DisruptionGroup("PodDisruptionBudget", "default/a", 1, pods)]))
    assert [move.wave for move in together.moves] == [1, 1]
    assert [move.wave for move in in_turn.moves] == [1, 2]
    assert places_by_name(state, in_turn) == {"x-1": ("n1", 2)}


def test_anti_affinity_decides_who_moves_and_where() -> None:
    """The victim may not join a pod that it keeps away from; the only other node takes it."""
    apart = (PodAffinityTerm(HOST, selector(app="a")),)
    state = cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="1", node="n1", anti_affinity=apart),
        pod("big-1", cpu="3", node="n1"),
        pod("a-2", cpu="1", node="n2", anti_affinity=apart), pod("c-1", cpu="2", node="n3"),
        pod("d-1", cpu="2", node="n2"),
        pod("x-1", cpu="1", node_selector=((HOST, "n1"),)),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, fixed=["big-1"]))
    assert (answer.status, answer.value) == (Status.OPTIMAL, 1)
    assert moves_by_name(state, answer) == {"a-1": ("n3", 1)}


def test_zone_spread_decides_who_moves() -> None:
    """Moving the replica would make its spread too uneven, so two other pods move instead of it."""
    even = (TopologySpreadConstraint(ZONE, 1, selector=selector(app="s")),)
    state = cluster(
        node("n1", zone="a"), node("n2", zone="b"), node("n3", zone="b"),
        pod("s-1", cpu="2", node="n1", topology_spread=even), pod("s-2", cpu="2", node="n2", topology_spread=even),
        pod("p-1", cpu="1", node="n1"), pod("p-2", cpu="1", node="n1"), pod("q-1", cpu="2", node="n3"),
        pod("x-1", cpu="2", node_selector=((HOST, "n1"),)),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert (answer.status, answer.value) == (Status.OPTIMAL, 2)
    assert set(moves_by_name(state, answer)) == {"p-1", "p-2"}


def test_a_taint_keeps_victims_off_a_free_node() -> None:
    """Room on a tainted node is no room for a pod that does not tolerate it."""
    state = cluster(
        node("n1"), node("n2", taints=[taint("gpu")]), pod("a-1", cpu="4", node="n1"), pod("x-1", cpu="2"),
    )  # fmt: skip
    assert plan_make_room(request_of(state)).status is Status.INFEASIBLE
    tolerant = cluster(
        *state.nodes, pod("a-1", cpu="4", node="n1", tolerations=(Toleration("gpu", "Exists"),)), pod("x-1", cpu="2"),
    )  # fmt: skip
    assert moves_by_name(tolerant, plan_make_room(request_of(tolerant))) == {"a-1": ("n2", 1)}


def test_pending_replicas_that_keep_apart_get_nodes_of_their_own() -> None:
    """Helped pods bind each other, too."""
    apart = (PodAffinityTerm(HOST, selector(app="x")),)
    state = cluster(
        node("n1"), node("n2"), node("n3"), *(pod(f"a-{n}", cpu="2", node=f"n{n}") for n in (1, 2)),
        *(pod(f"x-{n}", cpu="2", anti_affinity=apart) for n in range(3)),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert (answer.status, answer.value) == (Status.OPTIMAL, 0)
    assert {place for place, _ in places_by_name(state, answer).values()} == {"n1", "n2", "n3"}


def test_equal_plans_prefer_the_cheaper_pod() -> None:
    """Of two pods whose move would help as much, the less important one moves."""
    state = cluster(
        node("n1"), node("n2"), node("n3"), pod("a-1", cpu="2", node="n1", priority=2_000_000),
        pod("b-1", cpu="2", node="n2"), pod("c-1", cpu="2", node="n3"), pod("x-1", cpu="4"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, fixed=["c-1"]))
    assert set(moves_by_name(state, answer)) == {"b-1"}


def test_amounts_are_exact_to_the_byte() -> None:
    """A fit that leaves not one byte is a fit, and one that lacks a byte is none."""
    state = cluster(
        node("n1", memory="1048577"), node("n2", memory="1048575"), pod("a-1", memory="1048575", cpu="0", node="n1"),
        pod("x-1", memory="1048577", cpu="0"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state))
    assert moves_by_name(state, answer) == {"a-1": ("n2", 1)}
    short = cluster(node("n1", memory="1048577"), node("n2", memory="1048574"), *state.pods)
    assert plan_make_room(request_of(short)).status is Status.INFEASIBLE


def test_an_overcommitted_node_binds_only_what_asks_for_more() -> None:
    """A node that holds more than it offers may still take a pod that asks for nothing of that resource."""
    state = cluster(node("n1", cpu="1"), pod("a-1", cpu="2", node="n1"), pod("x-1", cpu="0", memory="1Gi"))
    answer = plan_make_room(request_of(state, fixed=["a-1"]))
    assert places_by_name(state, answer) == {"x-1": ("n1", 0)}


def test_the_same_question_has_the_same_answer() -> None:
    """Seeded and without a look at the clock, a plan is repeatable."""
    state = cluster(
        *(node(f"n{n}") for n in range(6)), *(pod(f"a-{n}", cpu="2", node=f"n{n % 6}") for n in range(10)),
        *(pod(f"x-{n}", cpu="3") for n in range(2)),
    )  # fmt: skip
    assert plan_make_room(request_of(state, seed=7)) == plan_make_room(request_of(state, seed=7))


def test_no_time_still_gives_a_plan_that_stands() -> None:
    """A deadline of zero leaves what needs no search: a pod that fits already gets its place."""
    state = cluster(
        node("n1"), node("n2"), pod("a-1", cpu="2", node="n1"), pod("b-1", cpu="1", node="n2"),
        pod("x-1", cpu="1"), pod("y-1", cpu="4"),
    )  # fmt: skip
    answer = plan_make_room(request_of(state, deadline_seconds=0.0))
    assert answer.helped >= 1
    assert answer.status in (Status.FEASIBLE, Status.OPTIMAL)
    assert answer.bound <= answer.value
