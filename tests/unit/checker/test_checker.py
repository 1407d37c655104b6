"""Tests that every kind of wrong plan is caught, by changing a right one in one respect."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest
from msgspec import UNSET

from rescheduler.checker.checker import check_plan, check_rest
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.model.plan.plan import Plan, PodReference, Refusal, Status
from tests.builders import NOW, cluster, node, pod, selector, workload
from tests.unit.checker.cases import anything_goes, broken, move, place, plan

WORLD = cluster(
    node("n1", cpu="4"),
    node("n2", cpu="4"),
    node("n3", cpu="4"),
    workload("web", 4),
    pod("web-0", cpu="2", node="n1"),
    pod("web-1", cpu="2", node="n1"),
    pod("web-2", cpu="2", node="n2"),
    pod("web-3", cpu="1", node="n2"),
    pod("big-0", cpu="4"),
    pod("tiny-0", cpu="1"),
)
MOVES = (move("web-0", "n1", "n2", 2), move("web-1", "n1", "n3", 2))
RIGHT = plan(
    move("web-2", "n2", "n3", 1),
    move("web-0", "n1", "n2", 2),
    move("web-1", "n1", "n3", 2),
    place("tiny-0", "n2", 0),
    place("big-0", "n1", 2),
)


def test_a_right_plan_is_proven() -> None:
    """Nothing is found in a plan whose every step holds."""
    assert check_plan(WORLD, RIGHT, anything_goes(WORLD)) == ()


def test_an_empty_plan_is_proven() -> None:
    """Doing nothing breaks no promise."""
    assert check_plan(WORLD, plan(), anything_goes(WORLD)) == ()


def with_move(index: int, **fields: object) -> Plan:
    """The right plan with one move changed."""
    moves = list(RIGHT.moves)
    moves[index] = msgspec.structs.replace(moves[index], **fields)
    return msgspec.structs.replace(RIGHT, moves=tuple(moves))


def with_placement(index: int, **fields: object) -> Plan:
    """The right plan with one placement changed."""
    placements = list(RIGHT.placements)
    placements[index] = msgspec.structs.replace(placements[index], **fields)
    return msgspec.structs.replace(RIGHT, placements=tuple(placements))


def with_claims(**fields: object) -> Plan:
    """The right plan with other claims."""
    (result,) = RIGHT.objectives
    return msgspec.structs.replace(RIGHT, objectives=(msgspec.structs.replace(result, **fields),))


def without_first_move() -> Plan:
    """The right plan without the move that the others need; its numbers put right."""
    return plan(*(msgspec.structs.replace(item, wave=1) for item in MOVES), place("tiny-0", "n2", 0))


@pytest.mark.parametrize(
    ("wrong", "rules"),
    [
        (with_move(0, pod=PodReference("default", "web-9", "u")), {"PodExists"}),
        (with_move(0, pod=PodReference("default", "web-2", "older")), {"PodExists"}),
        (with_move(0, from_node="n1"), {"FromNode"}),
        (with_move(0, to_node="n2"), {"ToNode"}),
        (with_move(0, to_node="n9"), {"NodeExists"}),
        (with_move(0, objective="EmptyNodes"), {"Objective"}),
        (with_move(0, wave=2), {"WaveNumbers", "NodeResourcesFit"}),
        (with_move(0, wave=0), {"WaveNumbers"}),
        (with_move(2, wave=1), {"WaveOrder"}),
        (with_move(2, wave=4), {"WaveNumbers", "NodeResourcesFit"}),
        (with_move(2, to_node="n2"), {"NodeResourcesFit"}),
        (with_move(1, pod=PodReference("default", "web-2", "uid-default-web-2")), {"OncePerPlan"}),
        (with_placement(1, wave=1), {"NodeResourcesFit"}),
        (with_placement(1, wave=3), {"WaveNumbers"}),
        (with_placement(0, wave=-1), {"WaveNumbers"}),
        (plan(place("tiny-0", "n2", 1)), {"WaveNumbers"}),
        (with_placement(1, node="n2"), {"NodeResourcesFit"}),
        (with_placement(1, node="n9"), {"NodeExists"}),
        (with_placement(0, node="n1"), {"NodeResourcesFit"}),
        (with_placement(0, pod=PodReference("default", "tiny-0", "other")), {"PodExists"}),
        (with_placement(0, pod=PodReference("default", "gone", "u")), {"PodExists"}),
        (with_placement(0, pod=PodReference("default", "web-3", "uid-default-web-3")), {"Pending"}),
        (with_placement(0, pod=PodReference("default", "big-0", "uid-default-big-0")), {"OncePerPlan"}),
        (without_first_move(), {"NodeResourcesFit"}),
        (with_claims(value=2), {"Claims"}),
        (with_claims(value=None, bound=None, gap=None), {"Claims"}),
        (with_claims(value=None), {"Claims"}),
        (with_claims(bound=2, status=Status.FEASIBLE), {"Claims"}),
        (with_claims(bound=2, gap=0.5), {"Claims"}),
        (with_claims(bound=4, gap=0.25, status=Status.FEASIBLE), {"Claims"}),
        (with_claims(bound=None), {"Claims"}),
        (with_claims(gap=None), {"Claims"}),
        (with_claims(gap=float("nan")), {"Claims"}),
        (with_claims(bound=float("-inf"), gap=float("inf"), status=Status.FEASIBLE), {"Claims"}),
        (with_claims(helped=1), {"Claims"}),
        (with_claims(wanted=1), {"Claims"}),
        (with_claims(status=Status.INFEASIBLE), {"Claims"}),
    ],
)
def test_a_plan_that_is_wrong_in_one_respect_is_caught(wrong: Plan, rules: set[str]) -> None:
    """Each change is found under its own rule."""
    assert rules <= broken(WORLD, wrong)


@pytest.mark.parametrize(
    "right",
    [
        with_claims(bound=2, gap=0.5, status=Status.FEASIBLE),
        with_claims(bound=None, gap=None, status=Status.FEASIBLE),
        with_claims(wanted=3, status=Status.INFEASIBLE),
        with_claims(bound=0, gap=3.0, status=Status.FEASIBLE),
        with_claims(bound=2, gap=0.50001, status=Status.FEASIBLE),
        plan(status=Status.UNKNOWN, value=0, bound=None, gap=None),
        plan(status=Status.UNKNOWN, value=None, bound=None, gap=None),
        plan(helped=UNSET, wanted=UNSET),
        plan(name="EmptyNodes", value=7, bound=8, gap=0.125, status=Status.FEASIBLE),
    ],
)
def test_honest_claims_of_less_than_optimality_are_accepted(right: Plan) -> None:
    """A gap, an unknown bound and an INFEASIBLE with some helped are no errors."""
    assert "Claims" not in broken(WORLD, right)


def narrowed(change: Callable[[Eligibility], Eligibility]) -> set[str]:
    """What the right plan breaks under another eligibility."""
    return broken(WORLD, RIGHT, change(anything_goes(WORLD)))


def index_of(name: str) -> int:
    """Index of a pod in the world."""
    return next(index for index, item in enumerate(WORLD.pods) if item.name == name)


WEB = tuple(index_of(f"web-{number}") for number in range(4))


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({"movable": tuple(index for index in WEB if index != index_of("web-1"))}, {"Eligibility"}),
        ({"helpable": (index_of("tiny-0"),)}, {"Eligibility"}),
        ({"groups": (DisruptionGroup("WorkloadBudget", "web", 1, WEB),)}, {"WorkloadBudget"}),
        ({"groups": (DisruptionGroup("WorkloadBudget", "web", 2, WEB),)}, set()),
        ({"groups": (DisruptionGroup("PodDisruptionBudget", "web", 0, WEB[2:]),)}, {"PodDisruptionBudget"}),
        ({"groups": (DisruptionGroup("PodDisruptionBudget", "web", 1, WEB[1:]),)}, set()),
        ({"limits": MoveLimits(3, 2, 3)}, set()),
        ({"limits": MoveLimits(max_evictions=2)}, {"Limits"}),
        ({"limits": MoveLimits(max_evictions_per_node=1)}, {"Limits"}),
        ({"limits": MoveLimits(max_evictions_per_namespace=2)}, {"Limits"}),
    ],
)
def test_disruption_limits_bind_each_wave_and_the_plan(fields: dict[str, object], rules: set[str]) -> None:
    """Groups are counted wave by wave, limits over all of them."""
    assert narrowed(lambda eligibility: msgspec.structs.replace(eligibility, **fields)) == rules


def test_pods_of_the_same_name_elsewhere_are_not_meant() -> None:
    """A pod is named by namespace and name."""
    world = cluster(*WORLD.nodes, *WORLD.pods, pod("web-2", namespace="other", node="n1", cpu="0"))
    everywhere = DisruptionGroup("Budget", "all", 3, tuple(range(len(world.pods))))
    assert broken(world, RIGHT, anything_goes(world, (everywhere,))) == set()


def test_a_departure_gives_room_only_when_its_wave_has_ended() -> None:
    """Two pods cannot swap the last room of two full nodes, neither in one wave nor in two."""
    full = cluster(
        node("n1", cpu="2"), node("n2", cpu="2"), pod("a-0", cpu="2", node="n1"), pod("b-0", cpu="2", node="n2")
    )
    for waves in ((1, 1), (1, 2)):
        swap = plan(move("a-0", "n1", "n2", waves[0]), move("b-0", "n2", "n1", waves[1]))
        assert "NodeResourcesFit" in broken(full, swap)


def test_terminating_pods_hold_their_room() -> None:
    """Until they are gone nobody else fits."""
    world = cluster(node("n1", cpu="2"), pod("old-0", cpu="2", node="n1", deletion_at=NOW), pod("new-0", cpu="1"))
    assert broken(world, plan(place("new-0", "n1"))) == {"NodeResourcesFit"}


def test_finished_pods_hold_nothing() -> None:
    """Their room is free."""
    world = cluster(node("n1", cpu="2"), pod("old-0", cpu="2", node="n1", phase="Succeeded"), pod("new-0", cpu="2"))
    assert broken(world, plan(place("new-0", "n1"))) == set()


def test_placements_of_one_wave_must_fit_together() -> None:
    """Each alone would fit; both do not."""
    world = cluster(node("n1", cpu="3"), pod("a-0", cpu="2"), pod("b-0", cpu="2"))
    assert broken(world, plan(place("a-0", "n1"))) == set()
    assert broken(world, plan(place("a-0", "n1"), place("b-0", "n1"))) == {"NodeResourcesFit"}


def test_a_placement_occupies_its_place_in_the_waves_after_it() -> None:
    """What was promised to a pending pod is not given away again."""
    world = cluster(node("n1", cpu="2"), node("n2", cpu="2"), pod("new-0", cpu="2"), pod("a-0", cpu="1", node="n1"))
    assert broken(world, plan(place("new-0", "n2"), move("a-0", "n1", "n2"))) == {"NodeResourcesFit"}


def test_the_rest_of_a_plan_may_begin_with_any_wave_and_claims_nothing() -> None:
    """After the first wave the other two moves are still checked, the plan's own numbers no longer."""
    pods = tuple(pod("web-2", cpu="2", node="n3") if item.name == "web-2" else item for item in WORLD.pods)
    later = cluster(*WORLD.nodes, *WORLD.workloads, *pods)
    rest = msgspec.structs.replace(RIGHT, moves=RIGHT.moves[1:], placements=RIGHT.placements[1:])
    assert check_rest(later, rest, anything_goes(later)) == ()
    assert {violation.rule for violation in check_plan(later, rest, anything_goes(later))} == {"WaveNumbers", "Claims"}
    assert {violation.rule for violation in check_rest(WORLD, rest, anything_goes(WORLD))} == {"NodeResourcesFit"}


