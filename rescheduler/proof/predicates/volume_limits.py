"""How many volumes of each CSI driver a node can hold."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from rescheduler.model.cluster import Cluster
from rescheduler.model.pod import Pod
from rescheduler.proof.predicates.volumes import claims_of
from rescheduler.proof.world import Arrival, World


def volume_limits(arrival: Arrival, others: Sequence[Arrival], world: World) -> str | None:
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
    coming = [other.pod for other in others if other.node.name == name]
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
