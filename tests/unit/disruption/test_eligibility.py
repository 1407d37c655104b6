"""Tests of eligibility as a whole."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.disruption import eligibility
from rescheduler.disruption.eligibility import decide_eligibility, explain_pod
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.disruption.rules import HELPING, MOVING
from rescheduler.disruption.rules.rule import Rule, Stage
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.constraints import Volume
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.attempts import EarlierAttempts
from rescheduler.model.plan.disruption import MoveLimits, Selection
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, budget, cluster, node, pod, workload
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry, ledger


def test_limits_of_the_policy_are_handed_on() -> None:
    """The caps of the plan stand in the answer."""
    limits = policy(limits={"maxEvictions": 3, "maxEvictionsPerNode": 2, "maxEvictionsPerNamespace": 1})
    assert decide_eligibility(cluster(), limits, Selection()).limits == MoveLimits(3, 2, 1)
    assert decide_eligibility(cluster(), Policy(), Selection()).limits == MoveLimits(20, None, None)


def test_nobody_is_taken_for_a_daemon_who_does_not_say_so() -> None:
    """What binds where nobody watches, as one pod of a StatefulSet in a plan, binds a person only where he asks."""
    world = cluster(node("n1"), workload("db", 2, kind="StatefulSet"),
                    *(pod(f"db-{number}", node="n1", kind="StatefulSet") for number in range(2)))  # fmt: skip
    lax = policy(disruption={"unsettled": "Allow"})
    assert "StatefulSet" not in {group.rule for group in decide_eligibility(world, lax).groups}
    assert "StatefulSet" in {group.rule for group in decide_eligibility(world, lax, is_daemon=True).groups}


def test_every_rule_has_a_name_of_its_own() -> None:
    """No two rules of a list can be mixed up in a refusal."""
    for stages in (MOVING, HELPING):
        names = [rule.name for stage in stages for rule in stage.rules]
        assert len(names) == len(set(names))


def test_explain_names_every_rule_that_speaks_against_a_pod() -> None:
    """Not only the first one."""
    subject = pod("x", node="n1", owner=None, priority=2_000_000_000, volumes=(Volume("EmptyDir"),))
    context = EligibilityContext(cluster(node("n1"), subject), Policy())
    rules = [refusal.rule for refusal in explain_pod(context, subject)]
    assert rules == ["CriticalPriority", "Ownerless", "LocalStorage"]


def test_explain_asks_of_a_waiting_pod_whether_it_may_be_helped() -> None:
    """A pending pod has no storage to lose."""
    subject = pod("x", owner=None, volumes=(Volume("EmptyDir"),), scheduling_gates=("wait",))
    context = EligibilityContext(cluster(subject), Policy())
    assert [refusal.rule for refusal in explain_pod(context, subject)] == ["SchedulingGated"]


def test_a_refusal_points_to_the_pod_by_uid() -> None:
    """Names can be used again; uids cannot."""
    refusal = decide_eligibility(cluster(node("n1"), pod("x", node="n1", owner=None)), Policy()).refusals[0]
    assert refusal.pod.uid == "uid-default-x"  # type: ignore[union-attr]


def test_pods_of_a_workload_that_waits_for_a_replacement_are_told() -> None:
    """They may move, but others would be moved sooner; a debt that is repaid tells of nothing."""
    pods = [pod(f"web-{number}", node="n1", owner="web") for number in range(3)]
    others = [pod(f"api-{number}", node="n1", owner="api") for number in range(2)]
    state = cluster(node("n1", cpu="64"), *pods, *others, workload("web", 4), workload("api", 2))
    open_debt = ledger(entry(9, ago=10.0, state=EntryState.OPEN, desired=4))
    decided = decide_eligibility(state, policy(disruption={"workloads": {"maxUnavailable": 2}}), ledger=open_debt)
    assert {state.pods[number].name for number in decided.owing} == {"web-0", "web-1", "web-2"}
    assert len(decided.movable) == 5
    assert not decide_eligibility(state, Policy(), ledger=ledger(entry(9, ago=10.0))).owing


def test_pods_that_share_objects_and_pods_that_do_not_get_the_same_verdicts() -> None:
    """Sharing is for speed alone: a copy of everything changes nothing."""
    shared = pod("web-0", node="n1")
    pods = [msgspec.structs.replace(shared, name=f"web-{number}", uid=f"u{number}") for number in range(12)]
    copies = [msgspec.structs.replace(item, labels=dict(item.labels), annotations={}) for item in pods]
    others = (node("n1", cpu="64"), workload("web", 12), budget("web", 2, desired_healthy=10))
    assert decide_eligibility(cluster(*pods, *others), Policy()) == decide_eligibility(
        cluster(*copies, *others), Policy()
    )


def test_a_rule_is_asked_once_for_all_pods_of_which_its_answer_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each kind, of each node, of each answer of the budgets, and of each pod where it depends on that."""
    asked: Counter[str] = Counter()

    def stage(per: Any) -> Stage:
        return Stage(per, (Rule("Asked", lambda *_: asked.update([per])),))

    monkeypatch.setattr(eligibility, "MOVING", tuple(stage(per) for per in ("kind", "node", "pod", "budget")))
    shared = pod("web-0", node="n0")
    pods = [msgspec.structs.replace(shared, name=f"web-{n}", uid=f"u{n}", node_name=f"n{n % 2}") for n in range(12)]
    decide_eligibility(cluster(node("n0"), node("n1"), *pods), Policy())
    assert asked == {"kind": 1, "node": 2, "pod": 12, "budget": 1}


