"""Tests of the gate: every question, in order, and what earlier evictions leave."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

import rescheduler
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.gate.gate import Caution, GateContext, permit_wave
from rescheduler.disruption.gate.health import Finding
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.model.daemon.ledger import Breaker
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import NodeAffinityRules, NodeSelectorTerm, Requirement, Taint, Toleration
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import DisruptionGroup, MoveLimits
from rescheduler.model.plan.leaving_taint import leaving_taint
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PodReference, Refusal
from rescheduler.policy.fields.daemon.safety import BreakerPolicy
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, budget, cluster, node, pod, taint, workload
from tests.unit.disruption.cases import policy

CLOSED = Breaker()
NODES = (node("n1", cpu="64"), node("n2", cpu="64"), node("n3", cpu="64"))


def world(*objects: Any, count: int = 40, replicas: int | None = None, on: str = "n1") -> Cluster:
    """A workload of ``count`` ready pods, with a limit of 10% a wave."""
    pods = [pod(f"web-{number}", node=on) for number in range(count)]
    return cluster(*NODES, workload("web", replicas or count), *pods, *objects)


def move(number: int, to_node: str = "n2", **fields: Any) -> Move:
    """A move of one replica from n1."""
    reference = PodReference("default", f"web-{number}", f"uid-default-web-{number}")
    defaults: dict[str, Any] = {"from_node": "n1", "wave": 1, "objective": "MakeRoom", "reason": "room"}
    return Move(pod=reference, to_node=to_node, **{**defaults, **fields})


def context(seen: Cluster, **fields: Any) -> GateContext:
    """What the gate sees, with the default policy."""
    return GateContext(seen, decide_eligibility(seen, Policy()), **{"may_execute": True, **fields})


def rules(verdicts: tuple[Permit | Refusal, ...]) -> list[str | None]:
    """The rule of each refusal, None for a permit."""
    return [verdict.rule if isinstance(verdict, Refusal) else None for verdict in verdicts]


def only(verdicts: tuple[Permit | Refusal, ...]) -> Refusal:
    """The one refusal that was given."""
    (refusal,) = verdicts
    assert isinstance(refusal, Refusal)
    return refusal


def with_groups(seen: GateContext, groups: tuple[DisruptionGroup, ...]) -> GateContext:
    """The same with other budgets."""
    return replace(seen, eligibility=structs.replace(seen.eligibility, groups=groups))


def replace_move(before: Move, **fields: Any) -> Move:
    """A move with other fields."""
    return structs.replace(before, **fields)


def test_a_move_that_still_holds_gets_a_permit() -> None:
    """The permit carries the move and the resourceVersion that was seen."""
    (permit,) = permit_wave([move(0)], context(world()))
    assert permit == Permit(move(0), "1")


def test_no_permit_without_leave_to_execute() -> None:
    """Mode comes first."""
    (refusal,) = permit_wave([move(0)], context(world(), may_execute=False))
    assert isinstance(refusal, Refusal)
    assert refusal.rule == "Mode"
    assert refusal.pod == move(0).pod


def changed(**fields: Any) -> Cluster:
    """The world with one pod replaced by another state of itself."""
    seen = world(count=39, replicas=40)
    name = fields.pop("name", "web-39")
    return replace(seen, pods=tuple(sorted([*seen.pods, pod(name, **{"node": "n1", **fields})], key=lambda p: p.key)))


@pytest.mark.parametrize(
    ("seen", "rule"),
    [
        (changed(), None),
        (world(count=39, replicas=40), "PodGone"),
        (changed(uid="another"), "PodReplaced"),
        (changed(node="n3"), "PodMoved"),
        (changed(node=None), "PodMoved"),
        (changed(deletion_at=NOW), "Terminating"),
        (changed(phase="Failed"), "Finished"),
        (changed(annotations={"rescheduler.dev/do-not-evict": "true"}), "DoNotEvict"),
        (replace(changed(), nodes=NODES[:1]), "DestinationGone"),
        (replace(changed(), budgets=(budget("web", 0),)), "PodDisruptionBudget"),
    ],
)
def test_whatever_changed_since_planning_is_refused_by_name(seen: Cluster, rule: str | None) -> None:
    """The world just before the wave decides, not the one of the plan."""
    (verdict,) = permit_wave([move(39)], context(seen))
    assert rules((verdict,)) == [rule]
    assert isinstance(verdict, Permit) or verdict.message.startswith("default/web-39 ")


def test_the_refusal_of_an_ineligible_pod_names_it_once() -> None:
    """The rule's own words follow the pod."""
    (refusal,) = permit_wave([move(39)], context(changed(deletion_at=NOW)))
    assert isinstance(refusal, Refusal)
    assert refusal.message == "default/web-39 is terminating already"


