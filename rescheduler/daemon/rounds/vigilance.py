"""Watches the cluster's health, and our own clock, from round to round, and waits for calm after anything unwell."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import NamedTuple

from rescheduler.disruption.gate.health import NO_SIGNALS, Finding, Sighting, Signals, sighting, unhealthy
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.daemon.safety import Health
from rescheduler.policy.fields.values import format_duration

MOST_SIGHTINGS = 1000


class HealthFreeze(NamedTuple):
    """Nothing is carried out since then (seconds since the epoch), for these reasons, the newest."""

    since: float
    findings: tuple[Finding, ...]


class Vigilance:
    """Remembers what was seen; times are those of the snapshots."""

    def __init__(
        self,
        rules: Health,
        clock: Clock,
        signals: Callable[[Cluster], Signals] = lambda _: NO_SIGNALS,
        *,
        before: Vigilance | None = None,
    ) -> None:
        """``signals``: what is observed beside a snapshot. ``before``: what was remembered under other rules is
        remembered still."""
        self._rules = rules
        self._clock = clock
        self._signals = signals
        self._offset = clock.now() - clock.monotonic()
        self._sightings: deque[Sighting] = deque(() if before is None else before._sightings, maxlen=MOST_SIGHTINGS)
        self._last: tuple[float, Finding] | None = None if before is None else before._last
        self.freeze: HealthFreeze | None = None if before is None else before.freeze

    def look(self, cluster: Cluster, ledger: Ledger) -> None:
        """Judge a snapshot and remember it; what is older than any rule looks back is forgotten."""
        self._sightings.append(sighting(cluster))
        reach = 2 * max(self._rules.settle, self._rules.pending_rising)
        while self._sightings[0].at < cluster.taken_at - reach and len(self._sightings) > 2:
            self._sightings.popleft()
        self.findings(cluster, ledger)

    def findings(self, cluster: Cluster, ledger: Ledger) -> tuple[Finding, ...]:
        """What speaks against acting now: what is seen now, or that it is not calm for long enough since."""
        found, earlier = self._found(cluster, ledger), self.freeze
        since = cluster.taken_at if earlier is None else earlier.since
        self.freeze = HealthFreeze(since, found) if found else None
        return found

    def _found(self, cluster: Cluster, ledger: Ledger) -> tuple[Finding, ...]:
        now = cluster.taken_at
        found = (
            *self._jumps(cluster, ledger),
            *unhealthy(
                cluster, self._rules, ledger=ledger, sightings=tuple(self._sightings), signals=self._signals(cluster)
            ),
        )
        if found:
            self._last = (now, found[0])
            return found
        if self._last is None:
            return ()
        at, last = self._last
        left = at + self._rules.calm - now
        if left <= 0:
            return ()
        wait = format_duration(float(round(left)))
        return (Finding("calm", f"it has to be calm for another {wait}, since {last.message}"),)

    def _jumps(self, cluster: Cluster, ledger: Ledger) -> Iterator[Finding]:
        """Windows and ages are not to be trusted when the clock has jumped; the new time counts once it is calm."""
        if not self._rules.clock_offset:
            return
        offset = self._clock.now() - self._clock.monotonic()
        if abs(offset - self._offset) > self._rules.clock_offset:
            yield Finding("clockOffset", f"our clock has jumped by {offset - self._offset:.0f}s")
            self._offset = offset
        newest = max((entry.at for entry in ledger.entries), default=0.0)
        if newest - cluster.taken_at > self._rules.clock_offset:
            yield Finding("clockOffset", f"the ledger is {newest - cluster.taken_at:.0f}s ahead of our clock")
