"""What kubelets and Prometheus ask of a daemon: whether it lives, whether it is ready, and its metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Final

from anyio import to_thread
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from rescheduler.daemon.serving.listening import Door
from rescheduler.daemon.serving.protection import Protection, plain_text
from rescheduler.extension_points import Clock

LIVE_PATHS: Final = ("/livez", "/healthz")
READY_PATH: Final = "/readyz"
METRICS_PATH: Final = "/metrics"
SILENCE_SECONDS: Final = 300.0
"""A loop that shows no sign of life for longer is dead; waiting for replacements shows one at each look."""
DOOR: Final = Door("telemetry", "telemetry")
"""Open on any address, as Prometheus and kubelets expect; a NetworkPolicy says who may come."""


class Heartbeat:
    """Shows that the main loop lives. It must go on beating while the API server is down. Safe in several threads."""

    def __init__(self, clock: Clock, *, longest_silence: float = SILENCE_SECONDS) -> None:
        """Begins alive; ``longest_silence`` in seconds."""
        self._clock = clock
        self._longest_silence = longest_silence
        self._at = clock.monotonic()

    def beat(self) -> None:
        """The loop is alive now."""
        self._at = self._clock.monotonic()

    def progress(self, step: str, done: int = 0, total: int | None = None) -> None:  # noqa: ARG002 - a sign is enough
        """A ``Progress`` that beats: long work shows that it goes on."""
        self.beat()

    @property
    def age_seconds(self) -> float:
        """Time since the last beat."""
        return self._clock.monotonic() - self._at

    @property
    def is_alive(self) -> bool:
        """Whether the last beat is young enough."""
        return self.age_seconds <= self._longest_silence


@dataclass(frozen=True)
class Readiness:
    """What a daemon needs before it can do its work; leading is none of it: a follower is ready to take over.

    ``is_synced``: everything that is watched has been read once, and is still known. ``usage_age``: seconds since load
    was measured, None where nothing was yet; ``longest_usage_age``: infinite where no provider is set.
    """

    is_synced: Callable[[], bool]
    usage_age: Callable[[], float | None] = lambda: None
    longest_usage_age: float = inf

    def __call__(self) -> bool:
        """Whether all of it is there."""
        if not self.is_synced():
            return False
        if self.longest_usage_age == inf:
            return True
        age = self.usage_age()
        return age is not None and age <= self.longest_usage_age


def create_probes(
    heartbeat: Heartbeat, is_ready: Callable[[], bool], metrics: Callable[[], bytes], content_type: str
) -> ASGIApp:
    """The application; ``metrics`` gives the text of ``content_type``. Nothing else is told to those who ask."""
    return Protection(_Probes(heartbeat, is_ready, metrics, content_type))


@dataclass(frozen=True)
class _Probes:
    heartbeat: Heartbeat
    is_ready: Callable[[], bool]
    metrics: Callable[[], bytes]
    content_type: str

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; HEAD has become GET on its way here."""
        if scope["type"] == "http":
            await (await self._answer(scope["method"], scope["path"]))(scope, receive, send)

    async def _answer(self, method: str, path: str) -> Response:
        if path not in (*LIVE_PATHS, READY_PATH, METRICS_PATH):
            return plain_text(404, "there are /livez, /readyz and /metrics")
        if method != "GET":
            return plain_text(405, "only GET and HEAD are answered here", {"Allow": "GET, HEAD"})
        if path in LIVE_PATHS:
            return _told(self.heartbeat.is_alive)
        # Both may look at much: other requests are not to wait for them.
        if path == READY_PATH:
            return _told(await to_thread.run_sync(_without_fault, self.is_ready))
        text = await to_thread.run_sync(self.metrics)
        return Response(text, headers={"Content-Type": self.content_type, "X-Content-Type-Options": "nosniff"})


def _without_fault(ask: Callable[[], bool]) -> bool:
    """The answer; what cannot be found out is a no."""
    try:
        return ask()
    except Exception:  # noqa: BLE001 - a probe answers, whatever is wrong
        return False


def _told(is_well: bool) -> Response:
    return plain_text(200, "ok") if is_well else plain_text(503, "no")
