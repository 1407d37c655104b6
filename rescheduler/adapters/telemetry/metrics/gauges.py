"""Gauges of how the daemon stands: policy, leadership, health of its watches, ledger and breaker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rescheduler import __version__
from rescheduler.adapters.telemetry.metrics.figures import OF_DAEMON, OF_ROUND
from rescheduler.adapters.telemetry.metrics.gauge_state import CurrentState, GaugeState
from rescheduler.adapters.telemetry.metrics.label_values import LONGEST, LabelValues
from rescheduler.adapters.telemetry.metrics.sources import Sources, asked
from rescheduler.adapters.telemetry.redaction import Hide
from rescheduler.adapters.telemetry.words import wanted_and_helped
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import printable

# Gauges of the last round: what it planned, how good that is proven to be, and what was left alone.

_ROUND_FIGURES: Final = {figure.name: figure for figure in OF_ROUND}
Rows = Mapping[tuple[str, ...], float]
"""Values by the values of the labels."""


class RoundGauges(Collector):
    """Told when they are asked for."""

    def __init__(self, state: CurrentState, hide: Hide) -> None:
        self._state = state
        self._labels = {(figure.name, label): LabelValues(hide) for figure in OF_ROUND for label in figure.labels}

    def collect(self) -> Iterator[Metric]:
        """Of the last round; nothing before the first."""
        rounds = self._state.now.rounds
        for name, rows in rows_of(rounds[-1]).items() if rounds else ():
            figure = _ROUND_FIGURES[name]
            family = GaugeMetricFamily(figure.full_name, figure.meaning, labels=figure.labels)
            few: dict[tuple[str, ...], float] = {}
            for values, value in rows.items():
                pairs = zip(figure.labels, values, strict=True)
                kept = tuple(self._labels[name, label].of(one) for label, one in pairs)
                few[kept] = few.get(kept, 0.0) + value
            for labels, value in few.items():
                family.add_metric(labels, value)
            yield family


def rows_of(report: RoundReport) -> Mapping[str, Rows]:
    """The values of each gauge."""
    rows: dict[str, Rows] = {
        "last_round_timestamp_seconds": {(): report.ended_at},
        "last_round_seconds": {(step,): seconds for step, seconds in report.seconds.items()},
    }
    plan = report.plan
    if plan is None:
        return rows
    wanted, helped = wanted_and_helped(plan)
    found = plan.objectives
    return {
        **rows,
        "last_round_planned_moves": {(): len(plan.moves)},
        "refusals": {(rule,): count for rule, count in Counter(refusal.rule for refusal in plan.refusals).items()},
        "objective_value": {(one.name,): one.value for one in found if one.value is not None},
        "objective_bound": {(one.name,): one.bound for one in found if one.bound is not None},
        "objective_gap_ratio": {(one.name,): one.gap for one in found if one.gap is not None},
        "pending_pods_wanted": {(): wanted},
        "pending_pods_helped": {(): helped},
    }


_FIGURES: Final = {figure.name: figure for figure in OF_DAEMON}
_DRY_RUN: Final = "DryRun"


class DaemonGauges(Collector):
    """Told when they are asked for."""

    def __init__(self, state: CurrentState, sources: Sources, clock: Clock, hide: Hide) -> None:
        self._state = state
        self._sources = sources
        self._clock = clock
        self._hide = hide
        self._kinds = LabelValues(hide)

    def collect(self) -> Iterator[Metric]:
        """Everything that is known now."""
        state, now = self._state.now, self._clock.now()
        leads = asked(self._sources.leads)
        known: dict[str, Rows] = {
            **_of_state(state, now),
            "policy_info": {self._policy(state): 1.0} if state.policy_id else {},
            "is_leader": _one(state.is_leader if leads is None else leads),
            **self._of_watches(state),
            **self._of_snapshot(now),
            **self._of_ledger(),
            "frozen": _one(asked(self._sources.frozen)),
            "usage_age_seconds": _one(asked(self._sources.usage_age)),
            "loop_heartbeat_age_seconds": _one(asked(self._sources.heartbeat_age)),
            "api_requests_total": {tuple(key): count for key, count in (asked(self._sources.requests) or {}).items()},
        }
        for name, rows in known.items():
            if rows:
                yield _family(name, rows)

    def _policy(self, state: GaugeState) -> tuple[str, ...]:
        return tuple(printable(self._hide(text), LONGEST) for text in (state.policy_name, state.policy_id, state.mode))

    def _of_watches(self, state: GaugeState) -> Mapping[str, Rows]:
        out_of_sync = asked(self._sources.out_of_sync)
        synced = {kind: notice.is_synced for kind, notice in state.watches.items()}
        synced |= dict.fromkeys(out_of_sync or (), False)
        lacking = len(out_of_sync) if out_of_sync is not None else list(synced.values()).count(False)
        return {
            "kinds_out_of_sync": _one(lacking),
            "watch_in_sync": {(self._kinds.of(kind),): float(is_synced) for kind, is_synced in synced.items()},
            "watch_age_seconds": _one(asked(self._sources.watch_age)),
        }

    def _of_snapshot(self, now: float) -> Mapping[str, Rows]:
        cluster = asked(self._sources.snapshot)
        if cluster is None:
            return {}
        return {
            "snapshot_nodes": _one(len(cluster.nodes)),
            "snapshot_pods": _one(len(cluster.pods)),
            "snapshot_pending_pods": _one(len(cluster.pending_pods)),
            "objects_set_aside": _by_kind(cluster),
            "snapshot_age_seconds": _one(max(now - cluster.taken_at, 0.0)),
        }

    def _of_ledger(self) -> Mapping[str, Rows]:
        ledger = asked(self._sources.ledger)
        if ledger is None:
            return {}
        return {
            "ledger_debts": _one(len(ledger.debts)),
            "breaker_open": _one(ledger.breaker.opened_at is not None),
            "breaker_openings": _one(ledger.breaker.openings),
        }


def _of_state(state: GaugeState, now: float) -> Mapping[str, Rows]:
    waiting = state.still_waiting(now)
    return {
        "build_info": {(__version__,): 1.0},
        "dry_run": _one(state.mode == _DRY_RUN) if state.mode else {},
        "policy_held": _one(state.held is not None),
        "policy_valid": _one(state.kept is None),
        "moves_by_state": {(move.value,): float(number) for move, number in state.moves_by_state.items()},
        "paused": _one(state.is_paused(now)),
        "plans_waiting_approval": _one(len(waiting)),
        "approval_expires_timestamp_seconds": _one(min(waiting.values(), default=None)),
    }


def _by_kind(cluster: Cluster) -> Rows:
    """Objects that are set aside; of pods a zero too, so that the first of them is a rise."""
    numbers = Counter({"Pod": 0})
    numbers.update(item.kind for item in cluster.set_aside)
    return {(kind,): float(number) for kind, number in numbers.items()}


def _one(value: float | None) -> Rows:
    """A metric without labels; absent where nothing is known."""
    return {} if value is None else {(): float(value)}


def _family(name: str, rows: Rows) -> Metric:
    figure = _FIGURES[name]
    kind = CounterMetricFamily if figure.kind == "counter" else GaugeMetricFamily
    family = kind(figure.full_name.removesuffix("_total"), figure.meaning, labels=figure.labels)
    for labels, value in rows.items():
        family.add_metric(labels, value)
    return family
