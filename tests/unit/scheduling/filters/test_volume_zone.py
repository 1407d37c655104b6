"""Zones and regions of bound volumes."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import Volume
from rescheduler.scheduling.filters.volume_zone import VolumeZone
from tests.builders import cluster, node, pod
from tests.unit.scheduling.asking import refused, rejections
from tests.unit.scheduling.volumes import AT_ONCE, LATER, ZONE, claim, user, volume

RULE = VolumeZone()
OLD_ZONE = "failure-domain.beta.kubernetes.io/zone"
REGION = "topology.kubernetes.io/region"
NODES = (
    node("a", zone="a"),
    node("b", zone="b"),
    node("bare"),
    node("old", labels={OLD_ZONE: "a"}),
    node("region", labels={REGION: "r"}),
)


def stored(*pods: Any, claims: tuple[Any, ...] = (), volumes: tuple[Any, ...] = ()) -> Any:
    """The nodes with storage."""
    return cluster(*NODES, *pods, claims=claims, volumes=volumes, storage_classes=(LATER, AT_ONCE))


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ({ZONE: "a"}, "b old region"),
        ({ZONE: "a__b"}, "old region"),
        ({ZONE: "a__ b "}, "old region"),
        ({ZONE: "a____b"}, ""),
        ({OLD_ZONE: "a"}, "b region"),
        ({OLD_ZONE: "a", REGION: "r"}, "a b old region"),
        ({}, ""),
    ],
)
def test_a_node_must_be_in_one_of_the_volumes_zones(labels: dict[str, str], names: str) -> None:
    """A node without any of the labels passes; a volume's old key may meet the node's new one, not the reverse."""
    world = stored(user("x", "c"), claims=(claim("c", "v"),), volumes=(volume("v", labels=labels),))
    assert sorted(refused(RULE, world)) == names.split()
    assert set(refused(RULE, world).values()) <= {("node(s) had no available volume zone",)}
    assert not any(rejection.is_resolvable for rejection in rejections(RULE, world, "x"))


@pytest.mark.parametrize(
    ("claims", "reason"),
    [
        ((), 'persistentvolumeclaim "c" not found'),
        ((claim("c", "v"),), 'persistentvolume "v" not found'),
        ((claim("c", storage_class=""),), "PersistentVolumeClaim had no pv name and storageClass name"),
        ((claim("c", storage_class="none"),), 'storageclass.storage.k8s.io "none" not found'),
        ((claim("c", storage_class="at-once"),), "PersistentVolume had no name"),
    ],
)
def test_a_claim_that_leads_to_no_volume_is_a_fault_of_the_pod(claims: tuple[Any, ...], reason: str) -> None:
    """For good, and on every node."""
    (rejection,) = rejections(RULE, stored(user("x", "c"), claims=claims), "x")
    assert (rejection.reason, rejection.scope, rejection.nodes.all()) == (reason, "pod", True)


def test_claims_that_wait_for_a_consumer_and_ephemeral_ones_are_passed_over() -> None:
    """They have no volume yet, or none that is looked at."""
    assert refused(RULE, stored(user("x", "c"), claims=(claim("c"),))) == {}
    assert refused(RULE, stored(pod("x", volumes=(Volume("Ephemeral", claim="x-c"),)))) == {}
