"""Puts worlds before the real control plane and clears them away; the API server is all it talks to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final

from benchmarks.fidelity.containers import RUNTIME_CLASS
from benchmarks.fidelity.draw import Manifest
from benchmarks.fidelity.pods import priority_classes
from benchmarks.fidelity.profiles import PROBE
from benchmarks.fidelity.terms import NAMESPACES, TEAM
from benchmarks.fidelity.volume_controller import provisioned
from benchmarks.fidelity.world import World
from tests.cluster.api import Api, ApiError

MARKER: Final = "example.com/marker"
_STORAGE: Final = "storage.k8s.io/v1"
_PLURALS: Final = {
    "Service": "services", "ReplicaSet": "replicasets", "StorageClass": f"{_STORAGE}/storageclasses",
    "CSIDriver": f"{_STORAGE}/csidrivers", "CSINode": f"{_STORAGE}/csinodes",
    "CSIStorageCapacity": f"{_STORAGE}/csistoragecapacities", "VolumeAttachment": f"{_STORAGE}/volumeattachments",
    "PersistentVolume": "persistentvolumes", "PersistentVolumeClaim": "persistentvolumeclaims",
}  # fmt: skip
_PROBE_SECONDS: Final = 60.0


class Stage:
    """Worlds come and go; what the API server refuses is kept in ``refused``, one line each."""

    def __init__(self, api: Api) -> None:
        """Namespaces and classes that all worlds share are made at once."""
        self.api = api
        self.refused: list[str] = []
        for number, name in enumerate(NAMESPACES):
            labels = {TEAM: "x"} if number == 0 else {}
            metadata = {"name": name, "labels": labels}
            self._make({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        for manifest in (*priority_classes(), RUNTIME_CLASS):
            self._make(manifest)

    @contextmanager
    def showing(self, world: World) -> Iterator[list[Manifest]]:
        """The world's pods to ask about, as the API server made them; all of it goes afterwards."""
        try:
            yield self._show(world)
        finally:
            self._clear(world)

    def _show(self, world: World) -> list[Manifest]:
        made = self._all(self._make, world.fixtures)
        uids = {_key(item): item["metadata"]["uid"] for item in made if item and item["kind"] == "ReplicaSet"}
        pods = [*world.standing, *(guest for guest, _ in world.guests), *world.cases]
        for pod in pods:
            for owner in pod["metadata"].get("ownerReferences", ()):
                owner["uid"] = uids[pod["metadata"]["namespace"], owner["name"]]
        self._show_storage(world)
        self._all(self._make_node, world.nodes)
        self._all(self._make, world.standing)
        self._all(self._tell_status, world.resized)
        self._all(self._begin_to_delete, world.leaving)
        self._all(self._make_guest, world.guests)
        cases = [found for found in map(self._make, world.cases) if found]
        self._wait_until_seen(world)
        return cases

    def _show_storage(self, world: World) -> None:
        claims = self._all(self._make_with_status, world.claims)
        uids = {_key(item): item["metadata"]["uid"] for item in claims if item}
        for volume in world.volumes:
            claim = volume["spec"].get("claimRef")
            if claim:
                claim["uid"] = uids[claim["namespace"], claim["name"]]
        self._all(self._make_with_status, world.volumes)

    def _make(self, manifest: Manifest) -> Manifest | None:
        try:
            return self.api.create(manifest) | {"kind": manifest["kind"]}
        except ApiError as error:
            if error.reason != "AlreadyExists":
                self.refused.append(str(error))
            return None

    def _make_with_status(self, manifest: Manifest) -> Manifest | None:
        """Claims and volumes: no controller is there to give them a phase."""
        made = self._make(manifest)
        if made and "status" in manifest:
            self._patch(manifest, {"status": manifest["status"]}, "status")
        return made

    def _make_node(self, parts: tuple[Manifest, Manifest]) -> None:
        manifest, patch = parts
        if self._make(manifest):
            self.api.patch("nodes", manifest["metadata"]["name"], patch)

    def _make_guest(self, parts: tuple[Manifest, str]) -> None:
        manifest, node = parts
        if self._make(manifest):
            metadata = manifest["metadata"]
            nominated = {"status": {"nominatedNodeName": node}}
            self.api.patch("pods", metadata["name"], nominated, metadata["namespace"], subresource="status")

    def _tell_status(self, parts: tuple[Manifest, Manifest]) -> None:
        metadata, status = parts[0]["metadata"], parts[1]
        try:
            self.api.patch("pods", metadata["name"], {"status": status}, metadata["namespace"], subresource="status")
        except ApiError as error:
            self.refused.append(str(error))

    def _begin_to_delete(self, pod: Manifest) -> None:
        metadata = pod["metadata"]
        self._quietly(lambda: self.api.delete("pods", metadata["name"], metadata["namespace"]))

    def _patch(self, manifest: Manifest, patch: Manifest, subresource: str = "") -> None:
        metadata, plural = manifest["metadata"], _PLURALS[manifest["kind"]]
        self.api.patch(plural, metadata["name"], patch, metadata.get("namespace"), subresource=subresource)

    def _wait_until_seen(self, world: World) -> None:
        """Until the scheduler has placed a pod that needs the last change to a node, and the last volume."""
        last = world.nodes[-1][0]["metadata"]["name"]
        self.api.patch("nodes", last, {"metadata": {"labels": {MARKER: world.tag}}})
        spec: Manifest = {
            "containers": [{"name": "main", "image": "d"}],
            "schedulerName": PROBE,
            "nodeSelector": {MARKER: world.tag},
        }
        bound = [item for item in world.claims if item.get("status", {}).get("phase") == "Bound"]
        claim = next((item["metadata"] for item in reversed(bound) if _reaches_all(item, world)), None)
        if claim:
            spec["volumes"] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim["name"]}}]
        namespace = claim["namespace"] if claim else NAMESPACES[0]
        metadata = {"name": f"probe-{world.tag}", "namespace": namespace}
        self.api.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
        deadline = time.monotonic() + _PROBE_SECONDS
        while not self.api.get("pods", metadata["name"], namespace)["spec"].get("nodeName"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"the scheduler has not seen world {world.seed} after {_PROBE_SECONDS:g} s")
            time.sleep(0.02)
        self.api.delete("pods", metadata["name"], namespace, grace_seconds=0)

    def _clear(self, world: World) -> None:
        for namespace in NAMESPACES:
            self.api.request("DELETE", f"/api/v1/namespaces/{namespace}/pods", {"gracePeriodSeconds": 0})
        made = [provisioned(claim, "") for claim in world.claims if "volumeName" not in claim["spec"]]
        self._all(self._remove, [*world.claims, *world.volumes, *made, *world.fixtures])
        names = [manifest["metadata"]["name"] for manifest, _ in world.nodes]
        self._all(lambda name: self._quietly(lambda: self.api.delete("nodes", name)), names)

    def _remove(self, manifest: Manifest) -> None:
        metadata, plural = manifest["metadata"], _PLURALS[manifest["kind"]]
        if plural.startswith("persistent"):
            self._quietly(lambda: self._patch(manifest, {"metadata": {"finalizers": None}}))
        self._quietly(lambda: self.api.delete(plural, metadata["name"], metadata.get("namespace")))

    def _quietly(self, act: Callable[[], Any]) -> None:
        """Do it; what is gone already needs no deleting."""
        try:
            act()
        except ApiError as error:
            if error.code != 404:
                raise

    def _all(self, act: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        with ThreadPoolExecutor(8) as pool:
            return list(pool.map(act, items))


def _key(item: Manifest) -> tuple[str, str]:
    return item["metadata"]["namespace"], item["metadata"]["name"]


def _reaches_all(claim: Manifest, world: World) -> bool:
    """Whether the volume of a bound claim is at home on every node."""
    name = claim["spec"]["volumeName"]
    return any(item["metadata"]["name"] == name and "nodeAffinity" not in item["spec"] for item in world.volumes)
