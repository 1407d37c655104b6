"""Two pods cannot take the same port of one node."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import Rejection
from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.constraints import HostPort
from rescheduler.scheduling.plugin import SchedulerFilter

EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 - the API's own word for it; "::" is an ordinary address to the scheduler


class NodePorts(SchedulerFilter):
    """Ports conflict if protocol and number are equal, and the addresses are too or one of them is every address."""

    name = "NodePorts"
    predicates = ("GeneralPredicates", "PodFitsHostPorts", "PodFitsPorts")
    volcano_switch = "predicate.NodePortsEnable"
    is_static = False

    def reject(self, pod: int, placement: Placement) -> Sequence[Rejection]:
        """Nodes where another pod holds one of the pod's host ports."""
        columns = placement.columns
        ports = columns.shapes[columns.shape_of[pod]].host_ports
        if not ports:
            return ()
        taken = np.zeros(columns.node_count, dtype=np.bool_)
        for holders in columns.facts(PortHolders).in_conflict(ports):
            taken[placement.sites(holders, without=pod)] = True
        return (Rejection("node(s) didn't have free ports for the requested pod ports", taken),)


class PortHolders:
    """Which pods ask for which host ports."""

    def __init__(self, columns: Columns) -> None:
        """Look at each shape once."""
        found: dict[tuple[str, int], dict[str, list[IntArray]]] = {}
        for shape, spec in enumerate(columns.shapes):
            for port in spec.host_ports:
                by_address = found.setdefault((port.protocol or "TCP", port.port), {})
                by_address.setdefault(port.host_ip or EVERY_ADDRESS, []).append(columns.pods_of_shape.members(shape))
        self._holders = {
            key: {address: np.concatenate(pods) for address, pods in by_address.items()}
            for key, by_address in found.items()
        }

    def in_conflict(self, ports: Sequence[HostPort]) -> list[IntArray]:
        """Pods whose ports conflict with any of these, wherever they are; a pod that holds the ports is among them."""
        conflicting = []
        for port in ports:
            address = port.host_ip or EVERY_ADDRESS
            for other, pods in self._holders.get((port.protocol or "TCP", port.port), {}).items():
                if EVERY_ADDRESS in (address, other) or address == other:
                    conflicting.append(pods)
        return conflicting