STATES = st.fixed_dictionaries(
    {
        "node": st.sampled_from([None, "n1", "n2", "gone"]),
        "namespace": st.sampled_from(["default", "kube-system"]),
        "owner": st.sampled_from([None, "web", "api"]),
        "kind": st.sampled_from(["ReplicaSet", "ReplicaSet", "Job"]),
        "phase": st.sampled_from(["Running", "Running", "Succeeded"]),
        "is_ready": st.booleans(),
        "deletion_at": st.sampled_from([None, None, NOW]),
        "priority": st.sampled_from([0, 2_000_000_000]),
        "scheduling_gates": st.sampled_from([(), (), ("wait",)]),
        "annotations": st.sampled_from([{}, {"karpenter.sh/do-not-disrupt": "1h"}]),
        "volumes": st.sampled_from([(), (Volume("EmptyDir"),)]),
    }
)


@given(st.lists(STATES, max_size=12))
def test_every_pod_gets_exactly_one_verdict(states: list[dict[str, object]]) -> None:
    """Movable, refused, helpable or not helpable; the verdict agrees with asking every rule of that pod alone."""
    pods: list[Pod] = [pod(f"p-{number:02}", **state) for number, state in enumerate(states)]  # type: ignore[arg-type]
    world = cluster(node("n1"), node("n2", labels={"type": "virtual-kubelet"}), workload("web", 3), *pods)
    found = decide_eligibility(world, Policy())
    verdicts = [*found.movable, *found.refusals, *found.helpable, *found.not_helpable]
    assert sorted(verdicts) == list(range(len(pods)))
    context = EligibilityContext(world, Policy())
    for index, subject in enumerate(world.pods):
        refusal = found.refusals.get(index) or found.not_helpable.get(index)
        assert refusal == next(iter(explain_pod(context, subject)), None)
        waits = subject.node_name is None and not subject.is_finished
        assert waits == (index in found.helpable or index in found.not_helpable)
    for group in found.groups:
        assert set(group.pods) <= set(found.movable)
        assert group.allowed_per_wave >= 1


