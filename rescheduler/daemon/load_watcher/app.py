"""The load watcher's REST API as an application: routes, and what stands before them."""

from __future__ import annotations

from typing import Any

import msgspec
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from rescheduler import __version__
from rescheduler.daemon.load_watcher.answers import LoadAnswers
from rescheduler.daemon.load_watcher.health_routes import health_routes
from rescheduler.daemon.load_watcher.load_document import LoadDocument
from rescheduler.daemon.load_watcher.load_routes import load_routes
from rescheduler.daemon.load_watcher.source import Records, WatcherSource
from rescheduler.daemon.load_watcher.telemetry import Counting, Telemetry
from rescheduler.daemon.load_watcher.trust_routes import TrustDocument, trust_routes
from rescheduler.daemon.serving.protection import Protection, ReadToken, plain_text
from rescheduler.extension_points import Clock

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
