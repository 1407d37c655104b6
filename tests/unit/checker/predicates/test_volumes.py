"""Tests of volumes: binding, zones, limits per node and exclusive use."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import NodeSelectorTerm, Requirement, Volume
from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.objects.storage import (
    CsiDriver,
    CsiNode,
    CsiStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from tests.builders import cluster, node, pod, selector
from tests.unit.checker.cases import broken, move, place, plan

ZONE = "topology.kubernetes.io/zone"
BINDING = {"VolumeBinding"}
NODES = (node("a1", zone="a"), node("b1", zone="b"), node("x1"))
GIB = 2**30


def in_zone(zone: str) -> tuple[NodeSelectorTerm, ...]:
    """Node affinity of a volume that lies in one zone."""
    return (NodeSelectorTerm((Requirement(ZONE, "In", (zone,)),)),)


def uses(*claims: str) -> dict[str, Any]:
    """Fields of a pod that uses claims."""
    return {"volumes": tuple(Volume("PersistentVolumeClaim", claim=claim) for claim in claims)}


def bound(name: str = "data", volume: str = "pv", **fields: Any) -> PersistentVolumeClaim:
    """A bound claim."""
    return PersistentVolumeClaim(
        "default", name, **{"volume_name": volume, "is_bound": True, "phase": "Bound", **fields}
    )


def unbound(name: str = "data", size: int = GIB, **fields: Any) -> PersistentVolumeClaim:
    """A claim that waits for its first pod."""
    return PersistentVolumeClaim("default", name, **{"storage_class": "slow", "requested_bytes": size, **fields})


def slow(**fields: Any) -> StorageClass:
    """A class that binds when a pod comes, without a provisioner."""
    return StorageClass("slow", **{"is_wait_for_first_consumer": True, **fields})


def volume(name: str, size: int = GIB, **fields: Any) -> PersistentVolume:
    """An available volume of the class."""
    return PersistentVolume(name, **{"storage_class": "slow", "capacity_bytes": size, **fields})


def placed(target: str, *names: str, **fields: Any) -> set[str]:
    """What placing a pod with claims breaks in a cluster with these storage objects."""
    return broken(cluster(*NODES, pod("new-0", **uses(*(names or ("data",)))), **fields), plan(place("new-0", target)))


@pytest.mark.parametrize(("target", "rules"), [("a1", set()), ("b1", BINDING), ("x1", BINDING)])
def test_a_bound_volume_binds_the_pod_to_where_it_is(target: str, rules: set[str]) -> None:
    """Node affinity of the volume decides."""
    assert placed(target, claims=(bound(),), volumes=(PersistentVolume("pv", node_affinity=in_zone("a")),)) == rules


@pytest.mark.parametrize(
    "claims",
    [
        (),
        (bound(volume="gone"),),
        (bound(phase="Lost"),),
        (bound(is_terminating=True),),
        (unbound(storage_class="immediate"),),
        (unbound(storage_class="unknown"),),
        (unbound(volume_name="pv"),),
        (unbound(selected_node="b1"),),
        (unbound(),),
    ],
)
def test_claims_that_cannot_be_used_refuse_every_node(claims: tuple[PersistentVolumeClaim, ...]) -> None:
    """Missing, lost, terminating, immediate, pre-bound, meant for another node, or nothing to bind to."""
    classes = (slow(), StorageClass("immediate"))
    pv = PersistentVolume("pv", phase="Bound")
    assert placed("a1", claims=claims, volumes=(pv,), storage_classes=classes) == BINDING


@pytest.mark.parametrize(
    ("fields", "rules"),
    [
        ({}, set()),
        ({"node_affinity": in_zone("a")}, set()),
        ({"node_affinity": in_zone("b")}, BINDING),
        ({"size": GIB - 1}, BINDING),
        ({"storage_class": "fast"}, BINDING),
        ({"phase": "Released"}, BINDING),
        ({"is_terminating": True}, BINDING),
        ({"volume_mode": "Block"}, BINDING),
        ({"access_modes": ("ReadWriteOnce",)}, BINDING),
        ({"access_modes": ("ReadOnlyMany", "ReadWriteMany")}, set()),
        ({"claim": ("default", "data", "")}, set()),
        ({"claim": ("default", "other", "")}, BINDING),
        ({"labels": {"disk": "new"}}, BINDING),
    ],
)
def test_a_static_volume_must_suit_the_claim(fields: dict[str, Any], rules: set[str]) -> None:
    """Class, size, mode, access modes, labels, phase and earlier promises all count."""
    wish = selector(disk="old")
    claim = unbound(access_modes=("ReadWriteMany",), selector=wish)
    suiting = {"access_modes": ("ReadWriteMany",), "labels": {"disk": "old"}, **fields}
    assert placed("a1", claims=(claim,), volumes=(volume("pv", **suiting),), storage_classes=(slow(),)) == rules


def test_claims_share_no_volume() -> None:
    """Two claims of one pod, or of two pods that arrive one after the other or together, need two volumes."""
    storage: dict[str, Any] = {"claims": (unbound("data"), unbound("logs")), "storage_classes": (slow(),)}
    one, two = (volume("pv"),), (volume("pv"), volume("pv2"))
    assert placed("a1", "data", "logs", volumes=one, **storage) == BINDING
    assert placed("a1", "data", "logs", volumes=two, **storage) == set()
    pods = [pod("new-0", **uses("data")), pod("new-1", **uses("logs")), pod("web-0", node="a1")]
    together = plan(place("new-0", "a1"), place("new-1", "b1"))
    assert broken(cluster(*NODES, *pods, volumes=one, **storage), together) == BINDING
    assert broken(cluster(*NODES, *pods, volumes=two, **storage), together) == set()
    later = plan(place("new-0", "a1"), move("web-0", "a1", "x1"), place("new-1", "b1", 1))
    assert broken(cluster(*NODES, *pods, volumes=one, **storage), later) == BINDING
    assert broken(cluster(*NODES, *pods, volumes=two, **storage), later) == set()


def test_a_volume_kept_for_a_claim_is_taken_first() -> None:
    """So that the free one, though smaller, is left for the other claim."""
    storage: dict[str, Any] = {
        "claims": (unbound("data"), unbound("logs")),
        "volumes": (volume("kept", 2 * GIB, claim=("default", "data", "")), volume("small")),
        "storage_classes": (slow(),),
    }
    assert placed("a1", "data", "logs", **storage) == set()


def test_smaller_claims_take_smaller_volumes_first() -> None:
    """So that the larger volume is left for the larger claim."""
    storage: dict[str, Any] = {
        "claims": (unbound("data", 2 * GIB), unbound("logs", GIB)),
        "volumes": (volume("large", 2 * GIB), volume("small", GIB)),
        "storage_classes": (slow(),),
    }
    assert placed("a1", "data", "logs", **storage) == set()


CAPACITY = CsiStorageCapacity("s", "c", "slow", selector(**{ZONE: "a"}), 2 * GIB)


@pytest.mark.parametrize(
    ("kind", "fields", "rules"),
    [
        (slow(provisioner="csi.example.com"), {}, set()),
        (slow(provisioner="kubernetes.io/no-provisioner"), {}, BINDING),
        (slow(provisioner="csi.example.com", allowed_topologies=in_zone("a")), {}, set()),
        (slow(provisioner="csi.example.com", allowed_topologies=in_zone("b")), {}, BINDING),
        (slow(provisioner="csi.example.com"), {"csi_drivers": (CsiDriver("csi.example.com", True),)}, BINDING),
        (
            slow(provisioner="csi.example.com"),
            {"csi_drivers": (CsiDriver("csi.example.com", True),), "csi_capacities": (CAPACITY,)},
            set(),
        ),
        (
            slow(provisioner="csi.example.com"),
            {
                "csi_drivers": (CsiDriver("csi.example.com", True),),
                "csi_capacities": (CsiStorageCapacity("s", "c", "slow", selector(), GIB),),
            },
            set(),
        ),
        (
            slow(provisioner="csi.example.com"),
            {
                "csi_drivers": (CsiDriver("csi.example.com", True),),
                "csi_capacities": (CsiStorageCapacity("s", "c", "slow", selector(), 2 * GIB, GIB - 1),),
            },
            BINDING,
        ),
        (
            slow(provisioner="csi.example.com"),
            {
                "csi_drivers": (CsiDriver("csi.example.com", True),),
                "csi_capacities": (CsiStorageCapacity("s", "c", "slow", selector(**{ZONE: "b"}), 2 * GIB),),
            },
            BINDING,
        ),
        (slow(provisioner="csi.example.com"), {"csi_drivers": (CsiDriver("csi.example.com"),)}, set()),
    ],
)
def test_volumes_can_be_made_where_the_class_and_its_driver_allow(
    kind: StorageClass, fields: dict[str, Any], rules: set[str]
) -> None:
    """Provisioner, allowed topologies, and the driver's capacity where it tells it."""
    assert placed("a1", claims=(unbound(),), storage_classes=(kind,), **fields) == rules


