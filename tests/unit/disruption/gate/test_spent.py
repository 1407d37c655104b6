"""Tests of what a plan has used up: rates, limits and floors, permit by permit."""

from __future__ import annotations

from typing import Any

from rescheduler.disruption.gate.gate import Spent
from rescheduler.model.plan.disruption import DisruptionGroup, Eligibility, MoveLimits
from rescheduler.model.plan.plan import Move, PodReference
from tests.builders import cluster, node, pod


def move(number: int, namespace: str = "default", from_node: str = "n1") -> Move:
    """A move of one of the pods below."""
    reference = PodReference(namespace, f"web-{number}", f"uid-{namespace}-web-{number}")
    return Move(reference, from_node, "n2", 1, "MakeRoom", "room")


SEEN = cluster(node("n1"), node("n2"), *(pod(f"web-{number}", node="n1") for number in range(4)))
EVERYBODY = (0, 1, 2, 3)


def spent(*groups: DisruptionGroup, movable: tuple[int, ...] = EVERYBODY, **fields: Any) -> Spent:
    """Nothing sent, all movable, unless said otherwise."""
    limits = fields.pop("limits", MoveLimits())
    eligibility = Eligibility(movable, {}, (), {}, groups, limits)
    moves = fields.pop("moves", [move(number) for number in EVERYBODY])
    return Spent(moves, SEEN, eligibility, **{"sent": {}, "sent_namespaces": {}, **fields})


def test_a_rate_lets_as_many_go_as_are_left() -> None:
    """The words number the eviction and name the budget."""
    here = spent(DisruptionGroup("Budget", "night", 2, EVERYBODY))
    for number in (0, 1):
        assert list(here.over_rates(move(number))) == []
        here.add(move(number))
    assert list(here.over_rates(move(2))) == [("Budget", "would be eviction 3 of night, which allows 2 now")]
    assert list(here.over_limits(move(2))) == []
    assert here.permits == 2


def test_a_window_over_the_whole_plan_binds_too() -> None:
    """The smaller of both numbers counts."""
    for per_wave, in_plan, allowed in ((5, 1, 1), (1, 5, 1), (2, None, 2), (5, 0, 0)):
        group = DisruptionGroup("RampUp", "slow", per_wave, EVERYBODY, in_plan)
        here = spent(group)
        given = 0
        while not list(here.over_rates(move(given))):
            here.add(move(given))
            given += 1
        assert given == allowed


def test_groups_bind_their_own_pods_only() -> None:
    """And a pod that may not be moved is in none."""
    group = DisruptionGroup("WorkloadBudget", "web", 0, (0, 1))
    assert [rule for rule, _ in spent(group).over_limits(move(0))] == ["WorkloadBudget"]
    assert list(spent(group).over_limits(move(2))) == []
    assert list(spent(group, movable=(1, 2, 3)).over_limits(move(0))) == []


def test_two_groups_of_one_rule_are_counted_apart() -> None:
    """By name."""
    here = spent(DisruptionGroup("Budget", "a", 1, (0, 1)), DisruptionGroup("Budget", "b", 1, (1, 2)))
    here.add(move(0))
    assert [words for _, words in here.over_rates(move(1))] == ["would be eviction 2 of a, which allows 1 now"]
    assert list(here.over_rates(move(2))) == []


def test_floors_are_asked_in_the_gates_order() -> None:
    """Limits, the workload, the StatefulSet, the PodDisruptionBudget."""
    groups = [
        DisruptionGroup(rule, rule, 0, EVERYBODY) for rule in ("PodDisruptionBudget", "StatefulSet", "WorkloadBudget")
    ]
    here = spent(*groups, limits=MoveLimits(max_evictions=0))
    assert [rule for rule, _ in here.over_limits(move(0))] == [
        "Limits", "WorkloadBudget", "StatefulSet", "PodDisruptionBudget",
    ]  # fmt: skip


def test_limits_count_what_was_sent_and_permitted() -> None:
    """In all, from one node, from one namespace."""
    limits = MoveLimits(max_evictions=3, max_evictions_per_node=2, max_evictions_per_namespace=3)
    here = spent(limits=limits, sent={"a": "n1", "b": "n7"}, sent_namespaces={"default": 2})
    assert list(here.over_limits(move(0))) == []
    here.add(move(0))
    assert [words for _, words in here.over_limits(move(1))] == [
        "would be eviction 4 of this plan; the policy allows 3",
        "would be eviction 3 from node n1; the policy allows 2",
        "would be eviction 4 from namespace default; the policy allows 3",
    ]


def test_pods_that_are_not_there_have_no_index() -> None:
    """Pods of other namespaces with the same name are others."""
    here = spent(moves=[move(0), move(1, "other"), move(9)])
    assert here.index_of == {"default/web-0": 0}
    assert here.movable == {0}
