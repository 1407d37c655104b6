"""Plans with moves by surge in the embedded cluster: carried out as ``apply`` does, and nothing is left behind."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.composition.simulating import simulate
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import OutcomeKind
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod
from tests.unit.disruption.cases import policy
from tests.unit.disruption.surge_cases import deployment, tight_budget
from tests.unit.execution.migration.scenes import machine


def three(**fields: Any) -> Cluster:
    """Three nodes with a single replica each, under budgets that allow no eviction."""
    objects = [item for name, on in (("a", "n1"), ("b", "n2"), ("c", "n3")) for item in deployment(name, [on])]
    return cluster(node("n1"), node("n2"), node("n3"), *objects, *(tight_budget(name, 1) for name in "abc"), **fields)


def surging_by(guidance: str) -> Policy:
    """All pods move by surge so that nodes become empty."""
    rules = {"moveBy": [{"method": "Surge"}]}
    return policy(guidance=guidance, objectives=[{"name": "EmptyNodes"}], disruption=rules)


@pytest.mark.parametrize("guidance", ["Hold", "Guide", "Taint"])
def test_a_planned_surge_is_carried_out(guidance: str) -> None:
    """The gate of the policy lets each pod out and lets it go; its replacement is there, and nothing of ours."""
    first, second = simulate(three(network_policies=()), surging_by(guidance), selection=Selection(), cycles=2).results
    assert [(move.method, move.outcome) for move in first.moves] == [(MoveMethod.SURGE, OutcomeKind.LANDED)] * 2
    assert first.message == ""
    assert second.moves == ()


@pytest.mark.parametrize("guidance", ["Hold", "Guide", "Taint"])
def test_nothing_is_left_of_a_surge(guidance: str) -> None:
    """No note, no gate, no taint; each workload has its one Ready pod."""
    after = simulate(three(network_policies=()), surging_by(guidance), selection=Selection(), cycles=1).after
    assert sorted(one.name.split("-")[0] for one in after.pods) == ["a", "b", "c"]
    assert all(one.is_ready and not one.annotations and not one.scheduling_gates for one in after.pods)
    assert not any(one.taints for one in after.nodes)


def test_where_network_policies_are_not_recorded_the_simulation_goes_on_and_says_so() -> None:
    """In the embedded cluster there are none then."""
    (result,) = simulate(three(), surging_by("Hold"), selection=Selection()).results
    assert {move.outcome for move in result.moves} == {OutcomeKind.LANDED}
    assert any("NetworkPolicies were not read" in warning for warning in result.warnings)


def test_evictions_of_the_same_plan_are_carried_out_up_to_there() -> None:
    """A pod that moves by eviction, as the policy has it, moves."""
    many = [pod(f"web-{number}", cpu="100m", memory="100Mi", node="n2" if number else "n1") for number in range(20)]
    seen = cluster(node("n1"), node("n2"), *many, network_policies=())
    by = policy(
        objectives=[{"name": "EmptyNodes"}],
        disruption={"moveBy": [{"namespaces": ["shop"], "method": "Surge"}]},
    )
    report = simulate(seen, by, selection=Selection())
    assert [move.outcome for move in report.results[0].moves] == [OutcomeKind.LANDED]


@pytest.mark.parametrize("guidance", ["Hold", "Guide"])
def test_machines_are_moved_by_their_owner(guidance: str) -> None:
    """Each is asked for once; the node is empty afterwards, but for what has ended there."""
    seen = cluster(node("n0"), node("n1"), machine("vm-a"), pod("filler", owner="", node="n1"))
    by = policy(guidance=guidance, objectives=[{"name": "EmptyNodes"}], disruption={"moveBy": [{"method": "Migrate"}]})
    report = simulate(seen, by, selection=Selection(), cycles=2)
    first = report.results[0]
    assert [(move.method, move.outcome) for move in first.moves] == [(MoveMethod.MIGRATE, OutcomeKind.LANDED)]
    assert first.message == ""
    assert {one.node_name for one in report.after.pods if not one.is_finished} == {"n1"}
