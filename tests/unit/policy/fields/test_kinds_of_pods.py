"""Which kinds of pods may be moved, where a policy says more than yes or no."""

from __future__ import annotations

import pytest

from rescheduler.policy.fields.kinds_of_pods import PersistentVolumes
from tests.unit.policy.policies import policy, problem


@pytest.mark.parametrize(
    ("written", "read", "told"),
    [
        ("Deny", PersistentVolumes(), "Deny"),
        ("Allow", PersistentVolumes(storage_classes=None), "Allow"),
        ("{storageClasses: [a, b]}", PersistentVolumes(storage_classes=("a", "b")), {"storageClasses": ["a", "b"]}),
        ("{storageClasses: []}", PersistentVolumes(), "Deny"),
        ("{storageClasses: null}", PersistentVolumes(), "Deny"),
        ("{}", PersistentVolumes(), "Deny"),
        ("", PersistentVolumes(), "Deny"),
    ],
)
def test_persistent_volumes_are_denied_allowed_or_named_by_class(
    written: str, read: PersistentVolumes, told: object
) -> None:
    """An empty list and nothing at all are the default, which allows none; what is told is what a file would say."""
    found = policy(f"disruption: {{persistentVolumes: {written}}}").disruption
    assert found.persistent_volumes == read
    assert found.model_dump(by_alias=True)["persistentVolumes"] == told


def test_classes_are_asked_of_by_name() -> None:
    """Allow lets every class, a list its own; of a claim that is not known no class is known either."""
    named = PersistentVolumes(storage_classes=("a",))
    assert named.allows("a")
    assert not any(map(named.allows, ("b", "", None)))
    assert all(map(PersistentVolumes(storage_classes=None).allows, ("a", "", None)))
    assert not any(map(PersistentVolumes().allows, ("a", "", None)))


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (
            "persistentVolumes: Alow",
            "persistentVolumes: found 'Alow'; there are Deny, Allow and {storageClasses: [NAME]}",
        ),
        ("persistentVolumes: {storageClass: [a]}", "unknown field; did you mean storageClasses?"),
        ("persistentVolumes: {storageClasses: a}", "storageClasses: found 'a'; wanted a list: [a, b]"),
        ("ownerKinds: [{kind: CloneSet}]", "ownerKinds[0].group: missing; write group"),
        ("ownerKinds: [{group: apps, kind: DaemonSet}]", "pods of a DaemonSet are never moved"),
        ("ownerKinds: [{group: apps.kruise.io, kind: DaemonSet}]", "pods of a DaemonSet are never moved"),
        ("ownerKinds: [{group: batch, kind: Job}]", "pods of a Job are never moved"),
        ("ownerKinds: [{group: '', kind: Pod}]", "pods of a Pod are never moved"),
        ("ownerKinds: [{group: apps.kruise.io/v1, kind: CloneSet}]", "found 'apps.kruise.io/v1'; wanted an API group"),
        ("ownerKinds: [{group: apps, kind: cloneset}]", "found 'cloneset'; wanted a kind"),
        ("notReady: Maybe", "found 'Maybe'; there are Deny, Allow"),
    ],
)
def test_what_cannot_be_meant_is_refused(body: str, told: str) -> None:
    """The message names the field and what to write."""
    assert told in problem(f"disruption: {{{body}}}")


@pytest.mark.parametrize("names", ["[kube-system]", "[kube-system, kube-public, kube-node-lease]"])
def test_an_include_that_leaves_nothing_is_an_error_that_names_both_fields(names: str) -> None:
    """Only system namespaces, which are left alone: nothing would ever be moved."""
    told = problem(f"scope: {{namespaces: {{include: {names}}}}}")
    assert "namespaces.include names only kube-system" in told
    assert "systemNamespaces: Deny" in told
    allowed = policy(f"scope: {{namespaces: {{include: {names}}}, systemNamespaces: Allow}}")
    assert "kube-system" in (allowed.scope.namespaces.include or ())
