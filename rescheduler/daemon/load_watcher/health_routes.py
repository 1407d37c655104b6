"""Whether the watcher lives, is ready, and reaches its provider; and its own metrics."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter, Response

from rescheduler.daemon.api.descriptions import empty, refusal
from rescheduler.daemon.load_watcher.load_routes import absence
from rescheduler.daemon.load_watcher.record import Record
from rescheduler.daemon.load_watcher.source import Records
from rescheduler.daemon.load_watcher.telemetry import CONTENT_TYPE, Telemetry
from rescheduler.daemon.serving.protection import plain_text
from rescheduler.extension_points import Clock
from rescheduler.usage.collecting.collected import Collected

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
