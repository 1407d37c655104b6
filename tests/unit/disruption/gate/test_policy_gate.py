"""Tests of what the gate of one plan gathers: switches, the fence, what binds a daemon, and what it remembers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from msgspec import structs

from rescheduler.disruption.gate.health import Finding
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.model.daemon.ledger import Breaker, EntryState
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import Namespace
from rescheduler.model.plan.attempts import EarlierAttempts
from rescheduler.model.plan.plan import Move, PodReference, Refusal
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry, ledger


def world(*objects: Any, cpu: str = "64", count: int = 40) -> Cluster:
    """Forty replicas on one of three nodes."""
    nodes = (node(f"n{number}", cpu=cpu) for number in (1, 2, 3))
    return cluster(*nodes, workload("web", 40), *(pod(f"web-{n}", node="n1") for n in range(count)), *objects)


def move(number: int) -> Move:
    """A move of one replica."""
    reference = PodReference("default", f"web-{number}", f"uid-default-web-{number}")
    return Move(reference, "n1", "n2", 1, "MakeRoom", "room")


def first(gate: PolicyGate, seen: Cluster, **options: Any) -> str | None:
    """The rule against the first move, None for a permit."""
    verdict = gate.permit([move(0)], seen, options.pop("sent", []), **options)[0]
    return verdict.rule if isinstance(verdict, Refusal) else None


def test_switches_are_asked_each_time() -> None:
    """The one on this machine, and the mark on the namespace."""
    reasons: list[str | None] = [None, "maintenance"]
    gate = PolicyGate(Policy(), stop=lambda: reasons.pop(0))
    assert [first(gate, world()), first(gate, world())] == [None, "Stop"]
    marked = Namespace("rescheduler-holds", {}, {"rescheduler.dev/stop": "fire"})
    assert first(PolicyGate(Policy()), replace(world(), namespaces=(marked,))) == "Stop"


def test_the_fence_is_asked_with_the_ledger() -> None:
    """Whoever knows the plan's number says whether it is the one in force."""
    gate = PolicyGate(Policy(), fence=lambda known: "plan 8 has begun" if known.plan > 7 else None)
    assert first(gate, world(), ledger=ledger(plan=7)) is None
    assert first(gate, world(), ledger=ledger(plan=8)) == "Fence"


def test_an_open_debt_of_others_counts_as_a_missing_pod() -> None:
    """The snapshot still shows the pod; four of forty may be away."""
    debts = [entry(number, ago=5.0, state=EntryState.OPEN) for number in (1, 2, 3, 4)]
    gate = PolicyGate(Policy())
    assert first(gate, world(), ledger=ledger(*debts[:3])) is None
    assert first(gate, world(), ledger=ledger(*debts)) == "WorkloadBudget"


class TestDaemon:
    """Nobody watches, so health, breaker and back-off bind; with a person they do not."""

    def test_a_sick_cluster(self) -> None:
        """As the snapshot shows it, or as somebody else has seen it."""
        calm = world()
        first_node, *others = calm.nodes
        sick = replace(calm, nodes=(first_node, *(structs.replace(item, created_at=NOW - 10) for item in others)))
        assert first(PolicyGate(Policy(), is_daemon=True), sick) == "Health"
        assert first(PolicyGate(Policy()), sick) is None
        assert first(PolicyGate(Policy(), is_daemon=True), world()) is None
        told = PolicyGate(Policy(), is_daemon=True, health=lambda *_: (Finding("watchAge", "old"),))
        assert first(told, world()) == "Health"

    def test_a_cluster_without_head_room(self) -> None:
        """Forty cpu of 42 are taken."""
        assert first(PolicyGate(Policy(), is_daemon=True), world(cpu="14")) == "Health"
        assert first(PolicyGate(Policy()), world(cpu="14")) is None
        assert first(PolicyGate(policy(health={"headRoom": "0%"}), is_daemon=True), world(cpu="14")) is None

    def test_an_open_breaker(self) -> None:
        """As the ledger has it, or as its entries would open it."""
        kept = ledger(breaker=Breaker(opened_at=NOW, openings=1, reason="because"))
        failed = ledger(*(entry(number, ago=7200.0, state=EntryState.FAILED, workload="x") for number in (50, 51)))
        for past in (kept, failed):
            assert first(PolicyGate(Policy(), is_daemon=True), world(), ledger=past) == "Breaker"
            assert first(PolicyGate(Policy()), world(), ledger=past) is None

    def test_a_pod_that_rests(self) -> None:
        """By the rules of eligibility."""
        past = ledger(entry(50, ago=60.0, landed_on="n3"))
        assert first(PolicyGate(Policy(), is_daemon=True), world(), ledger=past) == "BackOff"
        assert first(PolicyGate(Policy()), world(), ledger=past) is None