def test_a_pod_that_eligibility_left_out_without_a_word_is_refused_too() -> None:
    """Only what is listed as movable may go."""
    seen = world()
    silent = replace(context(seen), eligibility=decide_eligibility(cluster(), Policy()))
    assert rules(permit_wave([move(0)], silent)) == ["Eligibility"]


def test_an_obstacle_at_the_destination_is_told() -> None:
    """What the filters say now comes in as data, by uid."""
    obstacles = {"uid-default-web-0": "Insufficient cpu"}
    first, second = permit_wave([move(0), move(1)], context(world(), obstacles=obstacles))
    assert isinstance(first, Refusal)
    assert (first.rule, "Insufficient cpu" in first.message) == ("Destination", True)
    assert isinstance(second, Permit)


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ({"is_ready": False}, "not ready"),
        ({"is_unschedulable": True}, "cordoned"),
        ({"taints": (taint("ToBeDeletedByClusterAutoscaler"),)}, "an autoscaler is about to remove"),
        ({"deletion_at": NOW}, "is being deleted"),
        ({"taints": (taint("dedicated", "others"),)}, "has taint dedicated, which it does not tolerate"),
        ({"taints": (taint("gone", "x", "NoExecute"),)}, "has taint gone"),
    ],
)
def test_a_destination_must_take_pods_now(state: dict[str, Any], told: str) -> None:
    """A node that is down, cordoned since, or about to go, is no destination; other nodes still are."""
    found = world()
    changed = tuple(structs.replace(item, **state) if item.name == "n2" else item for item in found.nodes)
    (verdict,) = permit_wave([move(0)], context(replace(found, nodes=changed)))
    assert isinstance(verdict, Refusal)
    assert (verdict.rule, told in verdict.message) == ("Destination", True)


@pytest.mark.parametrize("found", [taint("slow", "x", "PreferNoSchedule"), leaving_taint("p-1", NOW + 60)])
def test_a_taint_that_keeps_nobody_off_for_good_is_none(found: Taint) -> None:
    """One that is only preferred, and our own, which closes a node that pods leave until it runs out."""
    nodes = tuple(structs.replace(item, taints=(found,)) for item in world().nodes)
    assert rules(permit_wave([move(0)], context(replace(world(), nodes=nodes)))) == [None]


@pytest.mark.parametrize("state", [{"is_unschedulable": True}, {"taints": (taint("dedicated", "others"),)}])
def test_a_closed_destination_takes_pods_that_tolerate_it(state: dict[str, Any]) -> None:
    """As the scheduler has it."""
    found = world()
    nodes = tuple(structs.replace(item, **state) if item.name == "n2" else item for item in found.nodes)
    anything = (Toleration(operator="Exists"),)
    pods = tuple(structs.replace(item, spec=structs.replace(item.spec, tolerations=anything)) for item in found.pods)
    assert rules(permit_wave([move(0)], context(replace(found, nodes=nodes, pods=pods)))) == [None]


@pytest.mark.parametrize("labels", [{"pool": "a"}, {"pool": "b"}, {}])
@pytest.mark.parametrize("form", ["selector", "affinity"])
def test_a_destination_that_the_pod_does_not_select_any_more_is_none(labels: dict[str, str], form: str) -> None:
    """A node may be given other labels after the plan was proven."""
    term = NodeSelectorTerm(expressions=(Requirement("pool", "In", ("a",)),))
    forms: dict[str, dict[str, Any]] = {
        "selector": {"node_selector": (("pool", "a"),)},
        "affinity": {"node_affinity": NodeAffinityRules(required=(term,))},
    }
    found = world()
    nodes = tuple(structs.replace(item, labels=labels) if item.name == "n2" else item for item in found.nodes)
    pods = tuple(structs.replace(item, spec=structs.replace(item.spec, **forms[form])) for item in found.pods)
    verdicts = permit_wave([move(0)], context(replace(found, nodes=nodes, pods=pods)))
    if labels == {"pool": "a"}:
        assert rules(verdicts) == [None]
    else:
        assert only(verdicts).rule == "Destination"
        assert "leaves node n2 out" in only(verdicts).message


def test_a_pod_is_sent_once() -> None:
    """Neither twice in a wave nor again in a later one."""
    assert rules(permit_wave([move(0), move(0)], context(world()))) == [None, "AlreadySent"]
    assert rules(permit_wave([move(0)], context(world(), sent={"uid-default-web-0": "n1"}))) == ["AlreadySent"]