def test_the_rest_of_a_plan_may_be_placements_alone() -> None:
    """All moves are done; the pending pod still waits for its wave's room, which is there."""
    later = cluster(*WORLD.nodes, pod("big-0", cpu="4"))
    rest = plan(place("big-0", "n1", 2))
    assert check_rest(later, rest, anything_goes(later)) == ()


def test_nonsense_is_told_and_never_raises() -> None:
    """Hostile plans end in violations: repeated pods, finished pods, absurd waves."""
    world = cluster(*WORLD.nodes, pod("done-0", node="n1", phase="Failed"), pod("web-0", node="n1"))
    mad = plan(
        move("done-0", "n1", "n2", 10**12),
        move("web-0", "n1", "n2", 1),
        move("web-0", "n1", "n3", 1),
        move("web-0", "n2", "n3", -(10**9)),
        place("web-0", "n3", 10**15),
    )
    assert {"WaveNumbers", "WaveOrder", "OncePerPlan", "Pending", "FromNode"} <= broken(world, mad)


def test_a_pod_that_may_not_be_moved_is_told_with_the_rule_against_it() -> None:
    """What eligibility says of it is passed on."""
    index = index_of("web-1")
    free = anything_goes(WORLD)
    refusal = Refusal("DoNotEvict", "default/web-1 is annotated")
    kept = msgspec.structs.replace(
        free, movable=tuple(number for number in free.movable if number != index), refusals={index: refusal}
    )
    (violation,) = check_plan(WORLD, RIGHT, kept)
    assert violation.message == "default/web-1 may not be moved (DoNotEvict: default/web-1 is annotated)"


