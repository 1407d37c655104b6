"""Volumes that must be reachable from the node: bound ones where they are, others where they can be made."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rescheduler.checker.selectors import any_term_matches, label_selector_matches
from rescheduler.checker.wave_arrivals import Others
from rescheduler.checker.world import Arrival, World
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Volume
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.storage import PersistentVolume, PersistentVolumeClaim, StorageClass

_ZONES: Mapping[str, str] = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}


def volume_binding(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """Each claim is bound to a volume that the node reaches, or can be bound there.

    Others that move with it are bound already: a pod that ran has its volumes.
    """
    unbound: list[PersistentVolumeClaim] = []
    for name, is_ephemeral in claims_of(arrival.pod):
        claim = world.cluster.claim_by_key.get((arrival.pod.namespace, name))
        if claim is None or claim.phase == "Lost" or claim.is_terminating:
            return f"the claim {name} is missing, lost or being deleted"
        if is_ephemeral and not any(owner.uid == arrival.pod.uid for owner in claim.owners):
            return f"the claim {name} of an ephemeral volume does not belong to the pod"
        if not claim.is_bound:
            unbound.append(claim)
        elif not _reaches(world.cluster.volume_by_name.get(claim.volume_name), arrival.node):
            return f"the volume {claim.volume_name} of claim {name} cannot be reached from the node"
    return _bindable(unbound, arrival.node, world.cluster, set(world.reserved_volumes))


def volume_zone(arrival: Arrival, others: Others, world: World) -> str | None:  # noqa: ARG001
    """A bound volume labelled with zones or regions binds the node's labels; an unlabelled node passes."""
    node = arrival.node
    if not any(key in node.labels for key in _ZONES):
        return None
    for name, is_ephemeral in claims_of(arrival.pod):
        claim = world.cluster.claim_by_key.get((arrival.pod.namespace, name))
        volume = world.cluster.volume_by_name.get(claim.volume_name) if claim and not is_ephemeral else None
        for key, modern in _ZONES.items() if volume else ():
            wanted = volume.labels.get(key) if volume else None
            found = node.labels.get(key, node.labels.get(modern))
            if wanted is not None and found not in wanted.split("__"):
                return f"claim {name} lies in {key}={wanted}, the node in {found}"
    return None


def claims_of(pod: Pod) -> Iterator[tuple[str, bool]]:
    """Names of the pod's claims, and whether each is of a generic ephemeral volume."""
    for volume in pod.volumes:
        if volume.kind in ("PersistentVolumeClaim", "Ephemeral"):
            yield volume.claim, volume.kind == "Ephemeral"


def chosen_volumes(arrival: Arrival, world: World, taken: frozenset[str]) -> set[str]:
    """Static volumes that an arrival would take for its unbound claims."""
    chosen = set(taken)
    claims = [world.cluster.claim_by_key.get((arrival.pod.namespace, name)) for name, _ in claims_of(arrival.pod)]
    for claim in sorted((item for item in claims if item and not item.is_bound), key=lambda item: item.requested_bytes):
        volume = _static_volume(claim, arrival.node, world.cluster, chosen)
        if volume is not None:
            chosen.add(volume)
    return chosen - taken


def _reaches(volume: PersistentVolume | None, node: Node) -> bool:
    return volume is not None and (volume.node_affinity is None or any_term_matches(volume.node_affinity, node))


def _bindable(claims: Sequence[PersistentVolumeClaim], node: Node, cluster: Cluster, taken: set[str]) -> str | None:
    """Smallest claims first: a free static volume, or else one made by the class's provisioner."""
    for claim in sorted(claims, key=lambda item: item.requested_bytes):
        kind = cluster.storage_class_by_name.get(claim.storage_class)
        if kind is None or not kind.is_wait_for_first_consumer or claim.volume_name:
            return f"the claim {claim.name} is not bound yet, and does not wait for a pod"
        if claim.selected_node is not None:
            if claim.selected_node != node.name:
                return f"the claim {claim.name} is being provisioned for node {claim.selected_node}"
            continue
        volume = _static_volume(claim, node, cluster, taken)
        if volume is not None:
            taken.add(volume)
        elif not _can_provision(claim, kind, node, cluster):
            return f"no volume for the claim {claim.name} can be found or made for the node"
    return None


def _static_volume(claim: PersistentVolumeClaim, node: Node, cluster: Cluster, taken: set[str]) -> str | None:
    """The smallest available volume that suits the claim and the node; one kept for the claim comes first."""
    fitting = [
        volume
        for volume in cluster.volumes
        if volume.name not in taken and _suits(volume, claim) and _reaches(volume, node)
    ]
    kept = [volume for volume in fitting if volume.claim is not None]
    best = min(kept or fitting, key=lambda volume: (volume.capacity_bytes, volume.name), default=None)
    return None if best is None else best.name