def test_permits_of_a_wave_count_against_each_other() -> None:
    """Four of forty may be away at once: the fifth is refused."""
    verdicts = permit_wave([move(number) for number in range(5)], context(world()))
    assert rules(verdicts) == [None, None, None, None, "WorkloadBudget"]
    assert isinstance(verdicts[-1], Refusal)
    assert verdicts[-1].message == "default/web-4 would be eviction 5 of ReplicaSet default/web, which allows 4 now"


def test_a_refused_move_spends_nothing() -> None:
    """A wave with a pod that is gone has as many permits left as without it."""
    moves = [move(99), *(move(number) for number in range(4))]
    assert rules(permit_wave(moves, context(world()))) == ["PodGone", None, None, None, None]


@pytest.mark.parametrize(
    ("limits", "verdicts"),
    [
        (MoveLimits(), [None, None, None]),
        (MoveLimits(max_evictions=4), [None, None, "Limits"]),
        (MoveLimits(max_evictions=2), ["Limits", "Limits", "Limits"]),
        (MoveLimits(max_evictions_per_node=2), [None, "Limits", "Limits"]),
        (MoveLimits(max_evictions_per_namespace=3), [None, None, "Limits"]),
    ],
)
def test_limits_of_the_plan_count_what_was_sent_before(limits: MoveLimits, verdicts: list[str | None]) -> None:
    """Two were sent already, one of them from n1 and one from this namespace."""
    seen = context(world(), sent={"a": "n1", "b": ""}, sent_namespaces={"default": 1, "other": 1})
    capped = replace(seen, eligibility=decided_with(seen, limits))
    found = permit_wave([move(0), move(1), move(2)], capped)
    assert rules(found) == verdicts
    if limits.max_evictions == 4:
        assert isinstance(found[-1], Refusal)
        assert found[-1].message == "default/web-2 would be eviction 5 of this plan; the policy allows 4"


def decided_with(seen: GateContext, limits: MoveLimits) -> Any:
    """The same eligibility under other limits."""
    return structs.replace(seen.eligibility, limits=limits)


class TestPolicyGate:
    """The gate as the executor meets it."""

    def test_dry_run_without_confirmation_permits_nothing(self) -> None:
        """Only a confirmation, or a policy with mode Execute, opens it."""
        unconfirmed = PolicyGate(Policy(), is_confirmed=False)
        assert rules(unconfirmed.permit([move(0)], world(), [])) == ["Mode"]
        execute = PolicyGate(policy(mode="Execute"), is_confirmed=False)
        assert rules(execute.permit([move(0)], world(), [])) == [None]
        assert rules(PolicyGate(Policy()).permit([move(0)], world(), [])) == [None]

    def test_an_eviction_that_was_sent_counts_though_the_snapshot_does_not_show_it(self) -> None:
        """The snapshot still has the pod Ready; it is taken as gone all the same."""
        gate = PolicyGate(Policy())
        sent = [move(number).pod for number in range(3)]
        assert rules(gate.permit([move(3), move(4)], world(), sent)) == [None, "WorkloadBudget"]

    def test_a_debt_is_paid_when_the_replacement_is_ready(self) -> None:
        """Forty ready again: four more may go."""
        gate = PolicyGate(Policy())
        seen = world(pod("web-new", node="n2"), count=40, replicas=40)
        after = replace(seen, pods=tuple(item for item in seen.pods if item.name != "web-0"))
        moves = [move(number) for number in range(1, 6)]
        assert rules(gate.permit(moves, after, [move(0).pod])) == [None] * 4 + ["WorkloadBudget"]

    def test_a_replacement_that_is_not_ready_keeps_the_debt_open(self) -> None:
        """One is on its way: three more."""
        gate = PolicyGate(Policy())
        seen = world(pod("web-new", node="n2", is_ready=False), count=40, replicas=40)
        after = replace(seen, pods=tuple(item for item in seen.pods if item.name != "web-0"))
        moves = [move(number) for number in range(1, 6)]
        assert rules(gate.permit(moves, after, [move(0).pod])) == [None] * 3 + ["WorkloadBudget"] * 2

    def test_a_replacement_of_the_same_name_is_another_pod(self) -> None:
        """StatefulSets use names again: the uid tells the debt from its payment."""
        gate = PolicyGate(Policy())
        seen = world()
        pods = tuple(item if item.name != "web-0" else pod("web-0", node="n2", uid="new") for item in seen.pods)
        after = replace(seen, pods=pods)
        moves = [move(number) for number in range(1, 6)]
        assert rules(gate.permit(moves, after, [move(0).pod])) == [None] * 4 + ["WorkloadBudget"]

    def test_owners_known_by_their_pods_alone_do_not_shrink_while_one_is_replaced(self) -> None:
        """Ten were seen; with nine left and none on its way the tenth is missing, not unwanted."""
        pods = [pod(f"web-{number}", node="n1") for number in range(10)]
        gate = PolicyGate(Policy())
        assert rules(gate.permit([move(0)], cluster(*NODES, *pods), [])) == [None]
        assert rules(gate.permit([move(1)], cluster(*NODES, *pods[1:]), [move(0).pod])) == ["WorkloadBudget"]
        whole = cluster(*NODES, *pods[1:], pod("web-new", node="n2"))
        assert rules(gate.permit([move(1)], whole, [move(0).pod])) == [None]

    def test_limits_know_from_where_earlier_moves_of_the_plan_left(self) -> None:
        """maxEvictionsPerNode counts over the waves."""
        gate = PolicyGate(policy(limits={"maxEvictionsPerNode": 1}))
        assert rules(gate.permit([move(0)], world(), [])) == [None]
        assert rules(gate.permit([move(1)], world(), [move(0).pod])) == ["Limits"]

    def test_the_filters_are_asked_again_where_one_is_given(self) -> None:
        """Its answer refuses."""
        asked: list[int] = []

        def recheck(seen: Cluster, moves: Any) -> dict[str, str]:
            asked.append(len(seen.pods))
            return {moves[0].pod.uid: "node(s) had untolerated taint(s)"}

        gate = PolicyGate(Policy(), recheck=recheck)
        assert rules(gate.permit([move(0)], world(), [])) == ["Destination"]
        assert asked == [40]


