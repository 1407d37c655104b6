"""Asks providers at a steady beat and turns what they say into windows with trust; through protocols only."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import floor
from typing import Final, NamedTuple

from rescheduler.extension_points import Clock, ClusterError, MetricsProvider, StoreError, UsageStore
from rescheduler.model.usage.samples import NodeSamples
from rescheduler.policy.fields.usage import UsagePolicy
from rescheduler.usage.analyser import Memory, assess, remember
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.new_nodes import is_young
from rescheduler.usage.checks.staleness import largest_age
from rescheduler.usage.collecting.answers import ProviderAnswer, ask, ask_history, chosen
from rescheduler.usage.collecting.collected import Collected, Observe, Observed
from rescheduler.usage.collecting.node_births import NodeBirths, since_birth
from rescheduler.usage.collecting.pod_collecting import PodCollecting, oldest_bound
from rescheduler.usage.collecting.provider_health import ProviderHealth, updated
from rescheduler.usage.corroboration import disputes
from rescheduler.usage.judging import judged
from rescheduler.usage.rings import NodeRing
from rescheduler.usage.windows import usage_windows

# When the next tick is due: at a steady beat, and a tick that takes too long is not caught up on.


class NextTick(NamedTuple):
    """``due``: on the monotonic clock; ``skipped``: beats left out."""

    due: float
    skipped: int


def next_tick(last_due: float, monotonic: float, interval: float) -> NextTick:
    """The first beat after ``monotonic``: catching up would only repeat samples and load a provider that is slow."""
    passed = max(0, floor((monotonic - last_due) / interval))
    return NextTick(last_due + (passed + 1) * interval, passed)


# Handing ticks to the store: one that cannot write is tried again later, and the watcher goes on without it.

FIRST_PAUSE_SECONDS: Final = 15.0
LONGEST_PAUSE_SECONDS: Final = 300.0
_MOST_WAITING: Final = 40
"""Ticks kept for a store that fails: 10 minutes at the usual interval, 10 MB at 5,000 nodes."""


class StoreWriter:
    """One store, or none. ``error``: why the last write failed, "" if it did not; ``since``: since when."""

    def __init__(self, store: UsageStore | None) -> None:
        self._store = store
        self._waiting: deque[NodeSamples] = deque(maxlen=_MOST_WAITING)
        self._pause = 0.0
        self._next_at = 0.0
        self.error = ""
        self.since: float | None = None
        self.lost = 0

    def restore(self, since: float, now: float) -> Sequence[NodeSamples]:
        """What was kept and is not older than ``since``, oldest first; nothing where the store fails."""
        if self._store is None:
            return ()
        try:
            return self._store.restore(since)
        except StoreError as error:
            self._failed(str(error), now)
            return ()

    def save(self, samples: NodeSamples, now: float) -> None:
        """Keep one tick, and those that wait; after a failure not before a pause that doubles. Never raises."""
        if self._store is None:
            return
        self.lost += len(self._waiting) == _MOST_WAITING
        self._waiting.append(samples)
        if 0 < self._next_at - now <= self._pause:  # a clock that was set back does not make it wait for ever
            return
        try:
            while self._waiting:
                self._store.append(self._waiting[0])
                self._waiting.popleft()
        except StoreError as error:
            self._failed(str(error), now)
            self._next_at = now + self._pause
        else:
            self._pause, self.error, self.since = 0.0, "", None

    def _failed(self, error: str, now: float) -> None:
        self.since = now if not self.error else self.since
        self.error = error
        self._pause = min(max(2 * self._pause, FIRST_PAUSE_SECONDS), LONGEST_PAUSE_SECONDS)


Wait = Callable[[float], bool]
"""Waits so many seconds and says whether to stop, as ``threading.Event.wait`` does."""
_GAP_INTERVALS: Final = 2.5
"""A pause longer than this many intervals is a gap, which a provider's history may fill."""


