"""GET /v1/explain: why a pod or a node would or would not move, on the newest snapshot."""

from __future__ import annotations

import re
from typing import Final

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Request, Response

from rescheduler.daemon.api.access import Access
from rescheduler.daemon.api.descriptions import answers, reading
from rescheduler.daemon.api.refusals import RefusedError, answer
from rescheduler.daemon.api.request_bodies import parameters_of
from rescheduler.daemon.steering.explaining import Explains, NoSnapshotError
from rescheduler.explain import NotInClusterError

_NAME: Final = re.compile(r"[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
AT_ONCE: Final = 1
"""Explanations that are worked out at one time: each asks the predicted scheduler about every node."""


def explain_routes(explains: Explains, access: Access) -> APIRouter:
    """The routes of explanations; the right may be given for one namespace."""
    router = APIRouter(prefix="/v1/explain")
    limiter = CapacityLimiter(AT_ONCE)
    described = answers("Explanation", "Why", 404)

    @router.get("/pods/{namespace}/{name}", responses=described, response_class=Response, openapi_extra=reading())
    async def pod(namespace: str, name: str, request: Request) -> Response:
        """Why a pod would or would not move, or still waits."""
        parameters_of(request)
        await access.require(request, "get", "explanations", namespace=namespace, name=name)
        return await _told(namespace, name)

    @router.get("/nodes/{name}", responses=described, response_class=Response, openapi_extra=reading())
    async def node(name: str, request: Request) -> Response:
        """Which pods would leave a node and arrive on it, and what keeps the others."""
        parameters_of(request)
        await access.require(request, "get", "explanations", name=name)
        return await _told("", name)

    async def _told(namespace: str, name: str) -> Response:
        """A node's where there is no namespace."""
        absent = RefusedError(404, f"the newest snapshot has no such {'pod' if namespace else 'node'}")
        if not _NAME.fullmatch(name) or (namespace and not _NAME.fullmatch(namespace)):
            raise absent
        try:
            if namespace:
                found = await to_thread.run_sync(explains.pod, namespace, name, limiter=limiter)
            else:
                found = await to_thread.run_sync(explains.node, name, limiter=limiter)
        except NotInClusterError:  # its words name others, which are not everybody's to know
            raise absent from None
        except NoSnapshotError as error:
            raise RefusedError(503, str(error), {"Retry-After": "5"}) from None
        return answer(found)

    return router
