"""Host ports."""

from __future__ import annotations

from rescheduler.checker.wave_arrivals import Others
from rescheduler.checker.world import Arrival, World
from rescheduler.model.objects.constraints import HostPort

_EVERYWHERE = "0.0.0.0"  # noqa: S104 - the API's own word for "every address"


def ports(arrival: Arrival, others: Others, world: World) -> str | None:
    """No other pod of the node may hold the same port of the same protocol on an address in common."""
    if not arrival.pod.spec.host_ports:
        return None
    neighbours = [*world.pods_on(arrival.node.name)]
    neighbours += [other.pod for other in others.on(arrival.node.name)]
    for wanted in arrival.pod.spec.host_ports:
        for neighbour in neighbours:
            if any(_collide(wanted, taken) for taken in neighbour.spec.host_ports):
                return f"host port {wanted.port}/{wanted.protocol} is taken by {neighbour.key}"
    return None


def _collide(one: HostPort, other: HostPort) -> bool:
    if (one.port, one.protocol) != (other.port, other.protocol):
        return False
    return _EVERYWHERE in (one.host_ip, other.host_ip) or one.host_ip == other.host_ip