class Collector:
    """One collector for all windows of a policy.

    One thread ticks it; any thread may read ``collected``, which is replaced as a whole. Every provider is asked at
    every tick: the first good answer counts, the others corroborate it.
    """

    def __init__(
        self,
        providers: Sequence[MetricsProvider],
        observe: Observe,
        policy: UsagePolicy,
        *,
        store: UsageStore | None = None,
    ) -> None:
        """Asks nothing yet. Raises ValueError for windows that need more samples than can be kept."""
        self._providers = tuple(providers)
        self._observe = observe
        self._policy = policy
        self._longest = max(policy.windows)
        self._ring = NodeRing(policy.windows, policy.interval)
        self._pods = PodCollecting(policy.windows, policy.pod_interval)
        self._writer = StoreWriter(store)
        self._births = NodeBirths()
        self._memory = Memory()
        self._observed = Observed(())
        self._rejected: Mapping[str, str] = {}
        self._used = 0
        self._answered_at: float | None = None
        self._keeps_history = True
        self._restored_source = ""
        self._collected = Collected(0.0, providers=tuple(ProviderHealth(provider.name) for provider in providers))

    @property
    def collected(self) -> Collected:
        """What was known after the newest tick; ``ticks`` is 0 before the first."""
        return self._collected

    def run(self, clock: Clock, wait: Wait) -> None:
        """Tick until ``wait`` says stop. A tick that takes longer than the interval is not caught up on."""
        due, overrun = clock.monotonic(), 0
        while True:
            self.tick(clock.now(), overrun_ticks=overrun)
            due, skipped = next_tick(due, clock.monotonic(), self._policy.interval)
            overrun += skipped
            if wait(max(0.0, due - clock.monotonic())):
                return

    def tick(self, now: float, *, overrun_ticks: int = 0) -> Collected:
        """Ask, judge, keep. Errors of providers, store and cluster never escape: the record tells of them."""
        cluster_error = self._look()
        if not self._collected.ticks:
            self._restore(now)
        answers = self._ask(now)
        used = chosen(answers, self._policy.trust.coverage)
        healths = updated(self._collected.providers, answers, used, now) if answers else self._collected.providers
        if used is not None:
            number = next(number for number, answer in enumerate(answers) if answer is used)
            healths = self._take_in(used, number, healths, now)
        self._collected = replace(
            self._judge(used, answers, now),
            providers=healths,
            source=used.provider.name if used is not None else self._collected.source or self._restored_source,
            ticks=self._collected.ticks + 1,
            overrun_ticks=overrun_ticks,
            cluster_error=cluster_error,
            store_error=self._writer.error,
            store_error_since=self._writer.since,
            lost_ticks=self._writer.lost,
        )
        return self._collected

    def _look(self) -> str:
        try:
            self._observed = self._observe()
        except ClusterError as error:
            return str(error)
        return ""

    def _restore(self, now: float) -> None:
        for samples in self._writer.restore(now - self._longest, now):
            self._ring.append(samples, now)
            # A file does not say whose samples it holds: the first provider's, unless it failed at the time.
            self._restored_source = self._providers[0].name if self._providers else ""

    def _ask(self, now: float) -> list[ProviderAnswer]:
        nodes = self._observed.nodes
        if not nodes:
            return []
        skew = self._policy.trust.clock_skew
        with_pods = self._observed.pods is not None and self._pods.is_due(now)
        return [
            ask(provider, nodes, now, with_pods=with_pods and number == self._used, clock_skew=skew)
            for number, provider in enumerate(self._providers)
        ]

    def _take_in(
        self, used: ProviderAnswer, number: int, healths: tuple[ProviderHealth, ...], now: float
    ) -> tuple[ProviderHealth, ...]:
        """Fill the gap before the answer that counts, and keep its samples."""
        assert used.sifted is not None
        assert used.sample is not None
        if self._has_gap(now):
            error = self._fill_gap(used, now)
            healths = (*healths[:number], replace(healths[number], history_error=error), *healths[number + 1 :])
        self._keep(used.sifted.samples, now)
        self._answered_at = now
        self._rejected = used.sifted.reasons
        if used.sample.pods is not None:
            self._pods.take_in(used.sample.pods, self._observed, now)
        if number != self._used:
            self._used = number
            self._pods.ask_again()
        return healths

    def _has_gap(self, now: float) -> bool:
        """Told by answers, not by samples: a source may have new samples less often than it is asked."""
        newest = self._ring.newest_time if self._answered_at is None else self._answered_at
        return newest is None or now - newest > _GAP_INTERVALS * self._policy.interval

    def _fill_gap(self, used: ProviderAnswer, now: float) -> str:
        newest = self._ring.newest_time
        start = now - self._longest if newest is None else max(newest, now - self._longest)
        skew = self._policy.trust.clock_skew
        found, error = ask_history(used.provider, self._observed.nodes, start, now, self._policy.interval, skew)
        self._keeps_history = found is not None or bool(error)
        if found is not None:
            self._keep(found, now)
        return error

    def _keep(self, samples: NodeSamples, now: float) -> None:
        owned = replace(samples, uids=tuple(node.uid for node in self._observed.nodes))
        self._ring.append(owned, now)
        self._writer.save(owned, now)

    def _judge(self, used: ProviderAnswer | None, answers: Sequence[ProviderAnswer], now: float) -> Collected:
        observed, policy = self._observed, self._policy
        evidence = self._evidence(used, answers, now)
        self._memory = remember(evidence, self._memory, self._longest, used.distrust if used is not None else "")
        assessments = {seconds: assess(evidence, seconds, self._memory) for seconds in policy.windows}
        windows = usage_windows(
            self._ring,
            policy.windows,
            observed.nodes,
            now,
            pod_use=self._pods.use,
            departures=observed.departures,
        )
        return Collected(
            at=now,
            nodes=observed.nodes,
            pods=self._pods.pods,
            pod_use=self._pods.use,
            windows=judged(windows, assessments, evidence.oldest_bound, now),
            measured_at=evidence.measured_at,
            good_for=largest_age(evidence),
            dropped_pods=self._pods.dropped,
        )

    def _evidence(self, used: ProviderAnswer | None, answers: Sequence[ProviderAnswer], now: float) -> Evidence:
        nodes = self._observed.nodes
        born = self._births.of(nodes, now)
        samples = self._ring.samples([node.name for node in nodes], now - self._longest)
        evidence = Evidence(
            nodes=nodes,
            samples=since_birth(samples, born),
            now=now,
            interval=self._policy.interval,
            trust=self._policy.trust,
            exists_since=born,
            pod_totals=self._pods.totals(nodes, now),
            rejected=self._rejected,
            touched=self._observed.touched,
            keeps_history=self._keeps_history,
        )
        if self._observed.pods is not None and is_young(evidence).any():
            evidence = replace(evidence, oldest_bound=oldest_bound(self._observed.pods, nodes))
        others = [answer for answer in answers if answer is not used and not answer.distrust]
        told = [answer for answer in (used, *others) if answer is not None and answer.sifted is not None]
        named = [(answer.provider.name, answer.sifted.samples) for answer in told if answer.sifted is not None]
        bound = self._policy.trust.disagreement
        return replace(evidence, disputed=disputes(named, bound, largest_age(evidence), now))
