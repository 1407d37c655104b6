"""Volumes, claims, classes and CSI objects."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.extension_points import SnapshotError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, NodeSelectorTerm, Requirement
from rescheduler.model.objects.resources import LARGEST_AMOUNT
from rescheduler.model.objects.storage import CsiDriver, CsiNode, CsiStorageCapacity, VolumeAttachment
from tests.unit.adapters.api_objects import api_object, list_of, node_object, read

STORAGE = "storage.k8s.io/v1"


def snapshot(*objects: dict[str, Any]) -> Cluster:
    """A cluster with these objects beside a node."""
    return read(list_of(node_object(), *objects))


def claim(annotations: dict[str, str] | None = None, **spec: Any) -> Any:
    """The model's claim."""
    found = api_object("PersistentVolumeClaim", "data", namespace="shop", metadata={"annotations": annotations or {}})
    found |= {"spec": spec, "status": {"phase": "Bound"}}
    return snapshot(found).claims[0]


def test_a_claim() -> None:
    """Everything that binds a pod to a place."""
    found = claim(
        {"pv.kubernetes.io/bind-completed": "yes", "volume.kubernetes.io/selected-node": "n1"},
        volumeName="pv1",
        storageClassName="fast",
        accessModes=["ReadWriteOnce"],
        resources={"requests": {"storage": "10Gi"}},
        selector={"matchLabels": {"a": "b"}},
    )
    assert (found.volume_name, found.is_bound, found.phase, found.storage_class) == ("pv1", True, "Bound", "fast")
    assert (found.requested_bytes, found.selected_node) == (10 * 2**30, "n1")
    assert found.access_modes == ("ReadWriteOnce",)
    assert found.selector == LabelSelector((Requirement("a", "In", ("b",)),))


def test_binding_needs_volume_and_mark() -> None:
    """Either alone is not enough."""
    assert not claim(volumeName="pv1").is_bound
    assert not claim({"pv.kubernetes.io/bind-completed": "yes"}).is_bound


def test_a_volume() -> None:
    """Node affinity, claim and driver."""
    affinity = {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "zone", "operator": "In", "values": ["a"]}]}]}}  # fmt: skip
    found = api_object("PersistentVolume", "pv1", metadata={"labels": {"topology.kubernetes.io/zone": "a"}})
    found["spec"] = {
        "capacity": {"storage": "8Ei"},
        "nodeAffinity": affinity,
        "claimRef": {"namespace": "shop", "name": "data", "uid": "u"},
        "csi": {"driver": "ebs", "volumeHandle": "vol-1"},
    }
    (volume,) = snapshot(found, api_object("PersistentVolume", "pv2", spec={})).volumes[:1]
    assert volume.capacity_bytes == LARGEST_AMOUNT + 1
    assert volume.node_affinity == (NodeSelectorTerm((Requirement("zone", "In", ("a",)),)),)
    assert volume.claim == ("shop", "data", "u")
    assert (volume.driver, volume.handle) == ("ebs", "vol-1")


def test_a_storage_class() -> None:
    """Binding mode, topologies and default."""
    found = api_object(
        "StorageClass",
        "fast",
        version=STORAGE,
        metadata={"annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        provisioner="ebs",
        volumeBindingMode="WaitForFirstConsumer",
        allowedTopologies=[{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}],
    )
    (made,) = snapshot(found).storage_classes
    assert (made.provisioner, made.is_wait_for_first_consumer, made.is_default) == ("ebs", True, True)
    assert made.allowed_topologies == (NodeSelectorTerm((Requirement("zone", "In", ("a", "b")),)),)


def test_csi_objects() -> None:
    """Limits, drivers, capacities and attachments."""
    cluster = snapshot(
        api_object("CSINode", "n1", version=STORAGE, spec={"drivers": [
            {"name": "ebs", "nodeID": "i", "allocatable": {"count": 25}}, {"name": "nfs", "nodeID": "i"}]}),
        api_object("CSIDriver", "ebs", version=STORAGE, spec={"storageCapacity": True}),
        api_object("CSIStorageCapacity", "c", namespace="kube-system", version=STORAGE, storageClassName="fast",
                   capacity="1Ti", nodeTopology={"matchLabels": {"zone": "a"}}),
        api_object("VolumeAttachment", "va", version=STORAGE,
                   spec={"attacher": "ebs", "nodeName": "n1", "source": {"persistentVolumeName": "pv1"}}),
    )  # fmt: skip
    assert cluster.csi_nodes == (CsiNode("n1", (("ebs", 25), ("nfs", None))),)
    assert cluster.csi_drivers == (CsiDriver("ebs", True),)
    zone = LabelSelector((Requirement("zone", "In", ("a",)),))
    assert cluster.csi_capacities == (CsiStorageCapacity("kube-system", "c", "fast", zone, 2**40),)
    assert cluster.attachments == (VolumeAttachment("va", "ebs", "n1", "pv1"),)


@pytest.mark.parametrize("size", ["-1Gi", "x", "-8Ei", "1.2.3Ei", []])
def test_absurd_sizes_are_refused(size: object) -> None:
    """Sizes beyond counting are cut off, nonsense is not."""
    with pytest.raises(SnapshotError, match=r"PersistentVolumeClaim shop/data: spec\.resources\.requests\.storage"):
        claim(resources={"requests": {"storage": size}})


def test_missing_fields_are_named() -> None:
    """Those that nothing stands in for."""
    with pytest.raises(SnapshotError, match="CSIStorageCapacity c: storageClassName: is missing"):
        snapshot(api_object("CSIStorageCapacity", "c", version=STORAGE))
    with pytest.raises(SnapshotError, match=r"VolumeAttachment va: spec\.nodeName: is missing"):
        snapshot(api_object("VolumeAttachment", "va", version=STORAGE, spec={"attacher": "x"}))
