"""GET /watcher in both forms of "one node": the original's ``?host=NAME`` and the design's ``/watcher/NAME``."""

from __future__ import annotations

import re
from typing import Any, Final

from fastapi import APIRouter, Request, Response
from starlette.concurrency import run_in_threadpool

from rescheduler.daemon.api.descriptions import document, query, refusal
from rescheduler.daemon.load_watcher.answers import Form, LoadAnswers
from rescheduler.daemon.load_watcher.record import Record
from rescheduler.daemon.load_watcher.source import Records
from rescheduler.daemon.serving.protection import plain_text
from rescheduler.extension_points import Clock
from rescheduler.model.printable import printable
from rescheduler.model.usage.usage import FRESH_SECONDS
from rescheduler.policy.fields.values import format_duration, parse_duration

_JSON: Final = "application/json"
_DURATION: Final = "^[1-9][0-9]{0,3}(s|m|h)$"
_EXTENSIONS: Final = [
    query("window", "Window, such as 5m; default: 15m, else 10m, else 5m", type="string", pattern=_DURATION),
    query("pods", "Whether to add the newest load of pods", type="string", enum=["true", "false"]),
    query("statistics", "all: every statistic and resource that is kept", type="string", enum=["all"]),
]
_RESPONSES: Final[dict[int | str, dict[str, Any]]] = {
    200: document("LoadDocument", "Load of the nodes that are believed"),
    400: refusal("A parameter is written wrongly"),
    404: refusal("No metrics are present, or none of this node"),
}


def load_routes(records: Records, clock: Clock, answers: LoadAnswers) -> APIRouter:
    """The routes of the load document."""
    router = APIRouter()
    host = query("host", "Only this node", type="string")

    @router.get(
        "/watcher", responses=_RESPONSES, response_class=Response, openapi_extra={"parameters": [host, *_EXTENSIONS]}
    )
    async def all_nodes(request: Request) -> Response:
        """Load of all nodes, or of the one named by ``host``."""
        named = request.query_params.getlist("host")
        return await _answer(records.current(), clock.now(), answers, request, named[0] if named else "")

    @router.get(
        "/watcher/{hostname}", responses=_RESPONSES, response_class=Response, openapi_extra={"parameters": _EXTENSIONS}
    )
    async def one_node(hostname: str, request: Request) -> Response:
        """Load of one node."""
        return await _answer(records.current(), clock.now(), answers, request, hostname)

    return router


async def _answer(record: Record | None, now: float, answers: LoadAnswers, request: Request, host: str) -> Response:
    try:
        form = _form(request)
    except ValueError as error:
        return plain_text(400, str(error))
    reason = absence(record, now)
    if record is None or reason:
        return plain_text(404, reason)
    if host:
        found = answers.of_node(record, form, host)
    elif form.is_prepared:
        found = answers.of_all(record, form)
    else:  # megabytes to encode at first: others must not wait for it
        found = await run_in_threadpool(answers.of_all, record, form)
    return plain_text(404, _why_not(record, form, host)) if found is None else Response(found, media_type=_JSON)


def absence(record: Record | None, now: float) -> str:
    """Why there is nothing to tell, "" if there is: no record yet, or one that is too old."""
    if record is None:
        return "no metrics are present: none were collected yet"
    age = now - record.collected.at
    if age > FRESH_SECONDS:
        return f"no metrics are present: the newest are {format_duration(int(age))} old"
    return ""


def _form(request: Request) -> Form:
    """What is asked for. Raises ValueError."""
    asked = request.query_params
    window, pods, statistics = (asked.get(name) for name in ("window", "pods", "statistics"))
    if pods not in (None, "true", "false"):
        raise ValueError(f"pods: found {printable(pods, 40)!r}, wanted true or false")
    if statistics not in (None, "all"):
        raise ValueError(f"statistics: found {printable(statistics, 40)!r}, wanted all")
    if window is not None and re.fullmatch(_DURATION, window) is None:
        raise ValueError(f"window: found {printable(window, 40)!r}, wanted a duration such as 300s, 5m or 1h")
    return Form(
        None if window is None else parse_duration(window), has_pods=pods == "true", has_all=statistics == "all"
    )


def _why_not(record: Record, form: Form, host: str) -> str:
    place = record.index.get(host)
    if host and place is None:
        return f"there is no node {printable(host, 253)!r}"
    if place is not None and not record.assessment.nodes[place].is_true:
        trust = record.assessment.nodes[place]
        return (
            f"no metrics of {host} are believed: {trust.state}{': ' * bool(trust.reason)}{printable(trust.reason, 300)}"
        )
    if not record.windows:
        return "no metrics are present: no node's load is believed; see /trust"
    kept = ", ".join(map(format_duration, record.windows))
    asked = "" if form.window is None else f" over {format_duration(form.window)}"
    return f"no metrics are present{asked}{f' of {host}' * bool(host)}; filled windows: {kept}; see /trust"
