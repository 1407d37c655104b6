"""The daemon's REST API as an application: its routes, and what stands before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
from anyio import CapacityLimiter
from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from rescheduler import __version__
from rescheduler.daemon.api import documents
from rescheduler.daemon.api.access import Access
from rescheduler.daemon.api.explain_routes import explain_routes
from rescheduler.daemon.api.looking_routes import looking_routes
from rescheduler.daemon.api.page_routes import page_routes
from rescheduler.daemon.api.refusals import Error, RefusedError
from rescheduler.daemon.api.request_guard import MOST_REVIEWS, RateLimit, RequestGuard
from rescheduler.daemon.api.steering_routes import steering_routes
from rescheduler.daemon.page.outlook import PageBasis
from rescheduler.daemon.page.page_desk import PageDesk
from rescheduler.daemon.serving.call_names import CallNames
from rescheduler.daemon.steering.explaining import Explains
from rescheduler.daemon.steering.people import People
from rescheduler.extension_points import AccessReviewer, Clock
from rescheduler.policy.fields.policy import Policy
from rescheduler.report.explanation import Explanation

_ABOUT = "What a rescheduler decides and why; and how to trigger, pause and approve it."
_FORMS: Final = (
    Error, Explanation, documents.State, documents.Round, documents.RoundList, documents.PlanRecord,
    documents.PlanList, documents.RefusalList, documents.TriggerRequest, documents.TriggerOutcome,
    documents.PauseRequest, documents.ResumeRequest, documents.SwitchState, documents.ApproveRequest,
    documents.ApprovalState, documents.AcknowledgeRequest, documents.Acknowledgement,
)  # fmt: skip


def create_daemon_app(
    people: People,
    explains: Explains,
    reviewer: AccessReviewer,
    clock: Clock,
    *,
    names: CallNames | None = None,
    tell: Callable[[str], None] = lambda _: None,
    basis: Callable[[], PageBasis] = lambda: PageBasis(Policy()),
) -> FastAPI:
    """The application. ``names``: by which it may be called; None: this machine's own. ``tell`` hears of faults.

    ``basis``: what the page tells beside the state.
    """
    app = FastAPI(
        title="rescheduler", version=__version__, description=_ABOUT, docs_url=None, redoc_url=None,
        redirect_slashes=False,
    )  # fmt: skip
    limiter = CapacityLimiter(MOST_REVIEWS)
    access = Access(reviewer, limiter)
    app.include_router(looking_routes(people.state, access))
    app.include_router(explain_routes(explains, access))
    app.include_router(steering_routes(people, access))
    app.include_router(page_routes(PageDesk(people.state, basis, clock), access))
    app.add_exception_handler(RefusedError, _refused)
    app.add_exception_handler(HTTPException, _not_routed)
    app.add_middleware(
        RequestGuard, names=names or CallNames(), reviewer=reviewer, calls=RateLimit(clock),
        failures=RateLimit(clock), limiter=limiter, tell=tell,
    )  # fmt: skip
    described = app.openapi
    app.openapi = lambda: _with_schemas(described())  # type: ignore[method-assign]
    return app


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    return error.response()


async def _not_routed(_request: Request, error: Exception) -> Response:
    """What no route answers."""
    status = getattr(error, "status_code", 404)
    if status == 405:
        allowed = str((getattr(error, "headers", None) or {}).get("Allow", "GET"))
        allow = f"{allowed}, HEAD" if "GET" in allowed else allowed
        return RefusedError(405, f"only {allow} is answered here", {"Allow": allow}).response()
    return RefusedError(404, "there is no such page; see /openapi.json").response()


def _with_schemas(description: dict[str, Any]) -> dict[str, Any]:
    """The API's description with the forms of our documents, and with how to show a token."""
    _, found = msgspec.json.schema_components(_FORMS, ref_template="#/components/schemas/{name}")
    parts = description.setdefault("components", {})
    parts.setdefault("schemas", {}).update(found)
    parts["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    description["security"] = [{"token": []}]
    return description
