"""One random world: a cluster as it stands, and the gated pods that are let go one after another."""

from __future__ import annotations

from dataclasses import dataclass, field

from benchmarks.fidelity.containers import resized_status
from benchmarks.fidelity.draw import Draw, Manifest
from benchmarks.fidelity.nodes import image_sizes, node
from benchmarks.fidelity.pods import pod
from benchmarks.fidelity.profiles import MEASURED
from benchmarks.fidelity.storage import Storage
from benchmarks.fidelity.terms import NAMESPACES

SIZES = (5, 6, 8, 10, 12, 16, 20, 25, 30, 40, 50, 60)


@dataclass
class World:
    """Manifests, in the order in which they are made.

    ``nodes`` with the patches that give them their taints; ``standing`` are bound pods, ``leaving`` those of them
    whose deletion has begun, ``resized`` those that hold other resources than they ask for, with their status;
    ``guests`` are gated pods nominated to a node; ``cases`` the pods that are asked about.
    """

    seed: int
    nodes: list[tuple[Manifest, Manifest]]
    fixtures: list[Manifest] = field(default_factory=list)
    claims: list[Manifest] = field(default_factory=list)
    volumes: list[Manifest] = field(default_factory=list)
    standing: list[Manifest] = field(default_factory=list)
    leaving: list[Manifest] = field(default_factory=list)
    resized: list[tuple[Manifest, Manifest]] = field(default_factory=list)
    guests: list[tuple[Manifest, str]] = field(default_factory=list)
    cases: list[Manifest] = field(default_factory=list)

    @property
    def tag(self) -> str:
        """What the names of this world's objects end in."""
        return f"w{self.seed}"


def random_world(seed: int, cases: int) -> World:
    """The world of a seed with so many pods to ask about."""
    draw = Draw(seed)
    names = [f"n{number}-w{seed}" for number in range(draw.one(SIZES))]
    sizes = image_sizes(draw)
    world = World(seed, [node(draw, name, sizes) for name in names])
    storage = Storage(draw, names, world.tag) if draw.chance(50) else None
    for number in range(draw.number(len(names) // 2, min(2 * len(names), 80))):
        found = _pod(draw, f"s{number}-{world.tag}", names, storage, home=draw.one(names))
        world.standing.append(found)
        if draw.chance(8):
            world.leaving.append(found)
        elif draw.chance(10):
            world.resized.append((found, resized_status(draw, found)))
    for number in range(draw.one((0, 0, 1, 3))):
        world.guests.append((_pod(draw, f"g{number}-{world.tag}", names, None), draw.one(names)))
    for number in range(cases):
        world.cases.append(_pod(draw, f"c{number:03}-{world.tag}", names, storage))
    world.fixtures = [*_selecting(draw, world.tag), *(storage.fixtures() if storage else ())]
    if storage:
        world.claims, world.volumes = storage.claims, storage.volumes
    return world


def _pod(draw: Draw, name: str, nodes: list[str], storage: Storage | None, home: str | None = None) -> Manifest:
    """A pod; some belong to the world's ReplicaSet, some have volumes."""
    found = pod(draw, name, nodes, scheduler=draw.one(MEASURED), home=home)
    metadata = found["metadata"]
    if draw.chance(30):
        metadata["labels"]["tier"] = "b"
        owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"r-{name.partition('-')[2]}", "uid": ""}
        metadata["ownerReferences"] = [{**owner, "controller": True}]
    if storage and draw.chance(45):
        found["spec"]["volumes"] = storage.of_pod(name, metadata["namespace"])
    if draw.chance(50):
        found["spec"]["topologySpreadConstraints"] = []
    return found


def _selecting(draw: Draw, tag: str) -> list[Manifest]:
    """Services and ReplicaSets, for constraints that hold by default."""
    found: list[Manifest] = []
    for number, namespace in enumerate(NAMESPACES):
        selector = draw.one(({"app": "a"}, {"app": "a"}, {"tier": "b"}, {"app": "c", "tier": "a"}))
        metadata = {"name": f"s{number}-{tag}", "namespace": namespace}
        spec = {"selector": selector, "ports": [{"port": 80}], "clusterIP": "None"}
        found.append({"apiVersion": "v1", "kind": "Service", "metadata": metadata, "spec": spec})
        found.append(_replica_set(f"r-{tag}", namespace))
    return found


def _replica_set(name: str, namespace: str) -> Manifest:
    """An owner of pods that wants none itself; what it selects is what matters."""
    labels = {"tier": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "d"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": metadata, "spec": spec}