def test_only_the_gate_makes_permits() -> None:
    """No other file of the package constructs the object that an executor acts on."""
    root = Path(rescheduler.__file__).parent
    makers = {
        path.relative_to(root).as_posix()
        for path in root.rglob("*.py")
        for found in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(found, ast.Call) and getattr(found.func, "id", getattr(found.func, "attr", "")) == "Permit"
    }
    assert makers == {"disruption/gate/gate.py"}


class TestOrders:
    """What forbids everything, in this order."""

    def test_each_order_is_told_in_its_own_words(self) -> None:
        """A person's switch, a newer plan, a policy that only watches."""
        told = {
            "Stop": context(world(), stop="maintenance"),
            "Fence": context(world(), fence="plan 8 has begun"),
            "Mode": context(world(), may_execute=False),
        }
        messages = [only(permit_wave([move(0)], seen)) for seen in told.values()]
        assert [refusal.rule for refusal in messages] == list(told)
        assert [refusal.message for refusal in messages[:2]] == [
            "default/web-0 is left alone: everything is stopped: maintenance",
            "default/web-0 is left alone: plan 8 has begun",
        ]

    def test_the_first_no_is_what_is_told(self) -> None:
        """The whole order, each question answered with no; one after the other is then answered with yes."""
        seen = replace(changed(deletion_at=NOW, uid="another", node="n3"), nodes=NODES[:1])
        finding = Finding("watchAge", "nothing new")
        broken = Breaker(opened_at=NOW, openings=1, reason="because")
        worst = replace(
            context(seen),
            may_execute=False,
            stop="",
            fence="newer",
            caution=Caution((finding,), broken, BreakerPolicy()),
            sent={"uid-default-web-39": "n1"},
        )
        order = []
        better: dict[str, Any] = {}
        for fields in (
            {}, {"stop": None}, {"fence": None}, {"may_execute": True},
            {"caution": Caution((), broken, BreakerPolicy())}, {"caution": None}, {"sent": {}},
        ):  # fmt: skip
            better |= fields
            order.append(only(permit_wave([move(39)], replace(worst, **better))).rule)
        assert order == ["Stop", "Fence", "Mode", "Health", "Breaker", "AlreadySent", "PodReplaced"]
        moved = replace(changed(deletion_at=NOW, node="n3"), nodes=NODES[:1])
        assert only(permit_wave([move(39)], context(moved))).rule == "PodMoved"
        leaving = replace(changed(deletion_at=NOW), nodes=NODES[:1])
        assert only(permit_wave([move(39)], context(leaving))).rule == "Terminating"


