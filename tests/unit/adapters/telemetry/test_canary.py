"""A marked token goes into everything that a daemon handles, and comes out nowhere."""

from __future__ import annotations

import io
import logging
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, structs

from rescheduler.adapters.kubernetes.client.connection import Connection, connect
from rescheduler.adapters.telemetry.audit import AuditFile
from rescheduler.adapters.telemetry.cluster_events import ClusterEvents
from rescheduler.adapters.telemetry.listeners import Listeners
from rescheduler.adapters.telemetry.log import DecisionLog
from rescheduler.adapters.telemetry.metrics.metrics import Metrics
from rescheduler.adapters.telemetry.traces import RoundTraces, can_trace
from rescheduler.extension_points import ClusterError, Listener
from rescheduler.model.daemon.notices import ApprovalWanted, Fault, Notice
from rescheduler.model.objects.set_aside import SetAside
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW
from tests.clocks import FakeClock
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status
from tests.unit.adapters.telemetry.daemon_notices import Heard, all_notices, plan
from tests.unit.adapters.telemetry.logs import logging_to
from tests.unit.adapters.telemetry.test_cluster_events import CLUSTER
from tests.unit.policy.policies import policy

CANARY = "c4n4ry-T0ken_77.x"
FORMS = (f"{{}} {CANARY}", f"{CANARY}{{}}", f"Authorization: Bearer {CANARY}", "y" * 1990 + CANARY, f"{{}}/{CANARY}\n")
"""Ways in which a token may stand in a text, at the edge of what is cut off among them."""
KEPT = frozenset({"mode", "status", "state", "outcome", "kind"})
"""Fields of which the code knows all values."""


def marked(value: Any, form: str, kept: tuple[type, ...] = ()) -> Any:
    """The same with the token in every text of it, however deep, but for objects of the types ``kept``."""
    if isinstance(value, kept):
        return value
    if type(value) is str:
        return form.format(value)
    if isinstance(value, Struct):
        found = {name: getattr(value, name) for name in value.__struct_fields__ if name not in KEPT}
        return structs.replace(value, **{name: marked(item, form, kept) for name, item in found.items()})
    if is_dataclass(value) and not isinstance(value, type):
        found = {field.name: getattr(value, field.name) for field in fields(value)}
        return type(value)(**{name: one if name in KEPT else marked(one, form, kept) for name, one in found.items()})
    if isinstance(value, tuple):
        items = [marked(item, form, kept) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, Mapping):
        return {marked(key, form, kept): marked(item, form, kept) for key, item in value.items()}
    return value


def echoing(request: Request) -> Answer:
    """An API server that repeats what it was sent, token and all."""
    if request.method == "POST":
        return answer({"kind": "Event"})
    return status(403, f"you sent {request.headers.get('Authorization')}")


class Outputs:
    """Everything that leaves the process, as text."""

    def __init__(self, folder: Path, server: FakeApiServer, log: DecisionLog, out: io.StringIO) -> None:
        self.folder, self.server, self.log, self.out = folder, server, log, out
        self.connection: Connection = connect(server.kubeconfig(folder, token=CANARY), read_only=False)
        log.hide.add(self.connection.without_credentials)
        self.told = Heard()
        self.metrics = Metrics(FakeClock(), hide=log.hide)
        self.spans: Any = None

    def listeners(self) -> Listener:
        """All listeners, each with the same redaction."""
        hide = self.log.hide
        audit = AuditFile(lambda: self.folder / "audit.jsonl", FakeClock(), self.told, hide=hide)
        more: list[Listener] = []
        if can_trace():
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import SimpleSpanProcessor
            from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

            provider, self.spans = TracerProvider(shutdown_on_exit=False), InMemorySpanExporter()
            provider.add_span_processor(SimpleSpanProcessor(self.spans))
            more.append(RoundTraces(provider.get_tracer("test"), provider.shutdown, hide))
        return Listeners([self.log, self.metrics, audit, self.told, *more])

    def events(self) -> Listener:
        """Events: apart, since an Event has to name the very pod that it is about."""
        found = policy("mode: Approve")
        return ClusterEvents(self.connection, FakeClock(), lambda: found, lambda: CLUSTER, hide=self.log.hide)

    def everything(self) -> Mapping[str, str]:
        """By where it goes."""
        spans = "" if self.spans is None else "".join(span.to_json() for span in self.spans.get_finished_spans())
        return {
            "log": self.out.getvalue(),
            "metrics": self.metrics.text().decode(),
            "audit": (self.folder / "audit.jsonl").read_text(),
            "events": "".join(request.path + request.body.decode() for request in self.server.requests),
            "traces": spans,
        }


@pytest.mark.parametrize("as_json", [True, False])
@pytest.mark.parametrize("form", FORMS)
def test_a_token_in_any_text_of_any_notice_comes_out_nowhere(tmp_path: Path, form: str, as_json: bool) -> None:
    """Log, metrics, audit log, Events, traces and faults, at the most verbose level; no part of it either."""
    out = io.StringIO()
    with serving(echoing) as server, logging_to(out, "debug", as_json=as_json) as log:
        outputs = Outputs(tmp_path, server, log, out)
        everybody, events = outputs.listeners(), outputs.events()
        for notice in (*all_notices(), ApprovalWanted(NOW, "p-9", plan(), NOW + 60)):
            everybody.hear(marked(notice, form))
            events.hear(marked(notice, form, (PodReference, SetAside)))
        found = outputs.everything()
    for where, text in found.items():
        assert CANARY[:6] not in text, where
    assert {where for where, text in found.items() if not text} <= {"traces"}


def test_what_the_http_library_says_and_what_fails_on_the_way_is_clean(tmp_path: Path) -> None:
    """A server that repeats our token in its refusal, with every logger of the library wide open."""
    out = io.StringIO()
    loggers = [logging.getLogger(name) for name in ("urllib3", "urllib3.connectionpool", "kubernetes", "http.client")]
    before = [logger.level for logger in loggers]
    with serving(echoing) as server, logging_to(out, "debug") as log:
        outputs = Outputs(tmp_path, server, log, out)
        everybody = outputs.listeners()
        try:
            for logger in loggers:
                logger.setLevel(logging.DEBUG)
            with pytest.raises(ClusterError) as refused:
                outputs.connection.get("/api/v1/pods")
        finally:
            for logger, level in zip(loggers, before, strict=True):
                logger.setLevel(level)
        everybody.hear(Fault(NOW, "snapshot", str(refused.value)))
        logging.getLogger("rescheduler.daemon").error("it failed", exc_info=refused.value)
        text = out.getvalue()
    assert '"event": "fault"' in text
    assert CANARY[:6] not in text


def test_a_listener_that_fails_on_a_token_does_not_tell_it(tmp_path: Path) -> None:
    """Faults name the kind of the failure, not its words."""

    class Broken:
        """Fails with what it was told."""

        def hear(self, notice: Notice) -> None:
            """Raise it."""
            raise RuntimeError(f"{notice} {CANARY}")

    told = Heard()
    Listeners([Broken(), told]).hear(Fault(NOW, "x", "y"))
    assert len(told.faults) == 2
    assert CANARY not in str(told)
