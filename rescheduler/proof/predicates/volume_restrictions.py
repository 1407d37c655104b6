"""Volumes that only one pod may use."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.model.constraints import Volume
from rescheduler.proof.predicates.volumes import claims_of
from rescheduler.proof.world import Arrival, World

_SHARED_FOR_READING = ("GCEPersistentDisk", "ISCSI", "RBD")
_NEVER_SHARED = ("AWSElasticBlockStore",)


def volume_restrictions(arrival: Arrival, others: Sequence[Arrival], world: World) -> str | None:
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
    neighbours = [*world.pods_on(name), *(other.pod for other in others if other.node.name == name)]
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
