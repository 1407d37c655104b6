"""Attach limits of CSI drivers."""

from __future__ import annotations

from typing import Any

from rescheduler.model.objects.constraints import Volume
from rescheduler.model.objects.storage import CsiNode, VolumeAttachment
from rescheduler.scheduling.filters.node_volume_limits import NodeVolumeLimits
from tests.builders import NOW, cluster, node, pod
from tests.unit.scheduling.asking import refused, rejections
from tests.unit.scheduling.volumes import LATER, claim, user, volume

RULE = NodeVolumeLimits()
DRIVER = "csi.example.com"
NODES = (node("n1"), node("n2"))
FULL = ("node(s) exceed max volume count",)
NAMES = ("v1", "v2", "v3")


def stored(*pods: Any, limit: int | None = 2, **fields: Any) -> Any:
    """Claims c1, c2, c3 bound to volumes v1, v2, v3; both nodes limited."""
    defaults: dict[str, Any] = {
        "claims": tuple(claim(name.replace("v", "c"), name) for name in NAMES),
        "volumes": tuple(volume(name) for name in NAMES),
        "storage_classes": (LATER,),
        "csi_nodes": tuple(CsiNode(name, ((DRIVER, limit),)) for name in ("n1", "n2")),
    }
    return cluster(*NODES, *pods, **{**defaults, **fields})


def test_the_pods_new_volumes_must_not_exceed_the_limit() -> None:
    """Full nodes are refused, and evicting their pods would help."""
    world = stored(user("a", "c1", "c2", node="n1"), user("x", "c3"))
    assert refused(RULE, world) == {"n1": FULL}
    assert all(rejection.is_resolvable for rejection in rejections(RULE, world, "x"))
    assert refused(RULE, stored(user("a", "c1", node="n1"), user("x", "c3"))) == {}
    assert sorted(refused(RULE, stored(user("x", "c1", "c2", "c3")))) == ["n1", "n2"]


def test_a_volume_that_is_on_the_node_already_counts_once() -> None:
    """However many pods share it there."""
    crowd = (user("a", "c1", "c2", node="n1"), user("b", "c1", node="n1", deletion_at=NOW))
    assert refused(RULE, stored(*crowd, user("x", "c1"))) == {}
    assert refused(RULE, stored(*crowd, user("x", "c1", "c3"))) == {"n1": FULL}


def test_attachments_that_no_pod_explains_count_too() -> None:
    """A volume still attached to a node takes a place, and no pod there spares the incoming one its own."""
    attached = tuple(VolumeAttachment(f"at-{name}", DRIVER, "n1", name) for name in ("v1", "v2"))
    assert refused(RULE, stored(user("x", "c3"), attachments=attached)) == {"n1": FULL}
    assert refused(RULE, stored(user("x", "c2"), attachments=attached)) == {"n1": FULL}
    unknown = (*attached[:1], VolumeAttachment("at", DRIVER, "n1", "gone"), VolumeAttachment("au", DRIVER, "n9", "v2"))
    assert refused(RULE, stored(user("x", "c3"), attachments=unknown)) == {}


def test_an_attachment_goes_with_the_pod_that_it_was_made_for() -> None:
    """After a move it counts where the pod arrives; until the wave ends, at both ends."""
    attached = tuple(VolumeAttachment(f"at-{name}", DRIVER, "n1", name) for name in ("v1", "v2"))
    world = stored(user("a", "c1", "c2", node="n1"), user("x", "c3"), attachments=attached)
    assert refused(RULE, world) == {"n1": FULL}
    assert refused(RULE, world, moves={"a": "n2"}) == {"n1": FULL, "n2": FULL}
    assert refused(RULE, world, pod="a") == {}


def test_without_a_count_there_is_no_limit() -> None:
    """No CSINode, no count, or another driver."""
    pods = (user("a", "c1", "c2", node="n1"), user("x", "c3"))
    assert refused(RULE, stored(*pods, limit=None)) == {}
    assert refused(RULE, stored(*pods, csi_nodes=())) == {}
    assert refused(RULE, stored(*pods, csi_nodes=(CsiNode("n1", (("other", 1),)),))) == {}
    assert refused(RULE, stored(*pods, csi_nodes=(CsiNode("n9", ((DRIVER, 1),)),))) == {}


def test_a_claim_that_is_not_provisioned_yet_will_be_one_more_of_its_driver() -> None:
    """Counted by its class's provisioner; other volumes never count."""
    pods = (user("a", "c1", "c2", node="n1"), user("x", "new"))
    claims = (claim("c1", "v1"), claim("c2", "v2"), claim("new"))
    assert refused(RULE, stored(*pods, claims=claims)) == {"n1": FULL}
    plain = pod("x", volumes=(Volume("EmptyDir"), Volume("nfs")))
    assert refused(RULE, stored(pods[0], plain, claims=claims)) == {}


def test_a_pod_that_brings_nothing_new_fits_a_node_beyond_its_limit() -> None:
    """A limit that was lowered keeps new volumes away, not pods that share the old ones."""
    world = stored(user("a", "c1", "c2", "c3", node="n1"), user("x", "c1"))
    assert refused(RULE, world) == {}
