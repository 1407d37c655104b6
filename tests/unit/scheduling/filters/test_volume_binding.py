"""Claims bound, to be bound and to be provisioned, node by node."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from rescheduler.model.objects.constraints import LabelSelector, Volume
from rescheduler.model.objects.pod import OwnerReference
from rescheduler.model.objects.storage import CsiDriver, CsiStorageCapacity
from rescheduler.scheduling.filters.volume_binding import VolumeBinding
from tests.builders import cluster, node, pod, selector
from tests.unit.scheduling.asking import refused, rejections
from tests.unit.scheduling.volumes import AT_ONCE, GIB, LATER, LOCAL, ZONE, claim, user, volume, where

RULE = VolumeBinding()
NODES = (node("n1", zone="a"), node("n2", zone="b"))
OTHER_NODES = ("node(s) didn't match PersistentVolume's node affinity",)
NOT_BINDABLE = ("node(s) didn't find available persistent volumes to bind",)
NO_SPACE = ("node(s) did not have enough free storage",)


def stored(*objects: Any, **fields: Any) -> Any:
    """A cluster with storage objects told apart by type."""
    kinds: dict[str, list[Any]] = {"claims": [], "volumes": []}
    others = []
    for item in objects:
        name = {"PersistentVolumeClaim": "claims", "PersistentVolume": "volumes"}.get(type(item).__name__)
        (kinds[name] if name else others).append(item)
    storage = {name: tuple(items) for name, items in kinds.items()}
    return cluster(*NODES, *others, **{"storage_classes": (LATER, AT_ONCE, LOCAL), **storage, **fields})


@pytest.mark.parametrize(
    ("objects", "reason"),
    [
        ([], 'persistentvolumeclaim "c" not found'),
        ([claim("c", "v", phase="Lost")], 'persistentvolumeclaim "c" bound to non-existent persistentvolume "v"'),
        ([claim("c", "v", is_terminating=True), volume("v")], 'persistentvolumeclaim "c" is being deleted'),
        ([claim("c", storage_class="at-once")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", storage_class="unknown")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", storage_class="")], "pod has unbound immediate PersistentVolumeClaims"),
        ([claim("c", "v", is_bound=False), volume("v")], "pod has unbound immediate PersistentVolumeClaims"),
    ],
)
def test_a_claim_that_cannot_be_used_is_a_fault_of_the_pod(objects: list[Any], reason: str) -> None:
    """Missing, lost, going away, or not bound although it should be (by name in advance, too): nowhere, for good."""
    (rejection,) = rejections(RULE, stored(*objects, user("x", "c")), "x")
    assert (rejection.reason, rejection.scope, rejection.is_resolvable) == (reason, "pod", False)
    assert rejection.nodes.all()


def test_an_ephemeral_claim_must_exist_and_belong_to_the_pod() -> None:
    """A pending pod waits until the claim that goes with it is there."""
    waiting = pod("x", volumes=(Volume("Ephemeral", claim="x-data"),))
    (rejection,) = rejections(RULE, stored(waiting), "x")
    awaited = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "x-data"'
    assert (rejection.reason, rejection.scope) == (awaited, "pod")
    (rejection,) = rejections(RULE, stored(waiting, claim("x-data")), "x")
    assert rejection.reason == "PVC default/x-data was not created for pod default/x (pod is not owner)"
    own = claim("x-data", owners=(OwnerReference("Pod", "x", waiting.uid),))
    assert refused(RULE, stored(waiting, own)) == {}


def test_a_moved_pod_gets_a_new_ephemeral_volume_where_it_lands() -> None:
    """The old one, bound to the old node, goes with the old pod."""
    runs = pod("x", node="n1", volumes=(Volume("Ephemeral", claim="x-data"),))
    bound = claim("x-data", "v", owners=(OwnerReference("Pod", "x", runs.uid),))
    assert refused(RULE, stored(runs, bound, volume("v", node_affinity=where(ZONE, "a")))) == {}


def test_a_bound_volume_keeps_its_pod_where_it_can_be_reached() -> None:
    """No eviction moves a volume."""
    world = stored(user("x", "c"), claim("c", "v"), volume("v", node_affinity=where(ZONE, "a")))
    assert refused(RULE, world) == {"n2": OTHER_NODES}
    assert not any(rejection.is_resolvable for rejection in rejections(RULE, world, "x"))
    assert refused(RULE, stored(user("x", "c"), claim("c", "v"), volume("v"))) == {}


def test_every_bound_volume_must_be_reachable() -> None:
    """Two volumes in two zones leave no node."""
    volumes = (volume("v", node_affinity=where(ZONE, "a")), volume("w", node_affinity=where(ZONE, "b")))
    world = stored(user("x", "c", "d"), claim("c", "v"), claim("d", "w"), *volumes)
    assert refused(RULE, world) == {"n1": OTHER_NODES, "n2": OTHER_NODES}


def test_a_claim_bound_to_a_missing_volume_fits_nowhere() -> None:
    """Found node by node, as the scheduler does."""
    reason = ("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",)
    assert refused(RULE, stored(user("x", "c"), claim("c", "v"))) == {"n1": reason, "n2": reason}


def local(name: str, node_name: str, **fields: Any) -> Any:
    """A free volume on one node."""
    defaults = {"storage_class": "local", "node_affinity": where("kubernetes.io/hostname", node_name)}
    return volume(name, **{**defaults, **fields})


@pytest.mark.parametrize(
    ("fields", "asked", "is_found"),
    [
        ({}, {}, True),
        ({"capacity_bytes": GIB - 1}, {}, False),
        ({"volume_mode": "Block"}, {}, False),
        ({}, {"access_modes": ("ReadWriteMany",)}, False),
        ({"access_modes": ("ReadWriteOnce", "ReadWriteMany")}, {"access_modes": ("ReadWriteMany",)}, True),
        ({"phase": "Released"}, {}, False),
        ({"is_terminating": True}, {}, False),
        ({"storage_class": "later"}, {}, False),
        ({}, {"selector": selector(kind="fast")}, False),
        ({"labels": {"kind": "fast"}}, {"selector": selector(kind="fast")}, True),
        ({"claim": ("default", "other", "")}, {}, False),
        ({"claim": ("default", "c", "")}, {}, True),
        ({"claim": ("default", "c", "another-uid")}, {}, False),
    ],
)
def test_a_free_volume_must_suit_the_claim(fields: dict[str, Any], asked: dict[str, Any], is_found: bool) -> None:
    """Class, size, modes, selector, phase, and not another claim's."""
    world = stored(user("x", "c"), claim("c", **{"storage_class": "local", **asked}), local("v", "n1", **fields))
    assert sorted(refused(RULE, world)) == (["n2"] if is_found else ["n1", "n2"])
    assert set(refused(RULE, world).values()) == {NOT_BINDABLE}


