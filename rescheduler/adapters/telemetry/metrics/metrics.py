"""The daemon's metrics for Prometheus: counted from notices, or asked for when they are scraped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import Metric
from prometheus_client.process_collector import ProcessCollector

from rescheduler.adapters.telemetry.metrics.figures import COUNTERS, HISTOGRAMS, Family
from rescheduler.adapters.telemetry.metrics.gauge_state import CurrentState
from rescheduler.adapters.telemetry.metrics.gauges import DaemonGauges, RoundGauges
from rescheduler.adapters.telemetry.metrics.label_values import LabelValues
from rescheduler.adapters.telemetry.metrics.sources import NOTHING_KNOWN, Sources, asked
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.adapters.telemetry.words import (
    FAILED,
    FAILING,
    IN_DOUBT,
    LANDED,
    OUTCOMES,
    REPAID,
    SENT,
    WORDS,
    eviction_word,
    outcome_of,
)
from rescheduler.extension_points import Clock, Listener
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.daemon.notices import (
    ApprovalEnded,
    ApprovalGiven,
    ApprovalWanted,
    CapacityRequested,
    EvictionNoted,
    Fault,
    LeadershipChanged,
    NodesOffered,
    NominationsFound,
    Notice,
    PolicyLoaded,
    RoundEnded,
    TriggerFired,
)
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.attempts import dropped, last_attempt
from rescheduler.model.plan.plan import OutcomeKind
from rescheduler.policy.fields.daemon.autoscaler import ScaleDown, ScaleUp

CONTENT_TYPE: Final = CONTENT_TYPE_LATEST
MOST_REMEMBERED: Final = 5000
"""Evictions that are remembered, so that none counts twice under one outcome."""
_BUCKETS: Final[Mapping[str, tuple[float, ...]]] = {
    "round_seconds": (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800),
    "planning_seconds": (0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60, 300),
    "eviction_repaid_seconds": (1, 2.5, 5, 10, 20, 30, 60, 120, 300, 600, 1800),
}
_BEYOND_ANNOUNCED: Final = frozenset({IN_DOUBT, LANDED, FAILING, REPAID, FAILED})
"""States that tell that an eviction was sent, or may have been."""
_BEGIN_AT_ZERO: Final[Mapping[str, Iterable[str]]] = {
    "evictions_total": [word.replace(" ", "_") for word in WORDS],
    "moves_total": OutcomeKind,
    "approvals_total": ("wanted", "given", "ended"),
    "capacity_requests_total": ScaleUp,
    "nodes_offered_total": ScaleDown,
    "faults_total": ("api", "approval", "audit", "leader election", "loop", "snapshot", "surroundings"),
}
"""Values that are known beforehand: a series that begins with 1 has not risen, for whoever asks by how much it has."""
_APPROVALS: Final[Mapping[type, str]] = {ApprovalWanted: "wanted", ApprovalGiven: "given", ApprovalEnded: "ended"}
_Kind = TypeVar("_Kind", Counter, Histogram)


class _WithoutBirths:
    """The registry without the time at which each counter was made, which would double the number of series."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """Every family without those samples."""
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family


class Metrics(Listener):
    """All of ``figures`` in a registry of their own. Safe to use from several threads."""

    def __init__(self, clock: Clock, sources: Sources = NOTHING_KNOWN, *, hide: Redaction | None = None) -> None:
        hidden = Redaction() if hide is None else hide
        self._registry = CollectorRegistry()
        self._counters = {figure.name: _made(figure, Counter, self._registry) for figure in COUNTERS}
        self._histograms = {figure.name: _made(figure, Histogram, self._registry) for figure in HISTOGRAMS}
        self._labels = {(figure.name, label): LabelValues(hidden) for figure in COUNTERS for label in figure.labels}
        self._state = CurrentState()
        self._sources = sources
        self._evictions: dict[tuple[str, float], set[str]] = {}
        self._nominations: set[tuple[str, float]] = set()
        self._registry.register(RoundGauges(self._state, hidden))
        self._registry.register(DaemonGauges(self._state, sources, clock, hidden))
        ProcessCollector(registry=self._registry)
        for name, values in _BEGIN_AT_ZERO.items():
            for value in values:
                self._count(name, value, by=0)

    def hear(self, notice: Notice) -> None:
        """Count it."""
        led = self._state.now.is_leader
        self._state.hear(notice)
        match notice:
            case RoundEnded():
                self._round(notice.report)
            case TriggerFired():
                self._count("triggers_fired_total", notice.occasion.trigger)
            case EvictionNoted():
                self._eviction(notice.entry)
            case LeadershipChanged() if notice.is_leader is not led:
                self._count("leadership_changes_total")
            case PolicyLoaded():
                self._count("policy_loads_total")
            case ApprovalWanted() | ApprovalGiven() | ApprovalEnded():
                self._count("approvals_total", _APPROVALS[type(notice)])
            case CapacityRequested():
                self._count("capacity_requests_total", notice.how)
            case NodesOffered():
                self._count("nodes_offered_total", notice.how, by=len(notice.nodes))
            case NominationsFound():
                self._lost_nominations(notice)
            case Fault():
                self._count("faults_total", notice.where)

    def text(self) -> bytes:
        """All metrics in the text form of Prometheus. Asks only what is known in this process."""
        self._begin_triggers()
        return generate_latest(_WithoutBirths(self._registry))

    def _begin_triggers(self) -> None:
        """Of the policy in force: their rounds have had no end yet."""
        mode = self._state.now.mode
        for trigger in asked(self._sources.triggers) or ():
            self._count("triggers_fired_total", trigger, by=0)
            for outcome in OUTCOMES if mode else ():
                self._count("rounds_total", trigger, outcome, _dry(mode == "DryRun"), by=0)

    def _round(self, report: RoundReport) -> None:
        trigger = report.occasions[0].trigger if report.occasions else ""
        dry_run = _dry(report.is_dry_run)
        self._count("rounds_total", trigger, outcome_of(report), dry_run)
        self._histograms["round_seconds"].observe(max(report.ended_at - report.started_at, 0.0))
        if "plan" in report.seconds:
            self._histograms["planning_seconds"].observe(max(report.seconds["plan"], 0.0))
        for move in () if report.plan is None else report.plan.moves:
            self._count("planned_moves_total", move.objective, dry_run)
        for outcome in () if report.result is None else report.result.moves:
            self._count("moves_total", outcome.outcome.value)
        if report.result is not None:
            self._count("plans_again_total", by=(last_attempt(report.result) or 1) - 1)
            self._count("moves_dropped_total", by=len(dropped(report.result)))

    def _eviction(self, entry: LedgerEntry) -> None:
        word = eviction_word(entry)
        counted = self._evictions.setdefault((entry.pod.uid or entry.pod.key, entry.at), set())
        for one in (SENT, word) if word in _BEYOND_ANNOUNCED else (word,):
            if one not in counted:
                counted.add(one)
                self._count("evictions_total", _snake(one))
        if entry.state is EntryState.REPAID and entry.closed_at is not None and "timed" not in counted:
            counted.add("timed")
            self._histograms["eviction_repaid_seconds"].observe(max(entry.closed_at - (entry.ended_at or entry.at), 0))
        while len(self._evictions) > MOST_REMEMBERED:
            self._evictions.pop(next(iter(self._evictions)), None)

    def _lost_nominations(self, notice: NominationsFound) -> None:
        """Each once, however often it is found until it has run out."""
        found = {(item.pod.uid, item.at) for item in (*notice.standing, *notice.cleared)}
        self._count("lost_nominations_total", by=len(found - self._nominations))
        self._nominations = found

    def _count(self, name: str, *values: str, by: int = 1) -> None:
        counter = self._counters[name]
        if values:
            labels = [label for figure in COUNTERS if figure.name == name for label in figure.labels]
            few = [self._labels[name, label].of(value) for label, value in zip(labels, values, strict=True)]
            counter = counter.labels(*few)
        counter.inc(by)


def _dry(is_dry_run: bool) -> str:
    return "true" if is_dry_run else "false"


def _snake(word: str) -> str:
    return word.replace(" ", "_")


def _made(figure: Family, kind: Callable[..., _Kind], registry: CollectorRegistry) -> _Kind:
    buckets = {"buckets": _BUCKETS[figure.name]} if figure.name in _BUCKETS else {}
    name = figure.full_name.removesuffix("_total")
    return kind(name, figure.meaning, figure.labels, registry=registry, **buckets)
