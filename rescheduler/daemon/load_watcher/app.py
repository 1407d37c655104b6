"""The load watcher's REST API as an application: routes, and what stands before them."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

import msgspec
import numpy as np
from fastapi import APIRouter, FastAPI, Request, Response
from starlette.exceptions import HTTPException

from rescheduler import __version__
from rescheduler.daemon.api.descriptions import document, empty, query, refusal
from rescheduler.daemon.load_watcher.answers import LoadAnswers
from rescheduler.daemon.load_watcher.load_document import LoadDocument
from rescheduler.daemon.load_watcher.load_routes import absence, load_routes
from rescheduler.daemon.load_watcher.record import Record
from rescheduler.daemon.load_watcher.source import Records, WatcherSource
from rescheduler.daemon.load_watcher.telemetry import CONTENT_TYPE, Counting, Telemetry
from rescheduler.daemon.serving.protection import Protection, ReadToken, plain_text
from rescheduler.extension_points import Clock
from rescheduler.model.printable import printable
from rescheduler.usage.collecting.collected import Collected
from rescheduler.usage.collecting.provider_health import ProviderHealth

_ABOUT = "Load of nodes as the load watcher of the Trimaran scheduler plugins tells it, and how far to believe it."


def create_app(source: WatcherSource, clock: Clock, *, interval: float, read_token: ReadToken | None = None) -> FastAPI:
    """The application over a running watcher that ticks every ``interval`` seconds.

    ``read_token``: gives the token that clients must send, None: none. ``app.state.prepare()``, called after each tick
    from any thread, encodes what most clients ask for.
    """
    app = FastAPI(
        title="rescheduler watcher",
        version=__version__,
        description=_ABOUT,
        docs_url=None,  # the pages of FastAPI load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
    )
    records = Records(source)
    answers = LoadAnswers()
    app.state.prepare = lambda: answers.prepare(records.current())
    telemetry = Telemetry(records, clock)
    app.include_router(health_routes(records, clock, telemetry, interval))  # before the nodes: /watcher/health is none
    app.include_router(load_routes(records, clock, answers))
    app.include_router(trust_routes(records, clock))
    app.add_exception_handler(HTTPException, _refused)
    app.add_middleware(Protection, read_token=read_token)
    app.add_middleware(Counting, telemetry=telemetry, clock=clock)
    described = app.openapi
    app.openapi = lambda: _with_schemas(described())  # type: ignore[method-assign]
    return app


async def _refused(_request: Request, error: Exception) -> Response:
    """What no route answers, in plain text as Go's servers say it."""
    status = getattr(error, "status_code", 500)
    headers = dict(getattr(error, "headers", None) or {})
    if status == 405:
        return plain_text(405, "only GET and HEAD are answered here", {**headers, "Allow": "GET, HEAD"})
    return plain_text(status, "there is no such page; see /openapi.json" if status == 404 else "refused", headers)


def _with_schemas(description: dict[str, Any]) -> dict[str, Any]:
    """The API's description with the forms of our documents."""
    types = (LoadDocument, TrustDocument)
    _, found = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    description.setdefault("components", {}).setdefault("schemas", {}).update(found)
    return description


LATE_TICKS: Final = 3
SLOWEST_TICK_SECONDS: Final = 60.0
"""A tick that hangs longer than this past its third time means that the collector is dead."""


