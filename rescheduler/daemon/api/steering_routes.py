"""POST: trigger, pause, resume, approve, acknowledge. Nothing here names a pod to evict: the gate decides."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from rescheduler.daemon.api.access import Access
from rescheduler.daemon.api.composing import approval_document, maybe_told, switch_document, told
from rescheduler.daemon.api.descriptions import IDEMPOTENCY_KEY, IF_MATCH, answers_to_body, writing
from rescheduler.daemon.api.documents import (
    Acknowledgement,
    AcknowledgeRequest,
    ApproveRequest,
    PauseRequest,
    ResumeRequest,
    TriggerOutcome,
    TriggerRequest,
)
from rescheduler.daemon.api.refusals import Details, RefusedError, answer
from rescheduler.daemon.api.request_bodies import body_of, key_of, matches_of, parameters_of
from rescheduler.daemon.steering.people import People
from rescheduler.daemon.steering.steering_errors import (
    ApprovalRefusedError,
    BusyError,
    ChangedError,
    KeyReusedError,
    NotLeadingError,
    ObjectionError,
    UnknownHeldPolicyError,
    UnknownPlanError,
)
from rescheduler.extension_points import ReschedulerError

# The statuses for what the daemon itself will not do.


@contextmanager
def refused(people: People, plan_id: str) -> Iterator[None]:
    """Turn the daemon's refusals into answers; ``plan_id``: which plan is spoken of, if any."""
    try:
        yield
    except NotLeadingError as error:
        raise RefusedError(503, str(error), {"Retry-After": "5"}, Details(leader=error.holder)) from None
    except BusyError as error:
        raise RefusedError(503, str(error), {"Retry-After": "5"}) from None
    except UnknownPlanError:
        raise _without_approval(people, plan_id) from None
    except UnknownHeldPolicyError as error:
        raise RefusedError(404, str(error)) from None
    except ApprovalRefusedError as error:
        raise RefusedError(409, str(error), details=Details(newer_plan=error.newer)) from None
    except ObjectionError as error:
        raise RefusedError(409, str(error), details=Details(until=maybe_told(error.until))) from None
    except ChangedError as error:
        raise RefusedError(412, str(error)) from None
    except KeyReusedError as error:
        raise RefusedError(422, str(error), details=Details(path="Idempotency-Key")) from None
    except ReschedulerError as error:
        raise RefusedError(409, str(error)) from None


def _without_approval(people: People, plan_id: str) -> RefusedError:
    """A plan that never waited is not the same as none at all."""
    state = people.state()
    report = state.round_of(plan_id)
    if report is None:
        return RefusedError(404, "there is no such plan among the last ones")
    waiting = state.approvals.proposal
    newer = "" if waiting is None else waiting.plan_id
    text = f"this plan of round {report.number} does not wait for approval; it was made under mode {report.mode}"
    return RefusedError(409, text + (f"; plan {newer} waits now" if newer else ""), details=Details(newer_plan=newer))


def steering_routes(people: People, access: Access) -> APIRouter:
    """The routes that ask for something."""
    router = APIRouter(prefix="/v1")
    _add_trigger(router, people, access)
    _add_switch(router, people, access)
    _add_consent(router, people, access)
    return router


def _add_trigger(router: APIRouter, people: People, access: Access) -> None:
    described = answers_to_body("TriggerOutcome", "A round will be asked for", status=202)
    form = writing("TriggerRequest", IDEMPOTENCY_KEY)

    @router.post("/trigger", responses=described, response_class=Response, openapi_extra=form, status_code=202)
    async def trigger(request: Request) -> Response:
        """Ask for a round, whatever the triggers say; nothing more is carried out than in any other round."""
        parameters_of(request)
        account = await access.require(request, "create", "rounds")
        key, asked = key_of(request), await body_of(request, TriggerRequest)
        with refused(people, ""):
            made = people.trigger(account.name, asked.reason, key)
        return answer(TriggerOutcome(told(made.at), made.who, made.reason), 202)


def _add_switch(router: APIRouter, people: People, access: Access) -> None:
    described = answers_to_body("SwitchState", "Whether somebody has paused, and the new ETag", 412)

    @router.post(
        "/pause", responses=described, response_class=Response, openapi_extra=writing("PauseRequest", IF_MATCH)
    )
    async def pause(request: Request) -> Response:
        """Let nothing be carried out; a plan that is being carried out stops before its next eviction."""
        parameters_of(request)
        account = await access.require(request, "update", "switch")
        matches, asked = matches_of(request), await body_of(request, PauseRequest)
        with refused(people, ""):
            switch = people.pause(account.name, asked.reason, asked.seconds, matches=matches)
        return answer(switch_document(switch), headers={"ETag": f'"{switch.tag}"'})

    @router.post(
        "/resume", responses=described, response_class=Response, openapi_extra=writing("ResumeRequest", IF_MATCH)
    )
    async def resume(request: Request) -> Response:
        """Let things go on; where nobody has paused nothing changes."""
        parameters_of(request)
        account = await access.require(request, "update", "switch")
        matches, _ = matches_of(request), await body_of(request, ResumeRequest)
        with refused(people, ""):
            switch = people.resume(account.name, matches=matches)
        return answer(switch_document(switch), headers={"ETag": f'"{switch.tag}"'})


def _add_consent(router: APIRouter, people: People, access: Access) -> None:
    described = answers_to_body("ApprovalState", "Who has approved it", 404, 409, 412)
    form = writing("ApproveRequest", IF_MATCH, IDEMPOTENCY_KEY)

    @router.post("/plans/{number}/approve", responses=described, response_class=Response, openapi_extra=form)
    async def approve(number: str, request: Request) -> Response:
        """Say yes to exactly this plan; it is proven again on a fresh snapshot before anything is evicted."""
        parameters_of(request)
        account = await access.require(request, "create", "plans", "approve", name=number)
        matches, key = matches_of(request), key_of(request)
        await body_of(request, ApproveRequest)
        with refused(people, number):
            given = await run_in_threadpool(people.approve, number, account.name, key, matches=matches)
        return answer(approval_document(given))

    acknowledged = answers_to_body("Acknowledgement", "It will come in force", 404, 409)

    @router.post(
        "/policy/acknowledge", responses=acknowledged, response_class=Response,
        openapi_extra=writing("AcknowledgeRequest"),
    )  # fmt: skip
    async def acknowledge(request: Request) -> Response:
        """Say yes to a policy that reaches further than the one in force."""
        parameters_of(request)
        account = await access.require(request, "create", "policy", "acknowledge")
        asked = await body_of(request, AcknowledgeRequest)
        with refused(people, ""):
            await run_in_threadpool(people.acknowledge, asked.held_id, account.name)
        return answer(Acknowledgement(asked.held_id, account.name))
