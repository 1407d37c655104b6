"""What our own evictions have done to measured load of late."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from rescheduler.extension_points import ClusterError, Listener
from rescheduler.model.cluster import Cluster
from rescheduler.model.ledger import LedgerEntry
from rescheduler.model.notices import EvictionNoted, Notice
from rescheduler.model.usage import Departure
from rescheduler.usage.collected import Observed


class OwnMoves(Listener):
    """Remembers, for as long as the longest window, which nodes our evictions touched and which pods left them."""

    def __init__(self, snapshot: Callable[[], Cluster], keep_seconds: float) -> None:
        self._snapshot = snapshot
        self._keep_seconds = keep_seconds
        self._lock = threading.Lock()
        self._touched: dict[str, float] = {}
        self._before: dict[str, float] = {}
        self._left: dict[str, Departure] = {}

    def hear(self, notice: Notice) -> None:
        """Take an eviction, at whatever state."""
        if not isinstance(notice, EvictionNoted):
            return
        with self._lock:
            _touch(self._touched, notice.entry)
            if notice.entry.pod.uid not in self._left:
                self._remember(notice.entry)

    def learn(self, entries: Sequence[LedgerEntry]) -> None:
        """Take the ledger as it stands before a round: evictions of earlier processes and leaders are in it too."""
        found: dict[str, float] = {}
        for entry in entries:
            _touch(found, entry)
        with self._lock:
            self._before = found
            for name, at in found.items():
                self._touched[name] = max(self._touched.get(name, 0.0), at)

    def touched_before(self, now: float) -> Mapping[str, float]:
        """When a move last left or reached each node, as the ledger said before the round, seconds since the epoch.

        As far back as the longest window. What a plan moves while it is carried out is left out: it was decided as
        one, and what it has changed is judged from the next tick on.
        """
        with self._lock:
            return self._lately(self._before, now)

    def observed(self, cluster: Cluster) -> Observed:
        """The snapshot with what we have done to it lately."""
        oldest = cluster.taken_at - self._keep_seconds
        standing = {pod.uid for pod in cluster.pods} if self._left else set()
        with self._lock:
            self._touched = self._lately(self._touched, cluster.taken_at)
            self._left = {uid: gone for uid, gone in self._left.items() if gone.left_at >= oldest}
            gone = tuple(left for uid, left in self._left.items() if uid not in standing)
            return Observed(cluster.nodes, cluster.pods, gone, dict(self._touched))

    def _lately(self, touched: Mapping[str, float], now: float) -> dict[str, float]:
        return {name: at for name, at in touched.items() if at >= now - self._keep_seconds}

    def _remember(self, entry: LedgerEntry) -> None:
        try:
            pod = self._snapshot().pod_by_key.get(entry.pod.key)
        except ClusterError:
            return
        if pod is not None and pod.uid == entry.pod.uid:
            self._left[pod.uid] = Departure(entry.from_node, entry.at, pod.spec)


def _touch(touched: dict[str, float], entry: LedgerEntry) -> None:
    for name in (entry.from_node, entry.landed_on or entry.to_node):
        touched[name] = max(touched.get(name, 0.0), entry.closed_at or entry.at)
