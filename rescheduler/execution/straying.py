"""Whether a wave may go on after one of its pods landed elsewhere than expected, or others' pods took room."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rescheduler.execution.departures import Departure
from rescheduler.execution.holding import fits, free_room, take
from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Move


def is_harmless(departure: Departure, wave: Iterable[Move], departures: Sequence[Departure], cluster: Cluster) -> bool:
    """Whether everybody of the wave who is expected on the node where this pod landed still finds room there.

    Only for pods that stand in nobody's way but by their requests. ``cluster``: read before the wave, or amid it.
    """
    node = departure.landed_on
    spec = departure.pod.spec
    if node is None or node not in cluster.node_by_name or node == departure.move.from_node:
        return False
    if spec.affinity or spec.anti_affinity or spec.topology_spread or spec.host_ports:
        return False
    room = free_room(cluster, node)
    for move in wave:
        if move.to_node == node and move.pod.key in cluster.pod_by_key:
            take(room, cluster.pod_by_key[move.pod.key].spec.requests)
    for other in departures:
        if other.landed_on == node != other.move.to_node:
            take(room, other.pod.spec.requests)
    return all(amount >= 0 for amount in room.values())


def has_room(move: Move, departures: Iterable[Departure], cluster: Cluster) -> bool:
    """Whether a pod that is still to leave finds room at its destination, beside those on their way there.

    By requests alone; ``cluster``: read just now, and holding the pod. One that leaves before others arrive does.
    """
    if move.evict_first:
        return True
    room = free_room(cluster, move.to_node)
    for other in departures:
        if other.move.to_node == move.to_node and other.landed_on is None:
            take(room, other.pod.spec.requests)
    return fits(room, cluster.pod_by_key[move.pod.key].spec.requests)
