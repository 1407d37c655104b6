"""Nodes score by the share of storage that a pod's unbound claims would take."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import LabelSelector, Requirement
from rescheduler.model.objects.storage import CsiDriver, CsiStorageCapacity
from rescheduler.scheduling.scores.volume_binding import VolumeBinding
from tests.builders import cluster, node
from tests.unit.scheduling.asking import points
from tests.unit.scheduling.volumes import GIB, LATER, LOCAL, ZONE, claim, user, volume, where

NODES = (node("n1", zone="a"), node("n2", zone="b"), node("n3"))
FULLEST_FIRST = ((0, 0), (100, 10))


def capacity(name: str, zone: str, gibibytes: int, **fields: Any) -> CsiStorageCapacity:
    """Room left in a zone."""
    topology = LabelSelector((Requirement(ZONE, "In", (zone,)),))
    return CsiStorageCapacity("default", name, "later", topology, gibibytes * GIB, **fields)


def scores(plugin: VolumeBinding, *claims: Any, **storage: Any) -> list[int]:
    """Scores of the nodes for a pod with these claims."""
    asking = user("x", *(item.name for item in claims))
    return points(plugin, cluster(*NODES, asking, claims=claims, storage_classes=(LATER, LOCAL), **storage))


def test_existing_volumes_count_by_how_much_of_them_is_asked_for() -> None:
    """100 for a volume that would stay empty, 0 for one that is filled; 0 where none would be bound."""
    volumes = (
        volume("pv1", capacity_bytes=4 * GIB, node_affinity=where(ZONE, "a")),
        volume("pv2", capacity_bytes=GIB, node_affinity=where(ZONE, "b")),
    )
    assert scores(VolumeBinding(), claim("c"), volumes=volumes) == [75, 0, 0]
    assert scores(VolumeBinding(FULLEST_FIRST), claim("c"), volumes=volumes) == [25, 100, 0]


def test_claims_of_one_class_add_up_and_classes_are_averaged() -> None:
    """Requests and capacities are summed within a class; halves are rounded up."""
    volumes = (
        *(volume(f"pv{number}", capacity_bytes=2 * GIB, node_affinity=where(ZONE, "a")) for number in (1, 2)),
        volume("local", capacity_bytes=8 * GIB, storage_class="local", node_affinity=where(ZONE, "a")),
    )
    two = (claim("c"), claim("d"))
    assert scores(VolumeBinding(FULLEST_FIRST), *two, volumes=volumes)[0] == 50
    three = (*two, claim("e", storage_class="local"))
    assert scores(VolumeBinding(FULLEST_FIRST), *three, volumes=volumes)[0] == 31  # (50 + 12) / 2


def test_new_volumes_count_by_published_capacity() -> None:
    """One capacity for all claims of the class; a node without a published one scores 0."""
    storage = {
        "csi_drivers": (CsiDriver(LATER.provisioner, has_storage_capacity=True),),
        "csi_capacities": (capacity("a", "a", 10), capacity("b", "b", 2)),
    }
    assert scores(VolumeBinding(), claim("c"), **storage) == [90, 50, 0]
    assert scores(VolumeBinding(), claim("c"), claim("d"), **storage) == [80, 0, 0]
    storage["csi_drivers"] = ()
    assert scores(VolumeBinding(), claim("c"), **storage) == [0, 0, 0]


def test_where_volumes_are_bound_new_ones_do_not_count() -> None:
    """One claim finds a volume, the other would be provisioned: only the former counts on that node."""
    storage = {
        "csi_drivers": (CsiDriver(LATER.provisioner, has_storage_capacity=True),),
        "csi_capacities": (capacity("a", "a", 10), capacity("b", "b", 10)),
        "volumes": (volume("pv1", capacity_bytes=2 * GIB, node_affinity=where(ZONE, "a")),),
    }
    assert scores(VolumeBinding(), claim("c"), claim("d"), **storage) == [50, 80, 0]


@pytest.mark.parametrize("claims", [(), (claim("c", "pv1"),)])
def test_a_pod_without_open_claims_scores_nothing(claims: tuple[Any, ...]) -> None:
    """Bound claims leave no choice."""
    assert scores(VolumeBinding(), *claims, volumes=(volume("pv1"),)) == [0, 0, 0]