def test_what_earlier_attempts_sent_is_taken_from_the_limits_of_the_whole() -> None:
    """Of the plan, of the node that a pod left, and of its namespace; others' are whole."""
    start = cluster(node("n1"), node("n2"), *(pod(f"web-{i}", node=f"n{i % 2 + 1}") for i in range(6)))
    limits = {"maxEvictions": 5, "maxEvictionsPerNode": 3, "maxEvictionsPerNamespace": 4}
    gone = Move(PodReference("default", "gone", "uid-gone"), "n1", "n2", 1, "SpreadLoad", "because")
    found = decide_eligibility(start, policy(limits=limits), earlier=EarlierAttempts(sent=(gone,), number=1))
    assert found.limits.max_evictions == 4
    left = {group.name: group for group in found.groups if group.rule == "Limits"}
    assert {name: (group.allowed_in_plan, group.allowed_per_wave) for name, group in left.items()} == {
        "node n1": (2, 2), "namespace default": (3, 3),
    }  # fmt: skip
    assert {start.pods[index].node_name for index in left["node n1"].pods} == {"n1"}
    assert len(left["node n1"].pods) == 3
    assert len(left["namespace default"].pods) == 6
    assert not [group for group in decide_eligibility(start, policy(limits=limits)).groups if group.rule == "Limits"]


@pytest.mark.parametrize(("created_at", "rule"), [(NOW - 60.0, None), (NOW, "MovedOnce"), (None, "MovedOnce")])
def test_a_pod_that_was_made_while_the_plan_is_carried_out_is_not_moved(
    created_at: float | None, rule: str | None
) -> None:
    """It may be the replacement of one that was; so is one of which nobody knows since when it is there."""
    start = cluster(node("n1"), node("n2"), pod("web-0", node="n1", created_at=created_at), pod("web-1", node="n2"))
    found = decide_eligibility(start, policy(scope={"minimumAge": "0s"}), earlier=EarlierAttempts(since=NOW + 0.7))
    refusal = found.refusals.get(start.indices_of(["default/web-0"])["default/web-0"])
    assert (None if refusal is None else refusal.rule) == rule


def test_limits_that_earlier_attempts_have_overdrawn_leave_nothing() -> None:
    """A limit may have been changed meanwhile; nothing is owed for it."""
    start = cluster(node("n1"), node("n2"), pod("web-0", node="n1"), pod("web-1", node="n2"))
    gone = tuple(Move(PodReference("default", f"g{i}", f"u{i}"), "n1", "n2", 1, "SpreadLoad", "why") for i in range(3))
    earlier = EarlierAttempts(sent=gone, number=1)
    found = decide_eligibility(start, policy(limits={"maxEvictionsPerNode": 2}), earlier=earlier)
    (group,) = [group for group in found.groups if group.rule == "Limits"]
    assert (group.name, group.allowed_in_plan, len(group.pods)) == ("node n1", 0, 1)


@pytest.mark.parametrize(("guidance", "swaps"), [("Guide", True), ("Hold", False), ("Predict", False)])
def test_pods_leave_before_there_is_room_only_where_a_gate_holds_their_replacements(
    guidance: str, *, swaps: bool
) -> None:
    """Without it somebody else may take the room."""
    assert decide_eligibility(cluster(), policy(guidance=guidance), Selection()).may_evict_first is swaps


@pytest.mark.parametrize(("sent", "others", "left"), [(0, 0, 1), (0, 1, 1), (1, 0, 0), (1, 1, 0), (2, 0, 0)])
def test_one_pod_of_a_stateful_set_goes_in_all_attempts_of_a_plan(sent: int, others: int, left: int) -> None:
    """``others``: evictions of earlier plans, which the ledger remembers too."""
    pods = [pod(f"db-{number}", node="n1", kind="StatefulSet") for number in range(3)]
    start = cluster(node("n1", "64"), workload("db", 3, kind="StatefulSet"), *pods)
    uid = start.workload_of(start.pods[0]).uid  # type: ignore[union-attr]
    entries = [
        msgspec.structs.replace(entry(number + 1, state=EntryState.REPAID, ago=5000.0), workload=uid)
        for number in range(sent + others)
    ]
    gone = tuple(Move(item.pod, "n1", "n2", 1, "SpreadLoad", "because") for item in entries[:sent])
    rules = policy(disruption={"workloads": {"maxUnavailable": "99%"}, "unsettled": "Deny"})
    found = decide_eligibility(
        start, rules, Selection(), ledger=ledger(*entries), earlier=EarlierAttempts(sent=gone, number=1)
    )
    (group,) = [group for group in found.groups if group.rule == "StatefulSet"]
    assert (group.allowed_in_plan, group.allowed_per_wave, len(group.pods)) == (left, left, 3)
