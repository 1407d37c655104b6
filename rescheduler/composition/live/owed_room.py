"""Keeps one plan that is carried out off the room that earlier evictions still owe to their replacements."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.disruption.earlier.owed_room import placed_by, with_owed_room
from rescheduler.extension_points import LedgerStore
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan


class OwedRoom:
    """Snapshots as a plan may use them: as the schedulers see them, without the room that is owed to others.

    The ledger counts as it is when the plan takes its first snapshot, which is before it sends anything: a plan may
    have been made, or looked at, long before. Raises ClusterError, StoreError where it cannot be read.
    """

    def __init__(self, as_seen: Callable[[Cluster], Cluster], ledger: LedgerStore, plan: Plan) -> None:
        self._as_seen = as_seen
        self._store = ledger
        self._earlier: Ledger | None = None
        self._placed = placed_by(plan)
        self._is_idle = not plan.moves

    def as_seen(self, found: Cluster) -> Cluster:
        """A snapshot; a plan that moves nobody takes nobody's room."""
        seen = self._as_seen(found)
        if self._is_idle:
            return seen
        if self._earlier is None:
            self._earlier = self._store.read().ledger
        return with_owed_room(seen, self._earlier, self._placed)