def test_smaller_claims_choose_first_and_take_the_smallest_volume() -> None:
    """Two claims need two volumes, and the larger claim must still find one that is large enough."""
    claims = (claim("big", storage_class="local", requested_bytes=2 * GIB), claim("small", storage_class="local"))
    pods = user("x", "big", "small")
    assert sorted(refused(RULE, stored(pods, *claims, local("v", "n1", capacity_bytes=2 * GIB)))) == ["n1", "n2"]
    both = (local("v", "n1", capacity_bytes=2 * GIB), local("w", "n1", capacity_bytes=2 * GIB))
    assert sorted(refused(RULE, stored(pods, *claims, *both))) == ["n2"]
    greedy = (local("v", "n1", capacity_bytes=2 * GIB), local("w", "n1", capacity_bytes=GIB))
    assert sorted(refused(RULE, stored(pods, *claims, *greedy))) == ["n2"]


def test_a_claim_waits_for_the_node_that_was_selected_for_it() -> None:
    """Provisioning has begun for that node."""
    chosen = claim("c", selected_node="n2")
    assert refused(RULE, stored(user("x", "c"), chosen)) == {"n1": NOT_BINDABLE}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {}),
        ({"allowed_topologies": where(ZONE, "b")}, {"n1": NOT_BINDABLE}),
        ({"allowed_topologies": ()}, {}),
        ({"provisioner": "kubernetes.io/no-provisioner"}, {"n1": NOT_BINDABLE, "n2": NOT_BINDABLE}),
        ({"provisioner": ""}, {"n1": NOT_BINDABLE, "n2": NOT_BINDABLE}),
    ],
)
def test_what_no_volume_serves_is_provisioned_where_the_class_allows(
    changes: dict[str, Any], expected: dict[str, Any]
) -> None:
    """Allowed topologies bind; a class without a provisioner makes nothing."""
    world = stored(user("x", "c"), claim("c"), storage_classes=(replace(LATER, **changes),))
    assert refused(RULE, world) == expected


