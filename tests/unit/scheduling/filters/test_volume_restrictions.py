"""Volumes that serve one pod at a time."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.constraints import Volume
from rescheduler.scheduling.filters.volume_restrictions import VolumeRestrictions
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.asking import refused, rejections
from tests.unit.scheduling.volumes import claim, user

RULE = VolumeRestrictions()
NODES = (node("n1"), node("n2"))
ONE_POD = claim("c", "v", access_modes=("ReadWriteOncePod",))
CLAIM_TAKEN = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
)


def test_a_one_pod_claim_in_use_fails_everywhere_until_its_pod_is_gone() -> None:
    """Terminating pods still use it; evicting the other pod would help."""
    for other in (user("a", "c", node="n1"), user("a", "c", node="n1", deletion_at=NOW)):
        world = cluster(*NODES, other, user("x", "c"), claims=(ONE_POD,))
        assert refused(RULE, world) == {"n1": CLAIM_TAKEN, "n2": CLAIM_TAKEN}
        assert all(rejection.is_resolvable for rejection in rejections(RULE, world, "x"))


def test_a_claim_is_free_for_its_own_pod_and_beside_pods_that_wait() -> None:
    """A moved pod takes its claim along."""
    assert refused(RULE, cluster(*NODES, user("x", "c", node="n1"), claims=(ONE_POD,))) == {}
    assert refused(RULE, cluster(*NODES, user("x", "c", node="n1"), claims=(ONE_POD,)), moves={"x": "n2"}) == {}
    assert refused(RULE, cluster(*NODES, user("a", "c"), user("x", "c"), claims=(ONE_POD,))) == {}
    elsewhere = user("a", "c", node="n1", namespace="other")
    assert refused(RULE, cluster(*NODES, elsewhere, user("x", "c"), claims=(ONE_POD,))) == {}


def test_read_write_once_is_not_looked_at() -> None:
    """The scheduler leaves that to the attach machinery."""
    world = cluster(*NODES, user("a", "c", node="n1"), user("x", "c"), claims=(claim("c", "v"),))
    assert refused(RULE, world) == {}


def test_a_missing_claim_is_a_fault_of_the_pod() -> None:
    """In the scheduler's words."""
    (rejection,) = rejections(RULE, cluster(*NODES, user("x", "c")), "x")
    assert (rejection.reason, rejection.scope) == ('persistentvolumeclaim "c" not found', "pod")


@pytest.mark.parametrize(
    ("kind", "mine_is_read_only", "theirs_is_read_only", "is_refused"),
    [
        ("GCEPersistentDisk", False, False, True),
        ("GCEPersistentDisk", True, False, True),
        ("GCEPersistentDisk", True, True, False),
        ("AWSElasticBlockStore", True, True, True),
        ("ISCSI", True, True, False),
        ("ISCSI", False, True, True),
        ("RBD", True, True, False),
        ("RBD", False, False, True),
        ("nfs", False, False, False),
    ],
)
def test_in_tree_disks_are_not_shared_on_a_node(
    kind: str, mine_is_read_only: bool, theirs_is_read_only: bool, is_refused: bool
) -> None:
    """But for disks that all only read, EBS excepted."""
    other = pod("a-1", node="n1", volumes=(Volume(kind, identity="d", is_read_only=theirs_is_read_only),))
    mine = pod("x", volumes=(Volume(kind, identity="d", is_read_only=mine_is_read_only),))
    expected = {"n1": ("node(s) had no available disk",)} if is_refused else {}
    assert refused(RULE, cluster(*NODES, other, mine)) == expected
    different = pod("x", volumes=(Volume(kind, identity="e", is_read_only=mine_is_read_only),))
    assert refused(RULE, cluster(*NODES, other, different)) == {}


def test_a_taken_disk_speaks_before_a_taken_claim() -> None:
    """A node has one reason."""
    disk = Volume("RBD", identity="d")
    other = user("a", "c", node="n1", volumes=(disk, Volume("PersistentVolumeClaim", claim="c")))
    mine = user("x", "c", volumes=(disk, Volume("PersistentVolumeClaim", claim="c")))
    found = refused(RULE, cluster(*NODES, other, mine, claims=(ONE_POD,)))
    assert found == {"n1": ("node(s) had no available disk",), "n2": CLAIM_TAKEN}