def _suits(volume: PersistentVolume, claim: PersistentVolumeClaim) -> bool:
    if volume.claim is not None and volume.claim[:2] != (claim.namespace, claim.name):
        return False
    if volume.phase != "Available" or volume.is_terminating or volume.storage_class != claim.storage_class:
        return False
    if volume.capacity_bytes < claim.requested_bytes or volume.volume_mode != claim.volume_mode:
        return False
    if claim.selector is not None and not label_selector_matches(claim.selector, volume.labels):
        return False
    return set(claim.access_modes) <= set(volume.access_modes)


def _can_provision(claim: PersistentVolumeClaim, kind: StorageClass, node: Node, cluster: Cluster) -> bool:
    if kind.provisioner in ("", "kubernetes.io/no-provisioner"):
        return False
    if kind.allowed_topologies and not any_term_matches(kind.allowed_topologies, node):
        return False
    if not any(driver.name == kind.provisioner and driver.has_storage_capacity for driver in cluster.csi_drivers):
        return True
    return any(
        capacity.storage_class == kind.name
        and label_selector_matches(capacity.node_topology, node.labels)
        and (capacity.capacity_bytes if capacity.maximum_volume_bytes is None else capacity.maximum_volume_bytes)
        >= claim.requested_bytes
        for capacity in cluster.csi_capacities
    )


# How many volumes of each CSI driver a node can hold.


def volume_limits(arrival: Arrival, others: Others, world: World) -> str | None:
    """Distinct volumes on the node, with those of the whole wave, must stay within the node's limit per driver."""
    cluster, name = world.cluster, arrival.node.name
    wanted = _volumes_of((arrival.pod,), cluster)
    limits = {
        driver: limit
        for node in (cluster.csi_nodes if wanted else ())
        if node.name == name
        for driver, limit in node.drivers
        if limit is not None and driver in wanted
    }
    if not limits:
        return None
    coming = [other.pod for other in others.on(name)]
    present = _volumes_of((*world.pods_on(name), *coming), cluster)
    for attachment in cluster.attachments:
        if attachment.node_name == name:
            present[attachment.attacher].add(_identity(attachment.volume_name, cluster))
    for driver, limit in limits.items():
        number = len(present[driver] | wanted[driver])
        if wanted[driver] - present[driver] and number > limit:
            return f"{number} volumes of {driver} on a node for {limit}"
    return None


def _volumes_of(pods: Iterable[Pod], cluster: Cluster) -> defaultdict[str, set[str]]:
    """Distinct volumes by driver. A claim that is not bound yet stands for the volume it will get."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for pod in pods:
        for name, _ in claims_of(pod):
            claim = cluster.claim_by_key.get((pod.namespace, name))
            if claim is None:
                continue
            volume = cluster.volume_by_name.get(claim.volume_name)
            kind = cluster.storage_class_by_name.get(claim.storage_class)
            if volume is not None:
                found[volume.driver].add(_identity(volume.name, cluster))
            elif kind is not None:
                found[kind.provisioner].add(f"{pod.namespace}/{name}")
    found.pop("", None)
    return found


def _identity(volume_name: str, cluster: Cluster) -> str:
    volume = cluster.volume_by_name.get(volume_name)
    return volume_name if volume is None or not volume.handle else volume.handle


# Volumes that only one pod may use.

_SHARED_FOR_READING = ("GCEPersistentDisk", "ISCSI", "RBD")
_NEVER_SHARED = ("AWSElasticBlockStore",)


def volume_restrictions(arrival: Arrival, others: Others, world: World) -> str | None:
    """A ReadWriteOncePod claim has one user in the cluster; some disks one user, or readers only, on a node."""
    pod, name = arrival.pod, arrival.node.name
    for claim_name, _ in claims_of(pod):
        claim = world.cluster.claim_by_key.get((pod.namespace, claim_name))
        if claim is not None and "ReadWriteOncePod" in claim.access_modes:
            # Others that move with it use the claim where they are until their wave ends.
            users = world.users_of_claim(pod.namespace, claim_name) - {pod.key}
            if users:
                return f"the ReadWriteOncePod claim {claim_name} is in use by {min(users)}"
    if not any(volume.identity for volume in pod.volumes):
        return None
    neighbours = [*world.pods_on(name), *(other.pod for other in others.on(name))]
    for wanted in pod.volumes:
        for neighbour in neighbours:
            if any(_collide(wanted, taken) for taken in neighbour.volumes):
                return f"the disk {wanted.identity} is in use by {neighbour.key}"
    return None


def _collide(one: Volume, other: Volume) -> bool:
    if not one.identity or (one.kind, one.identity) != (other.kind, other.identity):
        return False
    if one.kind in _NEVER_SHARED:
        return True
    return one.kind in _SHARED_FOR_READING and not (one.is_read_only and other.is_read_only)