class TestCaution:
    """What binds a daemon, and nobody else."""

    def cautious(self, *findings: Finding, breaker: Breaker = CLOSED) -> GateContext:
        """A daemon's context."""
        return context(world(), caution=Caution(findings, breaker, BreakerPolicy()))

    def test_a_calm_cluster_lets_a_daemon_act(self) -> None:
        """Nothing found, the breaker closed."""
        assert rules(permit_wave([move(0), move(1)], self.cautious())) == [None, None]

    def test_the_first_finding_is_told(self) -> None:
        """With the field of the policy that asks for it."""
        refusal = only(permit_wave([move(0)], self.cautious(Finding("settle", "2 nodes came"), Finding("x", "y"))))
        assert (refusal.rule, refusal.message) == (
            "Health",
            "default/web-0 is left alone: 2 nodes came (policy: health.settle)",
        )

    def test_an_open_breaker_lets_nothing_go(self) -> None:
        """Until its hour is over; the time is that of the snapshot."""
        shut = Breaker(opened_at=NOW - 3599, openings=1, reason="because")
        refusal = only(permit_wave([move(0)], self.cautious(breaker=shut)))
        assert (refusal.rule, "the circuit breaker is open: because" in refusal.message) == ("Breaker", True)

    def test_then_it_lets_one_go(self) -> None:
        """One eviction is on trial, not a wave."""
        due = Breaker(opened_at=NOW - 3600, openings=1, reason="because")
        verdicts = permit_wave([move(99), move(0), move(1), move(2)], self.cautious(breaker=due))
        assert rules(verdicts) == ["PodGone", None, "Breaker", "Breaker"]
        assert isinstance(verdicts[2], Refusal)
        assert verdicts[2].message == (
            "default/web-1 is left alone: the circuit breaker is open, and one eviction is on trial"
        )


def test_windows_and_rates_are_asked_before_the_pod_is_looked_at() -> None:
    """And those before floors; a pod that may not move at all was refused before any of them."""
    seen = context(replace(world(count=40), nodes=NODES[:1]))
    groups = (
        DisruptionGroup("PodDisruptionBudget", "guard", 0, (0, 1)),
        DisruptionGroup("WorkloadBudget", "floor", 0, (0, 1)),
        DisruptionGroup("RampUp", "slow", 0, (0, 1)),
    )
    chosen = [
        Move(PodReference("default", seen.cluster.pods[0].name, seen.cluster.pods[0].uid), "n1", "n9", 1, "M", "r")
    ]
    order = [only(permit_wave(chosen, with_groups(seen, left))).rule for left in (groups, groups[:2])]
    here = [replace_move(chosen[0], to_node="n1")]
    order += [only(permit_wave(here, with_groups(seen, left))).rule for left in (groups[:2], groups[:1])]
    assert order == ["RampUp", "DestinationGone", "WorkloadBudget", "PodDisruptionBudget"]


POD_STATES = st.sampled_from(["ready", "unready", "terminating", "gone", "pending"])


@given(
    states=st.lists(POD_STATES, min_size=2, max_size=25),
    wanted=st.lists(st.integers(0, 24), max_size=30),
    sent=st.sets(st.integers(0, 24), max_size=5),
    allowed=st.one_of(st.none(), st.integers(0, 5)),
    limit=st.integers(0, 6),
)
def test_no_harmful_list_of_moves_gets_past_the_gate(
    states: list[str], wanted: list[int], sent: set[int], allowed: int | None, limit: int
) -> None:
    """An adversarial planner may ask for anything: floor, budget, limits and "once" hold for all permits together."""
    pods: list[Pod] = []
    fields: dict[str, dict[str, Any]] = {
        "ready": {"node": "n1"},
        "unready": {"node": "n1", "is_ready": False},
        "terminating": {"node": "n1", "deletion_at": NOW},
        "pending": {},
    }
    for number, state in enumerate(states):
        if state != "gone":
            pods.append(pod(f"web-{number}", **fields[state]))
    guards = [] if allowed is None else [budget("web", allowed, desired_healthy=1)]
    seen = cluster(*NODES, workload("web", len(states)), *pods, *guards)
    gate = PolicyGate(policy(limits={"maxEvictions": limit}, disruption={"singleReplicas": "Allow"}))
    verdicts = gate.permit([move(number) for number in wanted], seen, [move(number).pod for number in sent])
    gone = [verdict.move.pod.name for verdict in verdicts if isinstance(verdict, Permit)]
    assert len(gone) == len(set(gone))
    assert not {f"web-{number}" for number in sent} & set(gone)
    assert not gone or len(gone) + len(sent) <= limit
    ready = {f"web-{number}" for number, state in enumerate(states) if state == "ready"}
    ready -= {f"web-{number}" for number in sent}
    floor = len(states) - max(1, len(states) // 10)
    assert not gone or len(ready - set(gone)) >= floor
    if allowed is not None:
        assert len(ready & set(gone)) <= allowed