def test_a_claim_being_made_for_the_node_is_fine() -> None:
    """The scheduler has chosen it before."""
    assert placed("a1", claims=(unbound(selected_node="a1"),), storage_classes=(slow(),)) == set()


def test_the_claim_of_an_ephemeral_volume_must_be_the_pods_own() -> None:
    """Somebody else's claim of that name is an error."""
    own = bound("new-0-scratch", owners=(OwnerReference("Pod", "new-0", "uid-default-new-0"),))
    new = pod("new-0", volumes=(Volume("Ephemeral", claim="new-0-scratch"),))
    for claim, rules in ((own, set()), (bound("new-0-scratch"), BINDING)):
        world = cluster(*NODES, new, claims=(claim,), volumes=(PersistentVolume("pv"),))
        assert broken(world, plan(place("new-0", "a1"))) == rules


@pytest.mark.parametrize(
    ("labels", "target", "rules"),
    [
        ({ZONE: "a"}, "a1", set()),
        ({ZONE: "a"}, "b1", {"VolumeZone"}),
        ({ZONE: "b__a"}, "a1", set()),
        ({ZONE: "a"}, "x1", set()),
        ({"failure-domain.beta.kubernetes.io/zone": "a"}, "a1", set()),
        ({"failure-domain.beta.kubernetes.io/zone": "a"}, "b1", {"VolumeZone"}),
        ({"topology.kubernetes.io/region": "r"}, "a1", {"VolumeZone"}),
        ({"other": "z"}, "a1", set()),
    ],
)
def test_zone_labels_of_bound_volumes_bind_labelled_nodes(labels: dict[str, str], target: str, rules: set[str]) -> None:
    """Several zones may be listed; a node without any such label passes."""
    assert placed(target, claims=(bound(),), volumes=(PersistentVolume("pv", labels=labels),)) == rules