def capacity(zone: str | None, size: int, largest: int | None = None, of: str = "later") -> CsiStorageCapacity:
    """Room left in one zone, or nowhere."""
    chosen = selector(**{ZONE: zone}) if zone else None
    return CsiStorageCapacity("kube-system", f"{of}-{zone}-{size}", of, chosen, size, largest)


@pytest.mark.parametrize(
    ("capacities", "full"),
    [
        ([], "n1 n2"),
        ([capacity("a", GIB)], "n2"),
        ([capacity("a", GIB - 1), capacity("b", GIB)], "n1"),
        ([capacity("a", 9 * GIB, GIB - 1), capacity("b", 9 * GIB, GIB)], "n1"),
        ([capacity("a", GIB, of="another"), capacity("b", GIB)], "n1"),
        ([capacity(None, GIB)], "n1 n2"),
        ([CsiStorageCapacity("kube-system", "all", "later", LabelSelector(), GIB)], ""),
    ],
)
def test_published_capacity_binds_if_the_driver_says_so(capacities: list[CsiStorageCapacity], full: str) -> None:
    """The largest volume, where it is given, goes before the total; an absent topology is nowhere."""
    driver = CsiDriver("csi.example.com", has_storage_capacity=True)
    fields: dict[str, Any] = {"csi_capacities": tuple(capacities)}
    world = stored(user("x", "c"), claim("c"), csi_drivers=(driver,), **fields)
    assert refused(RULE, world) == dict.fromkeys(full.split(), NO_SPACE)
    assert refused(RULE, stored(user("x", "c"), claim("c"), **fields)) == {}
    unsized = stored(user("x", "c"), claim("c", requested_bytes=0), csi_drivers=(driver,), **fields)
    assert refused(RULE, unsized) == {}


def test_each_claim_is_tested_alone_against_the_capacity() -> None:
    """As the scheduler does: two claims that fit one by one pass, though their sum does not fit."""
    driver = CsiDriver("csi.example.com", has_storage_capacity=True)
    room = (capacity("a", GIB), capacity("b", GIB))
    world = stored(user("x", "c", "d"), claim("c"), claim("d"), csi_drivers=(driver,), csi_capacities=room)
    assert refused(RULE, world) == {}


def test_pods_without_claims_are_none_of_its_business() -> None:
    """An emptyDir binds nothing."""
    assert refused(RULE, stored(pod("x", volumes=(Volume("EmptyDir"),)))) == {}


def test_the_first_claim_that_fails_speaks_for_the_node() -> None:
    """Claims whose node was selected come before the others."""
    driver = CsiDriver("csi.example.com", has_storage_capacity=True)
    claims = (claim("c", storage_class="local"), claim("d", selected_node="n2"))
    world = stored(user("x", "c", "d"), *claims, csi_drivers=(driver,))
    assert refused(RULE, world) == {"n1": NOT_BINDABLE, "n2": NO_SPACE}


def test_the_order_of_claims_is_by_size_even_if_another_would_serve_all() -> None:
    """The small claim takes the volume that only the large one could have used with its selector."""
    claims = (
        claim("big", storage_class="local", requested_bytes=2 * GIB, selector=selector(kind="fast")),
        claim("small", storage_class="local"),
    )
    volumes = (
        local("v", "n1", capacity_bytes=2 * GIB, labels={"kind": "fast"}),
        local("w", "n1", capacity_bytes=3 * GIB),
    )
    assert sorted(refused(RULE, stored(user("x", "big", "small"), *claims, *volumes))) == ["n1", "n2"]
