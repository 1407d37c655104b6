"""Measured load while the daemon runs: collected all the time, with what our own moves have touched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from rescheduler.extension_points import Clock
from rescheduler.model.cluster import Cluster
from rescheduler.model.trust import NodeTrust
from rescheduler.model.usage import UsageWindows
from rescheduler.policy.models import Policy
from rescheduler.scheduling.schedulers import MeasuredLoad
from rescheduler.usage.aligning import aligned
from rescheduler.usage.collected import Collected
from rescheduler.usage.touched_since import with_touched
from rescheduler.wiring.cluster_source import ClusterOptions
from rescheduler.wiring.own_moves import OwnMoves
from rescheduler.wiring.provider_load import shortest_assessment
from rescheduler.wiring.watching import UsageWatch

_NOT_KNOWN: Final = "no load was collected yet"
Touched: TypeAlias = Mapping[str, float]


class CollectedLoad(MeasuredLoad):
    """Load as a running collector knows it, and moves that its last tick did not know of."""

    def __init__(
        self, collected: Callable[[], Collected], touched: Callable[[float], Touched], clock: Clock
    ) -> None:  # fmt: skip
        """``touched``: when a move last left or reached each node, asked with the time that it is."""
        self._collected = collected
        self._touched = touched
        self._clock = clock
        self._known: WeakKeyDictionary[Cluster, tuple[Touched, UsageWindows | None]] = WeakKeyDictionary()

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """Load of a snapshot's nodes and pods, None before the first tick; once for each snapshot and ledger."""
        touched = self._touched(cluster.taken_at)
        if cluster not in self._known or self._known[cluster][0] != touched:
            collected, found = self._collected(), None
            if collected.ticks:
                found = aligned(collected, cluster.nodes, cluster.pods)
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
        """How far load is believed right now."""
        collected = self._collected()
        if not collected.ticks:
            return NodeTrust(freeze=_NOT_KNOWN)
        names, now = [node.name for node in collected.nodes], self._clock.now()
        found = shortest_assessment(with_touched(collected.windows, names, self._touched(now), now))
        return NodeTrust(dict(zip(names, found.nodes, strict=True)) if found.nodes else {}, found.freeze)

    def age_seconds(self, now: float) -> float | None:
        """Time since the newest sample of the node that was measured last; None where nothing was."""
        measured = self._collected().measured_at
        known = np.empty(0) if measured is None else measured[np.isfinite(measured)]
        return max(0.0, now - float(known.max())) if known.size else None


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
        super().__init__(lambda: self._watch.collected, self.own_moves.touched_before, clock)

    def start(self) -> None:
        """Collect from now on."""
        self._watch.start(lambda: None)

    def stop(self) -> None:
        """Collect no more."""
        self._watch.stop()