DISKS: dict[str, Any] = {
    "claims": tuple(bound(f"c{number}", f"pv{number}") for number in range(4)),
    "volumes": tuple(PersistentVolume(f"pv{number}", driver="csi", handle=f"h{number}") for number in range(4)),
}


@pytest.mark.parametrize(
    ("limit", "fields", "claims", "rules"),
    [
        (2, {}, ("c1",), set()),
        (1, {}, ("c1",), {"NodeVolumeLimits"}),
        (1, {}, ("c0",), set()),
        (None, {}, ("c1",), set()),
        (2, {}, ("c1", "c2"), {"NodeVolumeLimits"}),
        (2, {"attachments": (VolumeAttachment("x", "csi", "a1", "pv3"),)}, ("c1",), {"NodeVolumeLimits"}),
        (2, {"attachments": (VolumeAttachment("x", "csi", "b1", "pv3"),)}, ("c1",), set()),
        (2, {"attachments": (VolumeAttachment("x", "csi", "a1", "pv0"),)}, ("c1",), set()),
        (2, {"attachments": (VolumeAttachment("x", "csi", "a1", "unknown"),)}, ("c1",), {"NodeVolumeLimits"}),
    ],
)
def test_a_node_holds_so_many_volumes_of_a_driver(
    limit: int | None, fields: dict[str, Any], claims: tuple[str, ...], rules: set[str]
) -> None:
    """Distinct volumes of its pods and attachments, with the new ones; the same volume counts once."""
    world = cluster(
        *NODES,
        pod("old-0", node="a1", **uses("c0")),
        pod("new-0", **uses(*claims)),
        csi_nodes=(CsiNode("a1", (("csi", limit),)), CsiNode("b1", (("csi", 0),))),
        **DISKS,
        **fields,
    )
    assert broken(world, plan(place("new-0", "a1"))) == rules


def test_volumes_without_a_handle_are_told_apart_by_name() -> None:
    """Two volumes are two, whatever their driver says of them."""
    pods = [pod("old-0", node="a1", **uses("c0")), pod("new-0", **uses("c1"))]
    storage: dict[str, Any] = {
        "claims": DISKS["claims"],
        "volumes": (PersistentVolume("pv0", driver="csi"), PersistentVolume("pv1", driver="csi")),
        "csi_nodes": (CsiNode("a1", (("csi", 1),)),),
    }
    assert broken(cluster(*NODES, *pods, **storage), plan(place("new-0", "a1"))) == {"NodeVolumeLimits"}