def health_routes(records: Records, clock: Clock, telemetry: Telemetry, interval: float) -> APIRouter:
    """The routes about the watcher itself."""
    router = APIRouter()
    started_at = clock.now()

    @router.get("/watcher/health", responses={200: empty("Yes"), 503: empty("No")}, response_class=Response)
    async def provider_health() -> Response:
        """Whether the provider answered the last time; without a body, as the original answers."""
        return Response(status_code=200 if has_answer(records.collected) else 503)

    @router.get("/healthz", responses={200: refusal("Yes"), 503: refusal("No")}, response_class=Response)
    async def alive() -> Response:
        """Whether samples are still being collected, with or without success."""
        collected = records.collected
        silence = clock.now() - (collected.at if collected.ticks else started_at)
        if silence > LATE_TICKS * interval + SLOWEST_TICK_SECONDS:
            return plain_text(503, f"no tick has ended for {silence:.0f} seconds")
        return plain_text(200, "ok")

    @router.get("/readyz", responses={200: refusal("Yes"), 503: refusal("No")}, response_class=Response)
    async def ready() -> Response:
        """Whether there is load to tell."""
        reason = _why_not_ready(records.current(), clock.now())
        return plain_text(503, reason) if reason else plain_text(200, "ok")

    @router.get("/metrics", responses={200: refusal("In the text form of Prometheus")}, response_class=Response)
    async def metrics() -> Response:
        """The watcher's own metrics."""
        return Response(telemetry.text(), headers={"Content-Type": CONTENT_TYPE})

    return router


def has_answer(collected: Collected) -> bool:
    """Whether the newest tick brought samples from any provider."""
    return any(provider.is_used and provider.is_answering for provider in collected.providers)


def _why_not_ready(record: Record | None, now: float) -> str:
    reason = absence(record, now)
    if record is None or reason:
        return reason
    return "" if record.windows else "no node's load is believed; see /trust"


class NodeTrustEntry(msgspec.Struct, rename="camel", gc=False):
    """One node: its state with the reason, and the age of its newest sample by the source's clock, null if none."""

    state: str
    reason: str
    age_seconds: float | None


class TrustDocument(msgspec.Struct, rename="camel"):
    """All nodes; ``freeze``: why no node is moved by usage now; ``states``: nodes in each state.

    ``fallsBack``: requests stand in for usage. ``timestamp``: seconds since the epoch.
    """

    timestamp: int
    source: str
    freeze: str
    falls_back: bool
    states: dict[str, int]
    warnings: list[str]
    nodes: dict[str, NodeTrustEntry]


def trust_routes(records: Records, clock: Clock) -> APIRouter:
    """The route of the trust document."""
    router = APIRouter()
    responses: dict[int | str, dict[str, Any]] = {
        200: document("TrustDocument", "State of the nodes"),
        404: refusal("Nothing is known yet, or there is no such node"),
    }
    extra = {"parameters": [query("host", "Only this node", type="string")]}

    @router.get("/trust", responses=responses, response_class=Response, openapi_extra=extra)
    async def trust(request: Request) -> Response:
        """How far the load of each node is believed, and why."""
        record = records.current()
        named = request.query_params.getlist("host")
        if record is None:
            return plain_text(404, "nothing is known yet: no metrics were collected")
        if named and named[0] and named[0] not in record.index:
            return plain_text(404, f"there is no node {printable(named[0], 253)!r}")
        found = trust_document(record, clock.now(), named[0] if named else "")
        return Response(msgspec.json.encode(found), media_type="application/json")

    return router


def _told(health: ProviderHealth) -> list[str]:
    """What is to be said of a provider."""
    texts = [health.error, health.distrust, health.history_error]
    return [*(text for text in texts if text), *(f"{health.name}: {text}" for text in health.warnings)]


def trust_document(record: Record, now: float, node: str = "") -> TrustDocument:
    """State of all nodes, or of one."""
    places = [record.index[node]] if node else range(len(record.nodes))
    collected, states = record.collected, record.assessment.nodes
    measured_at = np.full(len(record.nodes), np.nan) if collected.measured_at is None else collected.measured_at
    ages = np.round(now - measured_at, 3).tolist()
    return TrustDocument(
        timestamp=int(collected.at),
        source=collected.source,
        freeze=record.assessment.freeze,
        falls_back=record.assessment.falls_back,
        states=dict(sorted(Counter(trust.state.value for trust in states).items())),
        warnings=[text for provider in collected.providers for text in _told(provider)],
        nodes={
            record.nodes[place]: NodeTrustEntry(
                states[place].state.value, states[place].reason, ages[place] if np.isfinite(ages[place]) else None
            )
            for place in places
        },
    )
