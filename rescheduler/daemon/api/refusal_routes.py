"""GET /v1/refusals: what the newest plan left alone, by namespace and rule."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request, Response
from msgspec import UNSET

from rescheduler.daemon.api.access import Access
from rescheduler.daemon.api.descriptions import PAGE, Page, answers, page_of, query, reading
from rescheduler.daemon.api.documents import RefusalList
from rescheduler.daemon.api.looking_routes import PAGE_NAMES, ReadState
from rescheduler.daemon.api.refusals import RefusedError, answer
from rescheduler.daemon.api.request_bodies import parameters_of
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.plan import Refusal

_FILTERS = (
    query("namespace", "Only pods of this namespace", type="string", minLength=1, maxLength=63),
    query("rule", "Only what this rule has refused", type="string", minLength=1, maxLength=63),
)


def refusal_routes(state: ReadState, access: Access) -> APIRouter:
    """The route of the refusals; who may list those of one namespace alone has to name it."""
    router = APIRouter(prefix="/v1")
    described = answers("RefusalList", "What was left alone, and by which rule")

    @router.get("/refusals", responses=described, response_class=Response, openapi_extra=reading(*PAGE, *_FILTERS))
    async def refusals(request: Request) -> Response:
        """Pods and nodes that the newest plan left alone, in pages."""
        given = parameters_of(request, (*PAGE_NAMES, "namespace", "rule"))
        for name in ("namespace", "rule"):
            if name in given and not 1 <= len(given[name]) <= 63:
                raise RefusedError(400, f"{name}: wanted 1 to 63 characters")
        page, namespace = page_of(given), given.get("namespace", "")
        await access.require(request, "list", "refusals", namespace=namespace)
        report = _report(state(), page)
        known = () if report is None or report.plan is None else report.plan.refusals
        found = _filtered(known, namespace, given.get("rule", ""))
        number = None if report is None else report.number
        if page.start and page.start >= len(found):
            raise _too_old()
        items = found[page.start : page.start + page.limit]
        return answer(RefusalList(number, items, page.next(len(found), str(number))))

    return router


def _report(state: DaemonState, page: Page) -> RoundReport | None:
    """The newest round that made a plan, or the one that the pages began with."""
    if page.start:
        report = state.round(int(page.of)) if page.of.isascii() and page.of.isdigit() and len(page.of) < 16 else None
        if report is None:
            raise _too_old()
        return report
    return next((report for report in reversed(state.rounds) if report.plan is not None), None)


def _too_old() -> RefusedError:
    return RefusedError(400, "continue: the page before is too old; start with the first one")


def _filtered(refusals: Sequence[Refusal], namespace: str, rule: str) -> list[Refusal]:
    found = [refusal for refusal in refusals if not rule or refusal.rule == rule]
    if not namespace:
        return found
    return [refusal for refusal in found if refusal.pod is not UNSET and refusal.pod.namespace == namespace]