def test_volumes_of_the_whole_wave_and_those_still_to_be_made_count() -> None:
    """Two arrivals with one volume each on a node for one."""
    pods = [pod("new-0", **uses("c0")), pod("new-1", **uses("later"))]
    world = cluster(
        *NODES,
        *pods,
        csi_nodes=(CsiNode("a1", (("csi", 1),)),),
        claims=(*DISKS["claims"], unbound("later")),
        volumes=DISKS["volumes"],
        storage_classes=(slow(provisioner="csi"),),
    )
    assert broken(world, plan(place("new-0", "a1"), place("new-1", "b1"))) == set()
    assert broken(world, plan(place("new-0", "a1"), place("new-1", "a1"))) == {"NodeVolumeLimits"}


def test_a_read_write_once_pod_claim_has_one_user_in_the_cluster() -> None:
    """Another pod anywhere refuses; the own old copy does not; when the other has moved it still uses it."""
    storage: dict[str, Any] = {
        "claims": (bound(access_modes=("ReadWriteOncePod",)),),
        "volumes": (PersistentVolume("pv"),),
    }
    user = pod("old-0", node="a1", **uses("data"))
    new = pod("new-0", **uses("data"))
    taken = cluster(*NODES, user, new, **storage)
    assert broken(taken, plan(place("new-0", "b1"))) == {"VolumeRestrictions"}
    assert broken(taken, plan(move("old-0", "a1", "b1"))) == set()
    assert broken(taken, plan(move("old-0", "a1", "b1"), place("new-0", "a1", 1))) == {"VolumeRestrictions"}
    two = cluster(*NODES, new, pod("new-1", **uses("data")), **storage)
    assert broken(two, plan(place("new-0", "a1"), place("new-1", "b1"))) == {"VolumeRestrictions"}


@pytest.mark.parametrize(
    ("kind", "both_read_only", "rules"),
    [
        ("GCEPersistentDisk", True, set()),
        ("GCEPersistentDisk", False, {"VolumeRestrictions"}),
        ("ISCSI", True, set()),
        ("RBD", False, {"VolumeRestrictions"}),
        ("AWSElasticBlockStore", True, {"VolumeRestrictions"}),
        ("nfs", False, set()),
    ],
)
def test_disks_in_the_pod_itself_are_shared_by_readers_at_most(
    kind: str, rules: set[str], *, both_read_only: bool
) -> None:
    """On one node; elsewhere the scheduler does not look."""
    reader = Volume(kind, identity="d", is_read_only=True)
    other = Volume(kind, identity="d", is_read_only=both_read_only)
    world = cluster(*NODES, pod("old-0", node="a1", volumes=(reader,)), pod("new-0", volumes=(other,)))
    assert broken(world, plan(place("new-0", "a1"))) == rules
    assert broken(world, plan(place("new-0", "b1"))) == set()


def test_one_disk_in_common_is_enough() -> None:
    """Among other volumes on both sides, and between two that arrive in one wave."""
    both = {"volumes": (Volume("EmptyDir"), Volume("RBD", identity="d"), Volume("RBD", identity="e"))}
    old = pod("old-0", node="a1", volumes=(Volume("RBD", identity="x"), Volume("RBD", identity="d")))
    assert broken(cluster(*NODES, old, pod("new-0", **both)), plan(place("new-0", "a1"))) == {"VolumeRestrictions"}
    movers = cluster(*NODES, node("n4"), pod("p-0", node="a1", **both), pod("q-0", node="b1", **both))
    together = plan(move("p-0", "a1", "x1"), move("q-0", "b1", "x1"))
    assert broken(movers, together) == {"VolumeRestrictions"}
    assert broken(movers, plan(move("p-0", "a1", "x1"), move("q-0", "b1", "n4"))) == set()


def test_other_disks_do_not_collide() -> None:
    """Only the same disk does."""
    world = cluster(
        *NODES,
        pod("old-0", node="a1", volumes=(Volume("RBD", identity="d"), Volume("EmptyDir"))),
        pod("new-0", volumes=(Volume("RBD", identity="e"), Volume("EmptyDir"))),
    )
    assert broken(world, plan(place("new-0", "a1"))) == set()