def test_violations_name_their_objects() -> None:
    """Pod, node and wave stand in the message."""
    (violation,) = check_plan(WORLD, with_placement(0, node="n1"), anything_goes(WORLD))[:1]
    assert "default/tiny-0" in violation.message
    assert "wave 0" in violation.message
    assert "n1" in violation.message


def named(world: Cluster, checked: Plan) -> list[str]:
    """The pods that violations are about, in order."""
    return [item.message.partition(" ")[0] for item in check_plan(world, checked, anything_goes(world))]


def test_every_move_of_a_wave_is_asked_with_all_the_others() -> None:
    """Three that fit in pairs but not together are all named: any of them may be the last."""
    world = cluster(node("n1", cpu="2"), node("n2"), *(pod(f"{name}-0", cpu="1", node="n2") for name in "abc"))
    together = plan(*(move(f"{name}-0", "n2", "n1") for name in "abc"))
    assert named(world, together) == ["default/a-0", "default/b-0", "default/c-0"]


def test_pending_pods_take_their_places_in_the_order_of_the_list() -> None:
    """The last one finds no room, and it alone is named; one that has to wait for another comes later."""
    pods = [pod(f"{name}-0", cpu="1") for name in "abc"]
    world = cluster(node("n1", cpu="2"), *pods)
    assert named(world, plan(*(place(item.name, "n1") for item in pods))) == ["default/c-0"]
    friend = PodAffinityTerm("kubernetes.io/hostname", selector(app="c"))
    leaning = cluster(node("n1"), pod("a-0", affinity=(friend,)), pod("c-0"))
    assert named(leaning, plan(place("a-0", "n1"), place("c-0", "n1"))) == []
