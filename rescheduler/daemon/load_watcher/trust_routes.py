"""GET /trust: how far each node's load is believed and why, an extension beside the original's API."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import numpy as np
from fastapi import APIRouter, Request, Response

from rescheduler.daemon.api.descriptions import document, query, refusal
from rescheduler.daemon.load_watcher.record import Record
from rescheduler.daemon.load_watcher.source import Records
from rescheduler.daemon.serving.protection import plain_text
from rescheduler.extension_points import Clock
from rescheduler.model.printable import printable
from rescheduler.usage.collecting.provider_health import ProviderHealth


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
