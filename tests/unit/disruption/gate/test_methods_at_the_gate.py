"""No pod is evicted that is to be moved otherwise, and surges are let go only for a person's own run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, structs

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.gate.gate import GateContext, other_methods, permit_wave
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.annotations import REQUEST_EVICT_ONLY
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import ResourceQuota
from rescheduler.model.plan.detachment import as_of_its_owner
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Landing, Move, Refusal, reference_to
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry, ledger
from tests.unit.disruption.surge_cases import deployment, surging, taken_out, tight_budget

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
    nodes = node("n1", cpu="64"), node("n2", cpu="64")
    return cluster(*nodes, *deployment("web", ["n1"] * count, **fields), *guards, network_policies=())


def asked(seen: Cluster, by: Policy, *methods: MoveMethod) -> list[Permit | Refusal]:
    """The gate's verdicts on moves of the first pods by these methods."""
    moves = [
        Move(reference_to(pod), "n1", "n2", 1, "EmptyNodes", "empties n1", method=method)
        for pod, method in zip(seen.pods, methods, strict=False)
    ]
    return list(permit_wave(moves, GateContext(seen, decide_eligibility(seen, by), may_execute=True)))


def test_a_surge_is_refused_to_whoever_does_not_carry_surges_out() -> None:
    """The refusal says who does, and names no fault of the pod."""
    (refusal,) = asked(world(), surging(), MoveMethod.SURGE)
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "Method"
    assert "is to be moved by surge, which apply and run carry out under a policy of our own" in refusal.message


def test_a_plan_says_beforehand_who_carries_which_of_its_moves_out() -> None:
    """By their number and method; nothing where all are evictions."""
    seen = world()
    moves = [Move(reference_to(seen.pods[0]), "n1", "n2", 1, "E", "r", method=method) for method in MoveMethod]
    evict, surge, migrate = moves
    assert list(other_methods([evict])) == []
    by_surge, by_migration = other_methods([evict, surge, surge, migrate])
    assert by_surge.startswith("2 of these moves are by surge, which apply and run carry out")
    assert by_migration.startswith("1 of these moves is by migration, which apply and run carry out")


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


RUN_ID = "p1"


def verdict_of(seen: Cluster, by: Policy, method: MoveMethod, **how: Any) -> Permit | Refusal:
    """What a gate says of one move of the first pod."""
    move = Move(reference_to(seen.pods[0]), "n1", "n2", 1, "EmptyNodes", "empties n1", method=method)
    return PolicyGate(by, **how).permit([move], seen, [])[0]


def test_a_daemon_gets_leave_for_surges_of_the_run_at_hand_alone() -> None:
    """Its gate outlives its runs; and what binds a daemon binds its surges."""
    seen = world()
    rules = {"moveBy": [{"method": "Surge"}], "rampUp": "unlimited", "quiet": "0s"}
    calm = {"settle": "0s", "calm": "0s", "headRoom": "0%"}
    by = policy(mode="Execute", disruption=rules, health=calm, scope={"minimumAge": "0s"})
    gate = PolicyGate(by, is_confirmed=False, is_daemon=True)
    move = Move(reference_to(seen.pods[0]), "n1", "n2", 1, "EmptyNodes", "r", method=MoveMethod.SURGE)
    with gate.surging(RUN_ID):
        assert isinstance(gate.permit([move], seen, [])[0], Permit)
        (held,) = PolicyGate(by, is_confirmed=False, is_daemon=True, stop=lambda: "no").permit([move], seen, [])
        assert isinstance(held, Refusal)
    with gate.surging(None):
        assert isinstance(gate.permit([move], seen, [])[0], Refusal)
    (after,) = gate.permit([move], seen, [])
    assert isinstance(after, Refusal)
    assert after.rule == "Method"


def test_only_a_run_that_carries_surges_out_gets_leave_for_one() -> None:
    """And nobody for a migration."""
    assert isinstance(verdict_of(world(), surging(), MoveMethod.SURGE, surges_of=RUN_ID), Permit)
    assert isinstance(verdict_of(world(), surging(), MoveMethod.SURGE), Refusal)
    assert isinstance(verdict_of(world(), surging(), MoveMethod.MIGRATE, surges_of=RUN_ID), Refusal)
    assert isinstance(verdict_of(world(), surging(), MoveMethod.EVICT, surges_of=RUN_ID), Refusal)


def test_what_was_not_read_forbids_a_surge() -> None:
    """A NetworkPolicy may go by the label; that is no leave to evict, whatever the rule says otherwise."""
    seen = replace(world(), network_policies=None)
    by = policy(disruption={"moveBy": [{"method": "Surge", "otherwise": "Evict"}]})
    refusal = verdict_of(seen, by, MoveMethod.SURGE, surges_of=RUN_ID)
    assert isinstance(refusal, Refusal)
    assert (refusal.rule, "NetworkPolicies were not read" in refusal.message) == ("Surge", True)
    assert isinstance(verdict_of(seen, by, MoveMethod.EVICT, surges_of=RUN_ID), Refusal)


