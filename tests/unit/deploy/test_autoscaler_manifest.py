"""The optional manifest for life beside an autoscaler."""

from __future__ import annotations

from typing import Any

import yaml

from rescheduler.adapters.kubernetes.autoscalers.capacity_objects import (
    CAPACITY_BUFFER,
    COLLECTIONS,
    PRIORITY_CLASS,
    PROVISIONING_REQUEST,
    TEMPLATES,
)
from rescheduler.adapters.kubernetes.rights.parts import CHANGE_NODES
from rescheduler.adapters.kubernetes.rights.rights import Right
from tests.kubernetes_schemas import check_by_schema
from tests.paths import DEPLOY


def objects(name: str) -> dict[tuple[str, str], Any]:
    """Objects of a file by kind and name."""
    found = [item for item in yaml.safe_load_all((DEPLOY / name).read_text()) if item]
    return {(item["kind"], item["metadata"]["name"]): item for item in found}


def granted(role: Any) -> set[tuple[str, str, str]]:
    """Verb, group and resource."""
    return {
        (verb, group, resource)
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }


def needed(*rights: Right) -> set[tuple[str, str, str]]:
    """The same of what our code asks for."""
    return {(right.verb, right.group, right.resource) for right in rights}


def test_objects_are_what_kubernetes_knows() -> None:
    """By the strict schemas."""
    for item in objects("autoscaler.yaml").values():
        check_by_schema(item, "1.36")


def test_each_choice_is_granted_what_it_needs_and_no_more() -> None:
    """As the adapters ask for it."""
    found = objects("autoscaler.yaml")
    for name, how in (("provisioning-request", PROVISIONING_REQUEST), ("capacity-buffer", CAPACITY_BUFFER)):
        role = found["Role", f"rescheduler-{name}"]
        assert granted(role) == needed(*COLLECTIONS[how].rights, *TEMPLATES.rights)
    assert granted(found["ClusterRole", "rescheduler-mark-nodes"]) == needed(*CHANGE_NODES)
    for kind, name in (("ClusterRole", "observe"), ("Role", "status")):
        verbs = {verb for verb, _, _ in granted(found[kind, f"rescheduler-autoscaler-{name}"])}
        assert verbs == {"get", "list", "watch"}
    assert found["PriorityClass", PRIORITY_CLASS]["preemptionPolicy"] == "Never"


def test_the_guard_of_nodes_is_the_same_in_both_files() -> None:
    """Whichever is applied last, both taints and the annotation may be written, and nothing else."""
    ours, theirs = objects("autoscaler.yaml"), objects("taint.yaml")
    for kind in ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"):
        assert ours[kind, "rescheduler-node-guard"] == theirs[kind, "rescheduler-node-guard"]
