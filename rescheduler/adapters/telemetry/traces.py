"""Rounds as OpenTelemetry traces, for those who have installed the ``otel`` extra and say where traces go."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final

from rescheduler import __version__
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.adapters.telemetry.words import FAILED, outcome_of, wanted_and_helped
from rescheduler.extension_points import Listener
from rescheduler.model.daemon.notices import Notice, RoundEnded
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.printable import printable

ENDPOINTS: Final = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
"""Either of these switches traces on; further variables of OpenTelemetry (headers, time-outs) hold as they stand."""
_NEEDED: Final = ("opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http.trace_exporter")
_NANOSECONDS: Final = 1_000_000_000
LONGEST_TEXT: Final = 1000


class RoundTraces(Listener):
    """One span a round with one for each of its steps, written when the round is over."""

    def __init__(self, tracer: Any, close: Callable[[], None] = lambda: None, hide: Redaction | None = None) -> None:
        """``tracer``: OpenTelemetry's; ``close`` sends what is left."""
        self._tracer = tracer
        self._close = close
        self._hide = Redaction() if hide is None else hide
        api = import_module("opentelemetry.trace")
        self._in = api.set_span_in_context
        self._bad = api.Status(api.StatusCode.ERROR)

    def hear(self, notice: Notice) -> None:
        """Write the span of a round."""
        if not isinstance(notice, RoundEnded):
            return
        report = notice.report
        began, ended = _nanoseconds(report.started_at), _nanoseconds(max(report.ended_at, report.started_at))
        # A context of its own: whoever tells of the round may be within a span of somebody else's.
        span = self._tracer.start_span(
            "round", context=self._in(_no_span()), start_time=began, attributes=self._clean(report)
        )
        self._steps(span, report, began, ended)
        if outcome_of(report) == FAILED:
            span.set_status(self._bad)
        span.end(end_time=ended)

    def close(self) -> None:
        """Send what is left; never raises."""
        with suppress(Exception):
            self._close()

    def _clean(self, report: RoundReport) -> dict[str, Any]:
        def clean(value: Any) -> Any:
            if isinstance(value, list):
                return [clean(item) for item in value]
            return printable(self._hide(value), LONGEST_TEXT) if isinstance(value, str) else value

        return {printable(self._hide(key), LONGEST_TEXT): clean(value) for key, value in _of(report).items()}

    def _steps(self, span: Any, report: RoundReport, began: int, ended: int) -> None:
        """Steps follow upon each other; none reaches beyond the round."""
        at = began
        for step, seconds in report.seconds.items():
            until = min(at + _nanoseconds(max(seconds, 0.0)), ended)
            child = self._tracer.start_span(printable(self._hide(step), 60), context=self._in(span), start_time=at)
            child.end(end_time=until)
            at = until


def make_traces(environment: Mapping[str, str] = os.environ, hide: Redaction | None = None) -> RoundTraces | None:
    """Traces if they are asked for and can be had, else None; nothing of OpenTelemetry is imported then."""
    if not any(environment.get(name, "").strip() for name in ENDPOINTS) or not can_trace():
        return None
    sdk, exporting = (import_module(name) for name in _NEEDED)
    resources = import_module("opentelemetry.sdk.resources")
    batches = import_module("opentelemetry.sdk.trace.export")
    about = resources.Resource.create({"service.name": "rescheduler", "service.version": __version__})
    provider = sdk.TracerProvider(resource=about, shutdown_on_exit=False)
    provider.add_span_processor(batches.BatchSpanProcessor(exporting.OTLPSpanExporter()))
    return RoundTraces(provider.get_tracer("rescheduler", __version__), provider.shutdown, hide)


def can_trace() -> bool:
    """Whether the ``otel`` extra is installed."""
    try:
        return all(find_spec(name) is not None for name in _NEEDED)
    except ModuleNotFoundError:
        return False


def _no_span() -> Any:
    return import_module("opentelemetry.trace").INVALID_SPAN


def _of(report: RoundReport) -> dict[str, Any]:
    """What a round is found by. No pods and no nodes: traces are kept where others read them."""
    plan = report.plan
    wanted, helped = (0, 0) if plan is None else wanted_and_helped(plan)
    found: dict[str, Any] = {
        "rescheduler.round": report.number,
        "rescheduler.outcome": outcome_of(report),
        "rescheduler.triggers": [occasion.trigger for occasion in report.occasions],
        "rescheduler.mode": report.mode,
        "rescheduler.dry_run": report.is_dry_run,
        "rescheduler.policy_id": report.policy_id,
        "rescheduler.plan_id": report.plan_id,
        "rescheduler.planned_moves": 0 if plan is None else len(plan.moves),
        "rescheduler.refusals": 0 if plan is None else len(plan.refusals),
        "rescheduler.pending_pods.wanted": wanted,
        "rescheduler.pending_pods.helped": helped,
        "rescheduler.was_carried_out": report.result is not None,
    }
    for objective in () if plan is None else plan.objectives:
        name = f"rescheduler.objective.{objective.name}"
        found[f"{name}.status"] = objective.status.value
        figures = {"value": objective.value, "bound": objective.bound, "gap": objective.gap}
        found |= {f"{name}.{key}": float(figure) for key, figure in figures.items() if figure is not None}
    return found


def _nanoseconds(seconds: float) -> int:
    return int(seconds * _NANOSECONDS)
