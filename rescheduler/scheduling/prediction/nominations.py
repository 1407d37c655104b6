"""Pending pods that the scheduler has nominated to a node count there for pods of the same or a lower priority."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rescheduler.extension_points import Filter
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.filters.inter_pod_affinity import InterPodAffinity, is_concerned


class Nominations:
    """Who waits for which node."""

    def __init__(self, columns: Columns) -> None:
        """Read ``status.nominatedNodeName`` of the pending pods; an unknown node counts as none."""
        self._columns = columns
        self.node_of: dict[int, int] = {
            number: columns.node_index[pod.nominated_node]
            for number, pod in enumerate(columns.cluster.pods)
            if pod.is_pending and pod.nominated_node in columns.node_index and pod.nominated_node is not None
        }

    def guests(self, pod: int, placement: Placement) -> dict[int, list[int]]:
        """By node, the nominated pods that count against ``pod``: others, not placed yet, of no lower priority."""
        found: dict[int, list[int]] = {}
        pods = self._columns.cluster.pods
        for guest, node in self.node_of.items():
            is_waiting = guest != pod and placement.node_of[guest] == NOWHERE
            if is_waiting and pods[guest].spec.priority >= pods[pod].spec.priority:
                found.setdefault(node, []).append(guest)
        return found


def heeding(filters: Sequence[Filter], pod: int, placement: Placement) -> tuple[Filter, ...]:
    """The filters that are asked again with nominated pods seated; ask for them before these are."""
    is_left_out = not is_concerned(pod, placement)
    return tuple(plugin for plugin in filters if not (is_left_out and isinstance(plugin, InterPodAffinity)))


@contextmanager
def seated(placement: Placement, guests: list[int], node: int) -> Iterator[Placement]:
    """The placement with these pods on the node, for as long as the block runs."""
    for guest in guests:
        placement.assume(guest, node)
    try:
        yield placement
    finally:
        for guest in guests:
            placement.forget(guest)
