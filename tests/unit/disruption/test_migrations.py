"""Pods that whoever owns them moves himself when he is asked."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, EntryState, Ledger
from rescheduler.model.objects.annotations import EVICTION_IN_PROGRESS, REQUEST_EVICT_ONLY
from rescheduler.model.objects.constraints import Volume
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, Refusal, reference_to
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod
from tests.unit.disruption.cases import policy
from tests.unit.disruption.ledgers import entry, ledger
from tests.unit.disruption.surge_cases import tight_budget

MIGRATE: dict[str, Any] = {"method": "Migrate"}


def machine(name: str, on: str = "n1", **fields: Any) -> Pod:
    """The pod of a virtual machine: of a controller that is not known, with data on its node, never started again."""
    owners = (OwnerReference("VirtualMachineInstance", name, f"uid-{name}", group="kubevirt.io"),)
    defaults: dict[str, Any] = {"annotations": {REQUEST_EVICT_ONLY: ""}, "restart_policy": "Never"}
    volumes = (Volume("EmptyDir"), Volume("PersistentVolumeClaim", claim="disk"))
    return pod(name, node=on, owners=owners, volumes=volumes, **{**defaults, **fields})


def decided(
    *pods: Any, rules: tuple[dict[str, Any], ...] = (MIGRATE,), by: Policy | None = None, known: Ledger = EMPTY_LEDGER
) -> Eligibility:
    """Eligibility on two nodes."""
    seen = cluster(node("n1", cpu="64"), node("n2", cpu="64"), *pods)
    return decide_eligibility(seen, by or policy(disruption={"moveBy": list(rules)}), ledger=known)


def asked_for(one: Pod, state: EntryState = EntryState.SURGING) -> Ledger:
    """A ledger by which the owner of a pod was asked to move it."""
    return ledger(entry(ago=120.0, state=state, pod=reference_to(one), method=MoveMethod.MIGRATE))


def test_by_a_rule_they_move_whatever_their_controller_restart_policy_and_storage() -> None:
    """A budget that allows nothing does not bind either: he who answers keeps them running."""
    found = decided(machine("vm"), tight_budget("vm", 1))
    assert found.methods == {0: MoveMethod.MIGRATE}


@pytest.mark.parametrize("rules", [(), ({"method": "Surge"},), ({"method": "Evict"}, MIGRATE)])
def test_without_a_rule_that_says_so_they_are_left_alone(rules: tuple[dict[str, Any], ...]) -> None:
    """Also where nothing else would refuse them; the first rule that names a pod holds."""
    found = decided(machine("vm", restart_policy="Always"), rules=rules)
    assert [refusal.rule for refusal in found.refusals.values()] == ["Migrate"]


def test_a_rule_of_migrations_is_about_no_other_pods() -> None:
    """They are asked by the rules after it."""
    replicas = [pod(f"web-{number}", node="n1") for number in range(10)]
    assert decided(*replicas).methods == {}
    assert len(decided(*replicas).movable) == 10


def test_one_that_moves_already_and_one_that_is_not_ready_stay() -> None:
    """The second as any pod does."""
    moving = machine("vm", annotations={REQUEST_EVICT_ONLY: "", EVICTION_IN_PROGRESS: ""})
    assert [refusal.rule for refusal in decided(moving).refusals.values()] == ["Migrate"]
    assert [refusal.rule for refusal in decided(machine("vm", is_ready=False)).refusals.values()] == ["NotReady"]


def test_one_of_a_node_at_once() -> None:
    """Whatever their controllers."""
    found = decided(machine("a"), machine("b"), machine("c", "n2"))
    assert {(group.rule, group.name, group.allowed_per_wave, group.pods) for group in found.groups} == {
        ("Migrate", "node n1", 1, (0, 1)),
        ("Migrate", "node n2", 1, (2,)),
    }


def test_an_owner_is_not_asked_again_until_it_is_known_what_he_did() -> None:
    """Nor for another pod of the node meanwhile."""
    first, second = machine("a"), machine("b")
    found = decided(first, second, known=asked_for(first))
    assert [refusal.rule for refusal in found.refusals.values()] == ["MigrationUnderWay"]
    assert [(group.rule, group.allowed_per_wave) for group in found.groups] == [("Migrate", 0)]
    for state in (EntryState.REPAID, EntryState.NOT_EVICTED, EntryState.REFUSED):
        assert decided(first, second, known=asked_for(first, state)).refusals == {}


def test_nor_while_somebody_else_has_a_pod_of_the_node_moved() -> None:
    """As the annotation says; pods of other nodes may be asked for."""
    moving = machine("a", annotations={REQUEST_EVICT_ONLY: "", EVICTION_IN_PROGRESS: ""})
    found = decided(moving, machine("b"), machine("c", "n2"))
    assert {(group.name, group.allowed_per_wave) for group in found.groups} == {("node n1", 0), ("node n2", 1)}


@pytest.mark.parametrize("run_id", [None, "run-1"])
def test_the_gate_lets_owners_be_asked_by_a_run_that_has_an_id(run_id: str | None) -> None:
    """Whoever carries plans out under the policy of a descheduler has none, and evicts alone."""
    seen = cluster(node("n1", cpu="64"), node("n2", cpu="64"), machine("vm"))
    move = Move(reference_to(seen.pods[0]), "n1", "n2", 1, "EmptyNodes", "because", method=MoveMethod.MIGRATE)
    gate = PolicyGate(policy(disruption={"moveBy": [MIGRATE]}), surges_of=run_id)
    (verdict,) = gate.permit([move], seen, ())
    assert isinstance(verdict, Permit) is (run_id is not None)
    if isinstance(verdict, Refusal):
        assert verdict.rule == "Method"


def test_back_off_says_who_moved_in_vain() -> None:
    """For the workload of a pod that its owner did not move."""
    one = machine("vm")
    seen = cluster(node("n1", cpu="64"), node("n2", cpu="64"), one)
    failed = entry(
        ago=20.0, state=EntryState.NOT_EVICTED, workload="uid-vm", method=MoveMethod.MIGRATE, failure="he has given up"
    )  # fmt: skip
    found = decide_eligibility(seen, policy(disruption={"moveBy": [MIGRATE]}), ledger=ledger(failed), is_daemon=True)
    (refusal,) = found.refusals.values()
    assert refusal.rule == "BackOff"
    assert "were moved by whoever owns them in vain (he has given up)" in refusal.message
