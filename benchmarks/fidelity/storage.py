"""Random storage of one world: classes, volumes, claims in every state, attach limits, published capacity."""

from __future__ import annotations

from benchmarks.fidelity.draw import Draw, Manifest
from benchmarks.fidelity.terms import HOST, NAMESPACES, ZONE

GIB = 1 << 30
SELECTED = "volume.kubernetes.io/selected-node"
"""How the scheduler tells a provisioner for which node it wants a volume."""
PRESET = "example.com/preset"
"""Label of claims that carry SELECTED from the start, which says nothing of the scheduler's present choice."""
_MODES = (
    "bound",
    "bound",
    "bound",
    "shared",
    "later",
    "local",
    "topology",
    "now",
    "selected",
    "missing",
    "lost",
    "disk",
)
_RARE = {"now": 30, "missing": 30, "lost": 30}
"""Modes that leave a pod without any node, and how often they are kept when drawn."""


class Storage:
    """Objects by kind, drawn as pods ask for them; the names end in the world's tag, so that worlds do not mix."""

    def __init__(self, draw: Draw, nodes: list[str], tag: str) -> None:
        self._draw, self._nodes, self._tag = draw, nodes, tag
        self._driver = f"csi-{tag}.example.com"
        self._shared: list[tuple[str, str]] = []
        self.claims: list[Manifest] = []
        self.volumes: list[Manifest] = []
        self.volumes.extend(self._free(number) for number in range(draw.number(0, 4)))

    def fixtures(self) -> list[Manifest]:
        """Everything that does not belong to a single pod."""
        draw = self._draw
        driver = _object("storage.k8s.io/v1", "CSIDriver", self._driver, spec={"storageCapacity": draw.chance(40)})
        limited = [self._csi_node(node) for node in self._nodes if draw.chance(60)]
        capacities = [self._capacity(number) for number in range(draw.number(0, 4))]
        bound = [item for item in self.volumes if item["status"]["phase"] == "Bound"]
        attached = [self._attachment(number, draw.one(bound)) for number in range(draw.number(0, 3)) if bound]
        return [*self._classes(), driver, *limited, *capacities, *attached]

    def of_pod(self, name: str, namespace: str) -> list[Manifest]:
        """Volumes of a pod's specification; their claims and volumes are added to this world."""
        drawn = (self._volume(f"{name}-{number}", namespace) for number in range(self._draw.one((0, 0, 1, 1, 2))))
        return [{"name": f"v{number}", **source} for number, source in enumerate(drawn) if source]

    def _volume(self, name: str, namespace: str) -> Manifest | None:
        draw = self._draw
        mode = draw.one(_MODES)
        if not draw.chance(_RARE.get(mode, 100)):
            return None
        if mode == "disk":
            return {"gcePersistentDisk": {"pdName": f"disk-{draw.number(1, 3)}", "readOnly": draw.chance(30)}}
        if mode == "shared":
            known = [claim for space, claim in self._shared if space == namespace]
            return {"persistentVolumeClaim": {"claimName": draw.one(known)}} if known else None
        claim = f"{name}-{self._tag}"
        if mode in ("bound", "lost"):
            self._bound(claim, namespace, phase="Lost" if mode == "lost" else "Bound")
        elif mode != "missing":
            self._unbound(claim, namespace, mode)
        return {"persistentVolumeClaim": {"claimName": claim}}

    def _bound(self, name: str, namespace: str, phase: str) -> None:
        access = [self._draw.one(("ReadWriteOnce", "ReadWriteMany", "ReadWriteOncePod"))]
        claim = self._claim(name, namespace, "later", access, GIB)
        claim["metadata"]["annotations"] = {"pv.kubernetes.io/bind-completed": "yes"}
        claim["spec"]["volumeName"], claim["status"] = f"pv-{name}", {"phase": phase}
        volume = self._persistent_volume(f"pv-{name}", "later", access, GIB, "Bound")
        volume["spec"]["claimRef"] = {
            "namespace": namespace, "name": name, "kind": "PersistentVolumeClaim", "apiVersion": "v1",
        }  # fmt: skip
        if self._draw.chance(40):
            volume["metadata"]["labels"] = {ZONE: self._draw.one(("1", "2", "1__2", "2__3"))}
        self.claims.append(claim)
        self.volumes.append(volume)
        self._shared.append((namespace, name))

    def _unbound(self, name: str, namespace: str, mode: str) -> None:
        kind = mode if mode in ("local", "now", "topology") else "later"
        claim = self._claim(name, namespace, kind, ["ReadWriteOnce"], self._draw.one((1, 2)) * GIB)
        if mode == "selected":
            chosen = {SELECTED: self._draw.one(self._nodes)}
            claim["metadata"] |= {"annotations": chosen, "labels": {PRESET: "yes"}}
        self.claims.append(claim)

    def _claim(self, name: str, namespace: str, kind: str, access: list[str], size: int) -> Manifest:
        spec = {
            "accessModes": access,
            "storageClassName": f"{kind}-{self._tag}",
            "resources": {"requests": {"storage": str(size)}},
        }
        claim = _object("v1", "PersistentVolumeClaim", name, spec=spec)
        claim["metadata"]["namespace"] = namespace
        return claim

    def _free(self, number: int) -> Manifest:
        draw = self._draw
        size, kind = draw.one((1, 2, 3)) * GIB, draw.one(("local", "local", "later"))
        return self._persistent_volume(f"free-{number}-{self._tag}", kind, ["ReadWriteOnce"], size, "Available")

    def _persistent_volume(self, name: str, kind: str, access: list[str], size: int, phase: str) -> Manifest:
        spec: Manifest = {
            "capacity": {"storage": str(size)},
            "accessModes": access,
            "storageClassName": f"{kind}-{self._tag}",
            "csi": {"driver": self._driver, "volumeHandle": f"handle-{name}"},
        }
        reach = self._draw.one((None, ZONE, ZONE, HOST))
        if reach:
            values = [self._draw.one("123") if reach == ZONE else self._draw.one(self._nodes)]
            rule = {"key": reach, "operator": "In", "values": values}
            spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [rule]}]}}
        return _object("v1", "PersistentVolume", name, spec=spec, status={"phase": phase})

    def _classes(self) -> list[Manifest]:
        zones = [{"matchLabelExpressions": [{"key": ZONE, "values": ["1", "3"]}]}]
        return [
            self._storage_class("later", self._driver),
            self._storage_class("topology", self._driver, allowedTopologies=zones),
            self._storage_class("now", self._driver, volumeBindingMode="Immediate"),
            self._storage_class("local", "kubernetes.io/no-provisioner"),
        ]

    def _storage_class(self, kind: str, provisioner: str, **fields: object) -> Manifest:
        rest = {"provisioner": provisioner, "volumeBindingMode": "WaitForFirstConsumer", **fields}
        return _object("storage.k8s.io/v1", "StorageClass", f"{kind}-{self._tag}", **rest)

    def _csi_node(self, node: str) -> Manifest:
        limit = {"count": self._draw.number(1, 4)}
        driver = {"name": self._driver, "nodeID": node, "topologyKeys": [], "allocatable": limit}
        return _object("storage.k8s.io/v1", "CSINode", node, spec={"drivers": [driver]})

    def _capacity(self, number: int) -> Manifest:
        draw = self._draw
        topology = draw.one(({}, {"matchLabels": {ZONE: "1"}}, {"matchLabels": {ZONE: "2"}}))
        found = _object(
            "storage.k8s.io/v1", "CSIStorageCapacity", f"capacity-{number}-{self._tag}",
            storageClassName=f"{draw.one(('later', 'topology'))}-{self._tag}",
            capacity=str(draw.one((0, 1, 2, 9)) * GIB), nodeTopology=topology,
        )  # fmt: skip
        if draw.chance(50):
            found["maximumVolumeSize"] = str(GIB)
        found["metadata"]["namespace"] = NAMESPACES[0]
        return found

    def _attachment(self, number: int, volume: Manifest) -> Manifest:
        source = {"persistentVolumeName": volume["metadata"]["name"]}
        spec = {"attacher": self._driver, "nodeName": self._draw.one(self._nodes), "source": source}
        return _object("storage.k8s.io/v1", "VolumeAttachment", f"attached-{number}-{self._tag}", spec=spec)


def _object(version: str, kind: str, name: str, **rest: object) -> Manifest:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **rest}
