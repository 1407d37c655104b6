"""Defragment keeps to rules, orders, earlier objectives and time."""

from __future__ import annotations

from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.objects.resources import PODS
from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.model.plan.plan import Status
from tests.builders import cluster, node, pod, selector
from tests.unit.planning.asked import plan_defragment
from tests.unit.planning.objectives.defragment.cases import Deserted, answered, larger, scattered
from tests.unit.planning.objectives.defragment.questions import moves_by_name, question, shape
from tests.unit.planning.tiny import HOST


def test_earlier_objectives_are_not_made_worse() -> None:
    """A guard's node receives nobody, though it has the room."""
    made = cluster(node("a"), node("b", cpu="9"), pod("x-0", cpu="1", node="a"))
    _, free = answered(made, shape(cpu="4"))
    _, guarded = answered(made, shape(cpu="4"), guards=(Deserted(made, "b"),))
    assert (free.value, len(free.moves)) == (3.0, 1)
    assert (guarded.value, guarded.moves) == (2.0, ())


def test_earlier_objectives_bind_on_larger_clusters_too() -> None:
    """Other nodes are used, and the guarded one is left alone."""
    made = larger()
    limits = MoveLimits(max_evictions=12)
    asked, answer = answered(made, shape(cpu="8"), limits=limits, guards=(Deserted(made, "n05"),))
    assert answer.value >= 2
    assert "n05" not in moves_by_name(asked, answer).values()


def test_arrivals_come_before_departures() -> None:
    """Two full nodes that could only swap their pods do not: neither has room first."""
    made = cluster(
        node("a", cpu="4"),
        node("b", cpu="4"),
        pod("x-0", cpu="3", node="a"),
        pod("y-0", cpu="3", node="b"),
    )
    _, answer = answered(made, shape(cpu="2"))
    assert answer.moves == ()


def test_a_chain_is_ordered() -> None:
    """Where a node must first give room to what another gives up, the waves say so."""
    made = cluster(
        node("a", cpu="4"),
        node("b", cpu="4"),
        node("c", cpu="1"),
        pod("large-0", cpu="2", node="a"),
        pod("fixed-0", cpu="2", node="b"),
        pod("small-0", cpu="1", node="b"),
    )
    asked, answer = answered(made, shape(cpu="4"), fixed=["fixed-0"])
    assert answer.value == 1
    waves = {asked.prediction.columns.cluster.pods[move.pod].name: move.wave for move in answer.moves}
    assert waves == {"small-0": 1, "large-0": 2}


def test_groups_take_turns() -> None:
    """A budget of one pod makes each move a wave of its own."""
    group = DisruptionGroup("PodDisruptionBudget", "default/web", 1, (0, 1, 2))
    _, answer = answered(scattered(), shape(cpu="4"), groups=[group])
    assert [move.wave for move in answer.moves] == [1, 2]


def test_filters_bind() -> None:
    """Pods that keep apart, or may go nowhere else, are not joined."""
    conflicts = (PodAffinityTerm(HOST, selector(app="web")),)
    made = cluster(
        *(node(f"n{n}") for n in range(3)),
        *(pod(f"web-{n}", cpu="1", node=f"n{n}", anti_affinity=conflicts) for n in range(3)),
    )
    _, answer = answered(made, shape(cpu="4"))
    assert answer.moves == ()
    tied = cluster(
        *(node(f"n{n}") for n in range(2)),
        *(
            pod(f"web-{n}", cpu="1", node=f"n{n}", node_selector=(("kubernetes.io/hostname", f"n{n}"),))
            for n in range(2)
        ),
    )
    _, answer = answered(tied, shape(cpu="4"))
    assert answer.moves == ()


def test_without_guidance_only_what_the_scheduler_does_by_itself() -> None:
    """Where the scheduler would send a pod back nothing is proposed; the move to a node that it likes better is."""
    _, stay = answered(scattered(), shape(cpu="4"), is_guided_by_holds=False)
    assert stay.moves == ()
    made = cluster(node("a"), node("b", cpu="31"), pod("x-0", cpu="1", node="a"))
    asked, go = answered(made, shape(cpu="4"), is_guided_by_holds=False)
    assert moves_by_name(asked, go) == {"x-0": "b"}
    assert not any(move.needs_guidance for move in go.moves)


def test_same_seed_same_plan() -> None:
    """The plan follows from the question."""
    first, second = (plan_defragment(question(larger()), [shape(cpu="4")]) for _ in range(2))
    assert first == second


def test_larger_clusters_are_planned_by_columns_of_options() -> None:
    """Beyond the exact model the plan still reaches its own bound, or nearly."""
    _, answer = answered(larger(), shape(cpu="8"), limits=MoveLimits(max_evictions=20))
    assert answer.value >= 0.8 * (answer.bound or 0)
    assert 0 < len(answer.moves) <= 20


def test_time_that_is_up_at_once_gives_an_empty_plan_with_a_true_bound() -> None:
    """No time, no moves; the bound holds all the same."""
    asked = question(larger(), deadline_seconds=0.0)
    answer = plan_defragment(asked, [shape(cpu="8")])
    assert answer.moves == ()
    assert answer.status is Status.UNKNOWN
    full = plan_defragment(question(larger()), [shape(cpu="8")])
    assert answer.bound is not None
    assert answer.bound >= full.value


def test_pod_slots_can_be_the_scarce_resource() -> None:
    """Tiny pods that fill a node's slots leave it."""
    made = cluster(
        node("a", pods=1),
        node("b", pods=9),
        pod("x-0", cpu="1m", memory="1Mi", node="a"),
        pod("y-0", cpu="3999m", node="b"),
    )
    asked, answer = answered(made, shape(cpu="2"), fixed=["y-0"])
    assert dict(made.nodes[0].allocatable)[PODS] == 1
    assert moves_by_name(asked, answer) == {"x-0": "b"}
