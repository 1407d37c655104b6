"""Plays the volume controller and the provisioner: ends what the scheduler begins when it places a pod with claims."""

from __future__ import annotations

from benchmarks.fidelity.draw import Manifest
from benchmarks.fidelity.storage import PRESET, SELECTED
from tests.cluster.api import Api

_BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def bind_claims(api: Api, pod: Manifest, *, is_chosen: bool) -> None:
    """Bind the pod's claims that the scheduler has chosen a volume or a node for.

    ``is_chosen``: by now it has surely decided, which claims that had a node from the start cannot tell.
    """
    namespace = pod["metadata"]["namespace"]
    sources = (volume.get("persistentVolumeClaim") for volume in pod["spec"].get("volumes", ()))
    names = {source["claimName"] for source in sources if source}
    if not names:
        return
    claims = [item for item in api.list("persistentvolumeclaims", namespace) if item["metadata"]["name"] in names]
    open_claims = [item for item in claims if not item["spec"].get("volumeName")]
    if not open_claims:
        return
    chosen = {item["spec"]["claimRef"].get("uid"): item for item in api.list("persistentvolumes")
              if "claimRef" in item["spec"]}  # fmt: skip
    for claim in open_claims:
        volume = chosen.get(claim["metadata"]["uid"])
        metadata = claim["metadata"]
        is_preset = PRESET in metadata.get("labels", {})
        if volume is None and SELECTED in metadata.get("annotations", {}) and (is_chosen or not is_preset):
            driver = api.get("storageclasses", claim["spec"]["storageClassName"])["provisioner"]
            volume = api.create(provisioned(claim, driver))
        if volume is not None:
            _complete(api, claim, volume["metadata"]["name"])


def provisioned(claim: Manifest, driver: str) -> Manifest:
    """The volume that is made for a claim, reachable from everywhere."""
    metadata, spec = claim["metadata"], claim["spec"]
    name = f"made-{metadata['name']}"
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": metadata["namespace"]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": spec["resources"]["requests"]["storage"]},
            "accessModes": spec["accessModes"],
            "storageClassName": spec["storageClassName"],
            "csi": {"driver": driver, "volumeHandle": f"handle-{name}"},
            "claimRef": {**reference, "name": metadata["name"], "uid": metadata.get("uid", "")},
        },
    }


def _complete(api: Api, claim: Manifest, volume: str) -> None:
    name, namespace = claim["metadata"]["name"], claim["metadata"]["namespace"]
    patch = {"metadata": {"annotations": _BOUND}, "spec": {"volumeName": volume}}
    api.patch("persistentvolumes", volume, {"status": {"phase": "Bound"}}, subresource="status")
    api.patch("persistentvolumeclaims", name, patch, namespace)
    api.patch("persistentvolumeclaims", name, {"status": {"phase": "Bound"}}, namespace, subresource="status")
