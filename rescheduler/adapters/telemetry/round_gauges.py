"""Gauges of the last round: what it planned, how good that is proven to be, and what was left alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from rescheduler.adapters.telemetry.daemon_state import CurrentState
from rescheduler.adapters.telemetry.figures import OF_ROUND
from rescheduler.adapters.telemetry.label_values import LabelValues
from rescheduler.adapters.telemetry.redaction import Hide
from rescheduler.adapters.telemetry.round_words import wanted_and_helped
from rescheduler.model.round_report import RoundReport

_FIGURES: Final = {figure.name: figure for figure in OF_ROUND}
Rows = Mapping[tuple[str, ...], float]
"""Values by the values of the labels."""


class RoundGauges(Collector):
    """Told when they are asked for."""

    def __init__(self, state: CurrentState, hide: Hide) -> None:
        self._state = state
        self._labels = {(figure.name, label): LabelValues(hide) for figure in OF_ROUND for label in figure.labels}

    def collect(self) -> Iterator[Metric]:
        """Of the last round; nothing before the first."""
        report = self._state.now.report
        if report is None:
            return
        for name, rows in rows_of(report).items():
            figure = _FIGURES[name]
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
