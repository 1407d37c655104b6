"""Tests of the rules about data that a pod would lose or have to carry."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import Volume
from rescheduler.model.objects.storage import PersistentVolumeClaim
from tests.builders import pod
from tests.unit.disruption.cases import policy, rule_against, verdict

SAFE = {"cluster-autoscaler.kubernetes.io/safe-to-evict": "true"}
CLAIM = Volume("PersistentVolumeClaim", claim="data")


@pytest.mark.parametrize(
    ("volume", "rule"),
    [
        (Volume("EmptyDir"), "LocalStorage"),
        (Volume("HostPath"), "LocalStorage"),
        (CLAIM, "PersistentVolume"),
        (Volume("Ephemeral", claim="web-0-scratch"), "PersistentVolume"),
        (Volume("nfs"), None),
    ],
)
def test_volumes_keep_pods_where_they_are(volume: Volume, rule: str | None) -> None:
    """Local data and claims refuse, network volumes do not."""
    assert rule_against(pod("web-0", node="n1", volumes=(volume,))) == rule


def test_the_policy_may_allow_local_storage_and_persistent_volumes() -> None:
    """Each field lifts its own rule, and only that."""
    both = pod("web-0", node="n1", volumes=(Volume("EmptyDir"), CLAIM))
    assert rule_against(both, policy=policy(disruption={"localStorage": "Allow"})) == "PersistentVolume"
    assert rule_against(both, policy=policy(disruption={"persistentVolumes": "Allow"})) == "LocalStorage"
    allowed = policy(disruption={"localStorage": "Allow", "persistentVolumes": "Allow"})
    assert rule_against(both, policy=allowed) is None


def test_the_policy_may_allow_volumes_of_named_storage_classes() -> None:
    """All of a pod's claims must be of one of them; a claim that is not known, or of no class, is not."""
    may = policy(disruption={"persistentVolumes": {"storageClasses": ["network", "shared"]}})
    claims = [
        PersistentVolumeClaim("default", name, storage_class=storage_class)
        for name, storage_class in (("data", "network"), ("logs", "shared"), ("disk", "local"), ("none", ""))
    ]

    def rule(*names: str) -> str | None:
        volumes = tuple(Volume("PersistentVolumeClaim", claim=name) for name in names)
        return rule_against(pod("web-0", node="n1", volumes=volumes), policy=may, claims=tuple(claims))

    assert rule("data") is rule("data", "logs") is None
    assert rule("data", "disk") == rule("none") == rule("unknown") == "PersistentVolume"
    found = verdict(
        pod("web-0", node="n1", volumes=(Volume("PersistentVolumeClaim", claim="disk"),)), policy=may,
        claims=tuple(claims),
    )  # fmt: skip
    assert found is not None
    assert "claim disk of storage class local" in found.message


def test_safe_to_evict_allows_local_storage_but_no_claims() -> None:
    """The autoscaler's mark speaks of local storage alone."""
    assert rule_against(pod("web-0", node="n1", volumes=(Volume("EmptyDir"),), annotations=SAFE)) is None
    assert rule_against(pod("web-0", node="n1", volumes=(CLAIM,), annotations=SAFE)) == "PersistentVolume"


def test_the_refusal_names_what_the_pod_keeps() -> None:
    """Kinds of local storage, and the claim, stand in the message."""
    local = verdict(pod("web-0", node="n1", volumes=(Volume("HostPath"), Volume("EmptyDir"))))
    assert local is not None
    assert "EmptyDir, HostPath" in local.message
    claimed = verdict(pod("web-0", node="n1", volumes=(CLAIM,)))
    assert claimed is not None
    assert "claim data" in claimed.message