# The last step: the pod is out, its replacement is there, and the gate is asked once more.


def out(seen: Cluster, *others: Any, count: int = 1) -> Cluster:
    """The same with the first pods out for their surge, as a snapshot shows them, and a Ready replacement for each."""
    pods = [as_of_its_owner(taken_out(one)) for one in seen.pods[:count]]
    new = [
        structs.replace(one, name=f"new-{one.name}", uid=f"new-{one.uid}", node_name="n2") for one in seen.pods[:count]
    ]
    return replace(seen, pods=(*pods, *seen.pods[count:], *new, *others))


def full(seen: Cluster, pods: int) -> Cluster:
    """With a quota in which no pod has room any more."""
    return replace(seen, quotas=(ResourceQuota("default", "full", (("pods", pods),), (("pods", pods),)),))


def test_the_own_surge_is_let_go_at_its_last_step() -> None:
    """That its replacement is there fills the quota and is one pod more on its way: neither speaks against it."""
    seen = full(out(world()), 2)
    for by in (surging(), policy(disruption={"moveBy": [{"method": "Surge"}], "unsettled": "Deny"})):
        assert isinstance(verdict_of(seen, by, MoveMethod.SURGE, surges_of=RUN_ID), Permit)


def test_the_surge_of_another_run_is_left_alone() -> None:
    """It is on its way already."""
    refusal = verdict_of(out(world()), surging(), MoveMethod.SURGE, surges_of="p2")
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "OnItsWay"


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"limits": {"maxEvictions": 0}}, "Limits"),
        ({"disruption": {"budgets": [{"schedule": "0 22 * * *", "duration": "1h", "timeZone": "UTC"}]}}, "Budget"),
        ({"scope": {"namespaces": {"exclude": ["default"]}}}, "Namespace"),
    ],
)
def test_all_that_binds_is_asked_anew_at_the_last_step(fields: dict[str, Any], rule: str) -> None:
    """Limits, windows and scope as they stand then."""
    rules = {**fields, "disruption": {**fields.get("disruption", {}), "moveBy": [{"method": "Surge"}]}}
    refusal = verdict_of(out(world()), policy(**rules), MoveMethod.SURGE, surges_of=RUN_ID)
    assert isinstance(refusal, Refusal)
    assert refusal.rule == rule


def test_a_stop_mark_and_an_unready_pod_forbid_the_last_step() -> None:
    """Nothing of the kind is taken for granted because the pod was let out."""
    seen = out(world())
    refusal = verdict_of(seen, surging(), MoveMethod.SURGE, surges_of=RUN_ID, stop=lambda: "maintenance")
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "Stop"
    ill = replace(seen, pods=(structs.replace(seen.pods[0], is_ready=False), *seen.pods[1:]))
    assert isinstance(verdict_of(ill, surging(), MoveMethod.SURGE, surges_of=RUN_ID), Refusal)


def test_a_workload_has_no_more_pods_out_than_its_rollouts_may_add() -> None:
    """Those that were evicted have been replaced and do not count; those that are out do not hold each other back."""
    by = surging()
    four = cluster(node("n1", cpu="64"), node("n2", cpu="64"), *deployment("web", ["n1"] * 4), network_policies=())
    seen = out(four)
    third = Move(reference_to(seen.pods[1]), "n1", "n2", 1, "EmptyNodes", "r", method=MoveMethod.SURGE)
    gate = PolicyGate(by, surges_of=RUN_ID)
    assert isinstance(gate.permit([third], seen, [])[0], Refusal)
    gone = replace(seen, pods=(structs.replace(seen.pods[0], deletion_at=seen.taken_at), *seen.pods[1:]))
    assert isinstance(gate.permit([third], gone, [])[0], Permit)
    both = out(four, count=2)
    assert isinstance(verdict_of(both, by, MoveMethod.SURGE, surges_of=RUN_ID), Permit)


def test_a_pod_that_is_out_counts_as_one_on_the_move() -> None:
    """Within ``maxMoving`` of the policy's budgets, though nobody is missing."""
    seen = world(20)
    rules = {"moveBy": [{"method": "Surge"}], "budgets": [{"maxMoving": 1}]}
    surge = entry(1, ago=10.0, state=EntryState.SURGING, method=MoveMethod.SURGE, closed_at=None)
    move = Move(reference_to(seen.pods[0]), "n1", "n2", 1, "EmptyNodes", "r", method=MoveMethod.SURGE)
    gate = PolicyGate(policy(disruption=rules), surges_of=RUN_ID)
    assert isinstance(gate.permit([move], seen, [], ledger())[0], Permit)
    refusal = gate.permit([move], seen, [], ledger(surge))[0]
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "Budget"


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
