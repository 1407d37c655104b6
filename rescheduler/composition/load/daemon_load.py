"""Measured load while the daemon runs: collected all the time, with what our own moves have touched."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from rescheduler.composition.live.cluster_source import ClusterOptions
from rescheduler.composition.load.provider_load import shortest_assessment
from rescheduler.composition.load.watching import UsageWatch
from rescheduler.extension_points import Clock, ClusterError, Listener
from rescheduler.model.daemon.ledger import LedgerEntry
from rescheduler.model.daemon.notices import EvictionNoted, Notice
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.usage.trust import NodeTrust
from rescheduler.model.usage.usage import Departure, UsageWindows
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import MeasuredLoad
from rescheduler.usage.ageing import aged, with_touched
from rescheduler.usage.aligning import aligned
from rescheduler.usage.collecting.collected import Collected, Observed

# What our own evictions have done to measured load of late.


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


_NOT_KNOWN: Final = "no load was collected yet"
Touched: TypeAlias = Mapping[str, float]


class CollectedLoad(MeasuredLoad):
    """Load as a running collector knows it, as old as it is by now, and moves that its last tick did not know of."""

    def __init__(
        self, collected: Callable[[], Collected], touched: Callable[[float], Touched], clock: Clock, coverage: float
    ) -> None:
        """``touched``: when a move last left or reached each node, asked with the time that it is.

        ``coverage``: usage.trust.coverage of the policy.
        """
        self._collected = collected
        self._touched = touched
        self._clock = clock
        self._coverage = coverage
        self._known: WeakKeyDictionary[Cluster, tuple[Touched, UsageWindows | None]] = WeakKeyDictionary()
        self._newest: float | None = None

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """Load of a snapshot's nodes and pods, None before the first tick; once for each snapshot and ledger."""
        touched = self._touched(cluster.taken_at)
        if cluster not in self._known or self._known[cluster][0] != touched:
            collected, found = self._collected(), None
            if collected.ticks:
                found = aligned(aged(collected, cluster.taken_at, self._coverage), cluster.nodes, cluster.pods)
                found = with_touched(found, [node.name for node in cluster.nodes], touched, cluster.taken_at)
            self._known[cluster] = touched, found
        return self._known[cluster][1]

    def warnings(self, cluster: Cluster) -> Sequence[str]:
        """Why load is not known or not believed."""
        measured = self.windows(cluster)
        if measured is None:
            return (f"usage: {_NOT_KNOWN}; requests stand in for it",)
        found = shortest_assessment(measured)
        errors = [f"usage: {health.error}" for health in self._collected().providers if health.error]
        return (*errors, *([f"usage: nothing is moved by measured load: {found.freeze}"] if found.freeze else ()))

    def trust(self) -> NodeTrust:
        """How far load is believed right now: by how old it is now, not when the last tick ended."""
        now = self._clock.now()
        collected = aged(self._collected(), now, self._coverage)
        if not collected.ticks:
            return NodeTrust(freeze=_NOT_KNOWN)
        names = [node.name for node in collected.nodes]
        found = shortest_assessment(with_touched(collected.windows, names, self._touched(now), now))
        return NodeTrust(dict(zip(names, found.nodes, strict=True)) if found.nodes else {}, found.freeze)

    def age_seconds(self, now: float) -> float | None:
        """Time since the newest sample of the node that was measured last; None where nothing ever was.

        It goes on growing when that sample has left every window.
        """
        measured = self._collected().measured_at
        known = np.empty(0) if measured is None else measured[np.isfinite(measured)]
        if known.size:
            self._newest = float(known.max())
        return None if self._newest is None else max(0.0, now - self._newest)


class DaemonLoad(CollectedLoad):
    """``CollectedLoad`` with its own collector, from ``start`` to ``stop``."""

    def __init__(
        self,
        policy: Policy,
        options: ClusterOptions,
        clock: Clock,
        snapshot: Callable[[], Cluster],
        tell: Callable[[str], None],
    ) -> None:
        """Raises PolicyError for arguments of providers that cannot be used, ClusterError."""
        self.own_moves = OwnMoves(snapshot, max(policy.usage.windows))
        self._watch = UsageWatch(policy, options, clock, tell, observe=lambda: self.own_moves.observed(snapshot()))
        super().__init__(
            lambda: self._watch.collected, self.own_moves.touched_before, clock, policy.usage.trust.coverage
        )

    def start(self) -> None:
        """Collect from now on."""
        self._watch.start(lambda: None)

    def stop(self) -> None:
        """Collect no more."""
        self._watch.stop()
