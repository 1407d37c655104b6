"""Rounds as traces: a span with one for each step, and nothing of OpenTelemetry where nobody asked for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from rescheduler.adapters.telemetry.traces import RoundTraces, can_trace, make_traces
from rescheduler.model.daemon.notices import RoundEnded
from tests.builders import NOW
from tests.loopback_server import Answer, loopback_server
from tests.unit.adapters.telemetry.daemon_notices import all_notices, dry_round, report

pytestmark = pytest.mark.skipif(not can_trace(), reason="the otel extra is not installed")
SECOND = 1_000_000_000


def spans_of(*notices: Any) -> list[Any]:
    """What an exporter in memory gets, in the order in which spans ended."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    traces = RoundTraces(provider.get_tracer("test"), provider.shutdown)
    for notice in notices:
        traces.hear(notice)
    return list(exporter.get_finished_spans())


def test_a_round_is_a_span_with_its_steps_below_it() -> None:
    """One trace; each step begins where the one before it ended."""
    *steps, whole = spans_of(RoundEnded(NOW, report()))
    assert [step.name for step in steps] == ["look", "plan", "carryOut"]
    assert whole.name == "round"
    assert whole.parent is None
    assert all(step.parent.span_id == whole.context.span_id for step in steps)
    assert len({span.context.trace_id for span in (*steps, whole)}) == 1
    at = [(span.start_time - NOW * SECOND) / SECOND for span in steps]
    until = [(span.end_time - NOW * SECOND) / SECOND for span in steps]
    assert (at, until) == ([0.0, 0.5, 1.5], [0.5, 1.5, 2.5])
    assert (whole.end_time - whole.start_time) / SECOND == 2.5


def test_it_is_found_by_plan_trigger_and_outcome_and_names_no_pods() -> None:
    """Figures of each objective; a dry run is marked."""
    *_, whole = spans_of(dry_round())
    found = dict(whole.attributes)
    assert (found["rescheduler.plan_id"], found["rescheduler.outcome"]) == ("p-7", "planned")
    assert (found["rescheduler.dry_run"], found["rescheduler.triggers"]) == (True, ("Schedule",))
    assert found["rescheduler.objective.MakeRoom.value"] == 1.0
    assert "web-0" not in json.dumps(found)


def test_only_rounds_are_traced() -> None:
    """Each in a trace of its own."""
    found = spans_of(*all_notices(), dry_round())
    roots = [span for span in found if span.parent is None]
    assert len(roots) == len({span.context.trace_id for span in found}) == 2


def test_a_round_that_failed_is_an_error_and_odd_times_do_no_harm() -> None:
    """Clocks may jump: no span ends before it began, no step reaches beyond the round."""
    from opentelemetry.trace import StatusCode

    fields = {"plan": None, "result": None, "ended_at": NOW - 60, "seconds": {"look": 5.0, "plan": -1.0}}
    *steps, whole = spans_of(RoundEnded(NOW, report(**fields)))
    assert whole.status.status_code is StatusCode.ERROR
    assert all(span.start_time <= span.end_time <= whole.end_time for span in (*steps, whole))


@pytest.mark.parametrize("environment", [{}, {"OTEL_EXPORTER_OTLP_ENDPOINT": " "}, {"OTEL_TRACES_EXPORTER": "otlp"}])
def test_without_an_endpoint_there_are_no_traces(environment: dict[str, str]) -> None:
    """Installed or not."""
    assert make_traces(environment) is None


def test_nothing_of_opentelemetry_is_imported_unless_asked_for() -> None:
    """A fifth of a second and some memory that nobody asked for."""
    code = (
        "import sys, rescheduler.adapters.telemetry.traces as t; assert t.make_traces({}) is None; "
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_spans_reach_a_collector_over_http() -> None:
    """As the variables of OpenTelemetry say; closing sends what is left, and never fails."""
    code = (
        "from tests.unit.adapters.telemetry.daemon_notices import dry_round\n"
        "from rescheduler.adapters.telemetry.traces import make_traces\n"
        "traces = make_traces(); traces.hear(dry_round()); traces.close(); traces.close()"
    )
    with loopback_server(lambda _: Answer(b"", headers={"Content-Type": "application/x-protobuf"})) as server:
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_ENDPOINT": server.address, "NO_PROXY": "127.0.0.1"}
        environment |= {"OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=environment)
        (request,) = server.requests
    assert request.route == "/v1/traces"
    for text in (b"round", b"carryOut", b"rescheduler.plan_id", b"service.name"):
        assert text in request.body
