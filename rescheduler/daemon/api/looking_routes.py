"""GET: how the daemon stands, its rounds, its plans, and what the last plan left alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from fastapi import APIRouter, Request, Response
from msgspec import UNSET
from starlette.concurrency import run_in_threadpool

from rescheduler.daemon.api.access import Access
from rescheduler.daemon.api.composing import (
    plan_numbers,
    plan_record,
    plan_summary,
    round_document,
    round_summary,
    state_document,
)
from rescheduler.daemon.api.descriptions import PAGE, Page, answers, page_of, query, reading
from rescheduler.daemon.api.documents import PlanList, RefusalList, RoundList
from rescheduler.daemon.api.refusals import RefusedError, answer
from rescheduler.daemon.api.request_bodies import parameters_of
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.people import tag_of
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.plan import Refusal

ReadState = Callable[[], DaemonState]
PAGE_NAMES = ("limit", "continue")
_FILTERS = (
    query("namespace", "Only pods of this namespace", type="string", minLength=1, maxLength=63),
    query("rule", "Only what this rule has refused", type="string", minLength=1, maxLength=63),
)


def looking_routes(read_state: ReadState, access: Access) -> APIRouter:
    """The routes that change nothing."""
    router = APIRouter(prefix="/v1")
    _add_rounds(router, read_state, access)
    _add_plans(router, read_state, access)

    @router.get("/state", responses=answers("State", "How the daemon stands"), response_class=Response)
    async def state(request: Request) -> Response:
        """Leader, policy, pause, the plan that waits, the newest snapshot, and what failed lately."""
        parameters_of(request)
        await access.require(request, "get", "state")
        return answer(state_document(read_state()))

    _add_refusals(router, read_state, access)
    return router


def _add_rounds(router: APIRouter, read_state: ReadState, access: Access) -> None:
    listed = answers("RoundList", "The last rounds, the newest first")

    @router.get("/rounds", responses=listed, response_class=Response, openapi_extra=reading(*PAGE))
    async def rounds(request: Request) -> Response:
        """The last rounds, in pages."""
        page = page_of(parameters_of(request, PAGE_NAMES))
        await access.require(request, "list", "rounds")
        known = list(reversed(read_state().rounds))
        start = _start(page.of, [str(report.number) for report in known]) if page.of else page.start
        found = [round_summary(report) for report in known[start : start + page.limit]]
        page = page._replace(start=start)
        return answer(RoundList(found, page.next(len(known), str(found[-1].number) if found else "")))

    one = answers("Round", "One round", 404)

    @router.get("/rounds/{number}", responses=one, response_class=Response, openapi_extra=reading())
    async def round_(number: str, request: Request) -> Response:
        """One of the last rounds, with its plan and its result."""
        parameters_of(request)
        await access.require(request, "get", "rounds")
        is_number = number.isascii() and number.isdigit() and len(number) <= 15
        report = read_state().round(int(number)) if is_number else None
        if report is None:
            raise RefusedError(404, "there is no such round among the last ones")
        return await run_in_threadpool(answer, round_document(report))  # megabytes, of a large plan


def _add_plans(router: APIRouter, read_state: ReadState, access: Access) -> None:
    listed = answers("PlanList", "The last plans, the newest first")

    @router.get("/plans", responses=listed, response_class=Response, openapi_extra=reading(*PAGE))
    async def plans(request: Request) -> Response:
        """The last plans, in pages; one that waits for a person stands first."""
        page = page_of(parameters_of(request, PAGE_NAMES))
        await access.require(request, "list", "plans")
        seen = read_state()
        numbers = plan_numbers(seen)
        start = _start(page.of, numbers) if page.of else page.start
        found = [plan_summary(seen, number) for number in numbers[start : start + page.limit]]
        page = page._replace(start=start)
        return answer(PlanList(found, page.next(len(numbers), found[-1].id if found else "")))

    one = answers("PlanRecord", "One plan; the ETag is for If-Match", 404)

    @router.get("/plans/{number}", responses=one, response_class=Response, openapi_extra=reading())
    async def plan(number: str, request: Request) -> Response:
        """One of the last plans, with what became of it."""
        parameters_of(request)
        await access.require(request, "get", "plans", name=number)
        seen = read_state()
        record = plan_record(seen, number)
        if record is None:
            raise RefusedError(404, "there is no such plan among the last ones")
        tag = tag_of(seen.approvals.proposal, number)
        return await run_in_threadpool(answer, record, 200, {"ETag": f'"{tag}"'})


def _start(last: str, known: list[str]) -> int:
    """Where the page after the one that ended with ``last`` begins: newer items may have come meanwhile."""
    if last not in known:
        raise _too_old()
    return known.index(last) + 1


def _add_refusals(router: APIRouter, read_state: ReadState, access: Access) -> None:
    """Who may list those of one namespace alone has to name it."""
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
        report = _report(read_state(), page)
        known = () if report is None or report.plan is None else report.plan.refusals
        found = _filtered(known, namespace, given.get("rule", ""))
        number = None if report is None else report.number
        if page.start and page.start >= len(found):
            raise _too_old()
        items = found[page.start : page.start + page.limit]
        return answer(RefusalList(number, items, page.next(len(found), str(number))))


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
