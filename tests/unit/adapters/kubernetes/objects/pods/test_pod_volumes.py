"""Volumes of pods."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.objects.constraints import Volume
from tests.unit.adapters.api_objects import list_of, node_object, pod_object, read, read_pod


@pytest.mark.parametrize(
    ("volume", "found"),
    [
        ({"persistentVolumeClaim": {"claimName": "data"}}, Volume("PersistentVolumeClaim", claim="data")),
        ({"persistentVolumeClaim": {"claimName": "data", "readOnly": True}},
         Volume("PersistentVolumeClaim", claim="data", is_read_only=True)),
        ({"ephemeral": {"volumeClaimTemplate": {}}}, Volume("Ephemeral", claim="a-v")),
        ({"emptyDir": {"medium": "Memory"}}, Volume("EmptyDir")),
        ({}, Volume("EmptyDir")),
        ({"hostPath": {"path": "/x"}}, Volume("HostPath")),
        ({"gcePersistentDisk": {"pdName": "d"}}, Volume("GCEPersistentDisk", identity="d")),
        ({"awsElasticBlockStore": {"volumeID": "v"}}, Volume("AWSElasticBlockStore", identity="v")),
        ({"iscsi": {"iqn": "i", "readOnly": True}}, Volume("ISCSI", identity="i", is_read_only=True)),
        ({"rbd": {"pool": "p", "image": "i"}}, Volume("RBD", identity="p/i")),
        ({"nfs": {"server": "s"}}, Volume("nfs")),
        ({"somethingNew": {}}, Volume("somethingNew")),
    ],
)  # fmt: skip
def test_each_type(volume: dict[str, Any], found: Volume) -> None:
    """Each type in the model's form; unknown ones keep their field's name."""
    assert read_pod(pod_object(volumes=[{"name": "v", **volume}])).volumes == (found,)


@pytest.mark.parametrize("name", ["configMap", "secret", "projected", "downwardAPI", "image"])
def test_volumes_that_bind_nothing_are_left_out(name: str) -> None:
    """They are filled anew wherever the pod starts."""
    assert read_pod(pod_object(volumes=[{"name": "v", name: {}}])).volumes == ()


def test_ephemeral_claims_are_named_after_their_own_pod() -> None:
    """Replicas with equal volumes have different claims."""
    volumes = [{"name": "scratch", "ephemeral": {}}]
    pods = read(list_of(node_object(), pod_object("a", volumes=volumes), pod_object("b", volumes=volumes))).pods
    assert [pod.volumes[0].claim for pod in pods] == ["a-scratch", "b-scratch"]