class TestMemory:
    """What no snapshot shows."""

    DENY = policy(disruption={"unsettled": "Deny"})

    def test_a_workload_that_was_scaled_between_two_looks(self) -> None:
        """Its pods are all there again, and it stays quiet for five minutes."""
        gate = PolicyGate(self.DENY)
        before = world()
        assert first(gate, before) is None
        scaled = replace(before, workloads=(workload("web", 39),), pods=before.pods[:39])
        assert first(gate, scaled) == "Rescaled"
        later = replace(scaled, taken_at=NOW + 300)
        assert first(gate, later) is None

    def test_what_this_plan_has_sent_is_no_rollout(self) -> None:
        """The pod is gone and its replacement not counted yet."""
        gate = PolicyGate(self.DENY)
        assert first(gate, world()) is None
        after = world(count=39)
        lagging = structs.replace(after.workloads[0], updated_replicas=39)
        short = replace(after, workloads=(lagging,))
        gone = PodReference("default", "web-39", "uid-default-web-39")
        assert first(gate, short) == "Rollout"
        gate.permit([move(39)], world(), [])
        assert first(gate, short, sent=[gone]) is None

    def test_a_stateful_set_gives_one_pod_to_a_plan(self) -> None:
        """Though it is complete again."""
        members = [pod(f"db-{n}", node="n1", kind="StatefulSet") for n in range(20)]
        seen = cluster(*(node(f"n{n}", cpu="64") for n in (1, 2)), workload("db", 20, kind="StatefulSet"), *members)
        moves = [
            Move(PodReference("default", f"db-{n}", f"uid-default-db-{n}"), "n1", "n2", 1, "MakeRoom", "room")
            for n in (19, 18)
        ]
        gate = PolicyGate(self.DENY)
        rules = [item.rule if isinstance(item, Refusal) else None for item in gate.permit(moves, seen, [])]
        assert rules == [None, "StatefulSet"]
        whole = replace(seen, pods=tuple(item for item in seen.pods if item.name != "db-19"))
        whole = replace(whole, pods=(*whole.pods, pod("db-19", node="n2", kind="StatefulSet", uid="new")))
        (verdict,) = gate.permit(moves[1:], whole, [moves[0].pod])
        assert isinstance(verdict, Refusal)
        assert verdict.rule == "StatefulSet"


class TestLeave:
    """Who has to say yes, to whom it is said, and that it ends."""

    def test_what_a_person_has_to_approve_goes_only_while_he_has(self) -> None:
        """Under Approve nothing does before or after; in Execute, or where he has from the start, nobody is asked."""
        approving = policy(mode="Approve")
        gate = PolicyGate(approving, is_confirmed=False, is_daemon=True)
        assert first(gate, world()) == "Mode"
        with gate.confirmed():
            assert first(gate, world()) is None
        assert first(gate, world()) == "Mode"
        assert first(PolicyGate(approving), world()) is None
        assert first(PolicyGate(policy(mode="Execute"), is_confirmed=False), world()) is None

    def test_a_daemon_in_execute_lets_go_whom_the_ramp_up_lets_go(self) -> None:
        """Nobody else, and nobody before or after; a person's yes is for the whole plan, and so is apply's."""
        ramp = {"rampUp": {"start": 1, "window": "1h", "doubleEvery": "24h"}}
        ramping, approving = (policy(mode=mode, disruption=ramp) for mode in ("Execute", "Approve"))
        gate = PolicyGate(ramping, is_confirmed=False, is_daemon=True)

        def goes(asked: PolicyGate) -> list[bool]:
            return [not isinstance(item, Refusal) for item in asked.permit([move(0), move(1)], world(), [])]

        assert goes(gate) == [True, False]
        with gate.granting(frozenset({"uid-default-web-1"})):
            assert goes(gate) == [False, True]
        assert goes(gate) == [True, False]
        for other in (PolicyGate(ramping), PolicyGate(approving, is_daemon=True)):
            with other.granting(frozenset({"uid-default-web-1"})):
                assert goes(other) == [True, True]

    def test_pods_that_a_plan_wants_gone_need_not_be_ready(self) -> None:
        """Those alone: each verdict stays with its move, in the order of the question."""
        seen = world()
        down = tuple(structs.replace(item, is_ready=item.name not in ("web-0", "web-1")) for item in seen.pods)
        seen = replace(seen, pods=down)
        assert first(PolicyGate(Policy()), seen) == "NotReady"
        gate = PolicyGate(Policy(), lenient=lambda item: item.pod.name == "web-1")
        verdicts = gate.permit([move(0), move(1), move(2)], seen, [])
        assert [item.rule if isinstance(item, Refusal) else None for item in verdicts] == ["NotReady", None, None]

    def test_what_earlier_attempts_sent_counts_while_the_rest_is_carried_out(self) -> None:
        """By the node that each left, though no snapshot and no question of this gate has shown it; not afterwards."""
        one = policy(limits={"maxEvictionsPerNode": 1})
        gone = Move(PodReference("other", "gone", "uid-gone"), "n1", "n2", 1, "MakeRoom", "room")
        gate = PolicyGate(one)
        with gate.after(EarlierAttempts(sent=(gone,), number=1)):
            assert first(gate, world(), sent=[gone.pod]) == "Limits"
            assert first(gate, world()) is None
        assert first(PolicyGate(one), world(), sent=[gone.pod]) is None

    def test_a_pod_that_was_made_since_the_first_snapshot_is_not_moved_by_a_later_attempt(self) -> None:
        """Whatever the planner says; before and after it may be."""
        gate, since = PolicyGate(Policy()), min(item.created_at or 0.0 for item in world().pods)
        assert first(gate, world()) is None
        with gate.after(EarlierAttempts(since=since)):
            assert first(gate, world()) == "MovedOnce"
        assert first(gate, world()) is None

    def test_a_look_is_remembered(self) -> None:
        """So that a plan is made by what it is judged by."""
        gate = PolicyGate(Policy(), is_daemon=True)
        assert dict(gate.wanted) == {}
        gate.look(world())
        assert list(gate.wanted) == ["uid-default-web"]
