"""GET /: the page of the daemon, for whoever may read its state."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from rescheduler.daemon.api.access import Access
from rescheduler.daemon.api.descriptions import answers, refusal
from rescheduler.daemon.api.refusals import HTML, PAGE_PATH
from rescheduler.daemon.api.request_bodies import parameters_of
from rescheduler.daemon.page.outlook import ALLOWED_HEADER, RIGHTS, Rights
from rescheduler.daemon.page.page_desk import PageDesk
from rescheduler.report.html.daemon_page import content_security_policy


def page_headers() -> dict[str, str]:
    """What goes with a page: nothing of others is let in, nobody keeps it or frames it, and it tells no address on."""
    return {
        "Content-Security-Policy": content_security_policy(),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "no-store",
    }


def page_routes(desk: PageDesk, access: Access) -> APIRouter:
    """The route of the page."""
    router = APIRouter()
    described: dict[int | str, dict[str, Any]] = answers("Error", "")
    described[200] = {**refusal("The page"), "content": {HTML: {"schema": {"type": "string"}}}}

    @router.get(PAGE_PATH, responses=described, response_class=Response)
    async def page(request: Request) -> Response:
        """How the daemon stands, for people; what an account may not list or do is left out."""
        parameters_of(request)
        await access.require(request, "get", "state")
        rights = Rights(**{name: await access.has(request, right) for name, right in RIGHTS.items()})
        rights = rights.within(request.headers.get(ALLOWED_HEADER))
        text = await run_in_threadpool(desk.page, rights)
        return Response(text, headers=page_headers(), media_type=HTML)

    return router
