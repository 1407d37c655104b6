"""No pod is evicted that is to be moved otherwise: nothing but evictions is carried out, and each by its own rules."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.gate import CARRIED_OUT, GateContext, not_carried_out, permit_wave
from rescheduler.disruption.policy_gate import PolicyGate
from rescheduler.model.objects.annotations import REQUEST_EVICT_ONLY
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Landing, Move, Refusal, reference_to
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node
from tests.unit.disruption.cases import policy
from tests.unit.disruption.surge_cases import deployment, surging, tight_budget

RULES: tuple[tuple[dict[str, Any], ...], ...] = (
    (),
    ({"method": "Surge"},),
    ({"method": "Surge", "otherwise": "Evict"},),
    ({"method": "Migrate"},),
    ({"method": "Evict"},),
)


def world(count: int = 1, **fields: Any) -> Cluster:
    """A Deployment on one node of two, under a budget that allows nothing if it is a single replica."""
    guards = [tight_budget("web", 1)] if count == 1 else []
    return cluster(node("n1", cpu="64"), node("n2", cpu="64"), *deployment("web", ["n1"] * count, **fields), *guards)


def asked(seen: Cluster, by: Policy, *methods: MoveMethod) -> list[Permit | Refusal]:
    """The gate's verdicts on moves of the first pods by these methods."""
    moves = [
        Move(reference_to(pod), "n1", "n2", 1, "EmptyNodes", "empties n1", method=method)
        for pod, method in zip(seen.pods, methods, strict=False)
    ]
    return list(permit_wave(moves, GateContext(seen, decide_eligibility(seen, by), may_execute=True)))


def test_a_surge_is_not_carried_out_yet() -> None:
    """The refusal says so, and names no fault of the pod."""
    (refusal,) = asked(world(), surging(), MoveMethod.SURGE)
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "Method"
    assert refusal.message.endswith("is to be moved by surge, which is planned and not carried out yet")


def test_a_plan_says_beforehand_which_of_its_moves_stay_undone() -> None:
    """By their number and method; nothing where all are evictions."""
    seen = world()
    moves = [Move(reference_to(seen.pods[0]), "n1", "n2", 1, "E", "r", method=method) for method in MoveMethod]
    assert list(not_carried_out(moves[:1])) == []
    assert list(not_carried_out(moves[:2])) == [
        "1 of these moves is by surge, which is planned and not carried out yet: apply and run refuse such moves"
    ]
    assert next(not_carried_out(moves)).startswith("2 of these moves are by migrate and surge, which is planned")


def test_a_plan_that_says_nothing_of_methods_evicts_no_pod_that_is_to_surge() -> None:
    """The rules of evictions were not asked about it: it is a single replica, under a budget that allows nothing."""
    (refusal,) = asked(world(), surging(), MoveMethod.EVICT)
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "Method"
    assert "is moved by surge as the policy stands now, and the plan says Evict" in refusal.message


def test_a_surge_of_a_policy_that_has_no_rule_any_more_is_no_eviction() -> None:
    """Be the eviction allowed or not."""
    for seen in (world(), world(20)):
        (refusal,) = asked(seen, policy(), MoveMethod.SURGE)
        assert isinstance(refusal, Refusal)


def test_where_nobody_promised_a_node_none_is_asked_for() -> None:
    """As with pods that somebody else's rules chose."""
    seen = world(20)
    moves = [
        Move(reference_to(seen.pods[0]), "n1", "gone", 1, "E", "r", landing=landing)
        for landing in (UNSET, Landing.OTHER_NODE)
    ]
    context = GateContext(seen, decide_eligibility(seen, policy()), may_execute=True)
    promised, foretold = (permit_wave([move], context)[0] for move in moves)
    assert isinstance(promised, Refusal)
    assert promised.rule == "DestinationGone"
    assert isinstance(foretold, Permit)


@pytest.mark.parametrize("method", sorted(set(MoveMethod) - CARRIED_OUT))
@pytest.mark.parametrize("mode", ["DryRun", "Approve", "Execute"])
def test_neither_a_person_nor_a_daemon_gets_past_it(method: MoveMethod, mode: str) -> None:
    """In every mode, and with a confirmation."""
    seen, by = world(), surging()
    move = Move(reference_to(seen.pods[0]), "n1", "n2", 1, "EmptyNodes", "empties n1", method=method)
    for is_confirmed in (False, True):
        gate = PolicyGate(by.model_copy(update={"mode": policy(mode=mode).mode}), is_confirmed=is_confirmed)
        assert not any(isinstance(verdict, Permit) for verdict in gate.permit([move], seen, []))


@given(
    count=st.sampled_from([1, 2, 20]),
    rules=st.sampled_from(RULES),
    methods=st.lists(st.sampled_from(list(MoveMethod)), min_size=1, max_size=4),
    marked=st.booleans(),
)
def test_whatever_a_plan_says_only_evictions_by_the_rules_of_evictions_are_let_go(
    count: int, rules: tuple[dict[str, Any], ...], methods: list[MoveMethod], marked: bool
) -> None:
    """What is let go would be let go under a policy without any rules too."""
    seen = world(count, annotations={REQUEST_EVICT_ONLY: ""} if marked else {})
    plain = asked(seen, policy(), *methods)
    for verdict, without in zip(asked(seen, policy(disruption={"moveBy": list(rules)}), *methods), plain, strict=True):
        if isinstance(verdict, Permit):
            assert verdict.move.method is MoveMethod.EVICT
            assert isinstance(without, Permit)
            assert not marked
