"""The line between one process under test and the world: every call crosses here, is told, and may go wrong."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import takewhile
from random import Random
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from rescheduler.disruption.gate.health import Signals
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.ledger import LedgerEntry
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from tests.soak.clock import Killed, WorldClock
from tests.soak.line.faults import Fault, Faults
from tests.soak.line.request import DETACH, GIVE_BACK
from tests.soak.line.views import Past
from tests.soak.trace import Answer, Effect, ProcessEvent, Request, Trace
from tests.soak.world.world import World

T = TypeVar("T")

TIMEOUT_SECONDS: Final = 30.0
FEWEST_REQUESTS: Final = 10
"""Fewer requests in a minute say nothing about the API server."""
UNSENT: Final = frozenset({"unreachable", "429 of overload", "429 of a budget", "refused", "webhook"})
"""Nothing happened, and the client knows."""
BYTES: Final = frozenset({"pods/eviction", "ledger", "leases"})
"""What crosses as HTTP, under the product's own adapters."""
LOST_BEFORE: Final = frozenset({"5xx before", "timeout before", "reset before"})
LOST_AFTER: Final = frozenset({"5xx after", "timeout after", "reset after"})


class HttpAnswer(NamedTuple):
    """An answer as it comes over the line. ``breaks_off``: what reading its body ends with.

    ``meaning``: what whoever understands it knows: the kind of an EvictionAnswer, or "ok"; no adapter is asked.
    """

    status: int
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})
    meaning: str = "ok"
    breaks_off: Exception | None = None


class Struck(Exception):  # noqa: N818 - no error of anybody: the answer that a fault makes
    """The call did not go well; ``is_known``: the caller is told that nothing has happened.

    ``told``: what comes over the line, where the call is made of bytes: an answer, or no answer and why.
    """

    def __init__(self, fault: Fault, *, is_known: bool, told: HttpAnswer | Exception | None) -> None:
        super().__init__(fault.kind)
        self.fault = fault
        self.is_known = is_known
        self.told = told


class Wire:
    """One process's line. Once it is dead, whatever the process still tries raises Killed and has no effect."""

    def __init__(self, name: str, world: World, past: Past, faults: Faults, random: Random, trace: Trace) -> None:
        self.name = name
        self.world = world
        self.past = past
        self.faults = faults
        self.random = random
        self.trace = trace
        self.is_dead = False
        self.plan = 0
        self.numbers = iter(range(1, 1_000_000_000))
        self.wall: Callable[[], float] = world.clock.now
        self.clock_offset: float | None = None
        self.told_by: Callable[[Random, Fault], HttpAnswer | Exception] | None = None
        self.on_death: Callable[[], None] = lambda: None
        self.greenlet: object = None
        self._seen: deque[tuple[float, bool, float]] = deque(maxlen=1000)

    @property
    def clock(self) -> WorldClock:
        """True time."""
        return self.world.clock  # type: ignore[return-value]

    def die(self) -> None:
        """The process is killed at this very point."""
        self.is_dead = True
        self.trace.tell(ProcessEvent(self.clock.monotonic(), self.name, "kill", "in a call"))
        self.on_death()
        raise Killed

    def signals(self, cluster: Cluster) -> Signals:
        """What a connection has seen of the API server in the last minute, whatever the snapshot shows."""
        del cluster
        now = self.clock.monotonic()
        recent = list(takewhile(lambda item: now - item[0] <= 60.0, reversed(self._seen)))
        if len(recent) < FEWEST_REQUESTS:
            return Signals(clock_offset_seconds=self.clock_offset)
        slowest = sorted(seconds for _, _, seconds in recent)[max(0, math.ceil(0.99 * len(recent)) - 1)]
        return Signals(sum(failed for _, failed, _ in recent) / len(recent), slowest, None, self.clock_offset)

    def asked(self) -> int:
        """How many requests were answered, or given up, within the last minute."""
        now = self.clock.monotonic()
        return sum(1 for _ in takewhile(lambda item: now - item[0] <= 60.0, reversed(self._seen)))

    def check(self) -> None:
        """Raise Killed if the process is dead."""
        if self.is_dead:
            raise Killed

    def call(self, site: str, request: Request, act: Callable[[], T], age: Sequence[float] = ()) -> T:
        """One call. Raises Struck where a fault decides the answer, and what ``act`` raises.

        ``age``: filled by ``act`` with the true time of what it shows, where that is not now.
        """
        self.check()
        fault = self.faults.draw(site, request.namespace)
        kind = "" if fault is None else fault.kind
        self._before(request, fault)
        if fault is not None and kind in UNSENT:
            raise self._struck(request, fault, 1.0 if kind == "webhook" else 0.01, is_known=True)
        slow = fault.seconds if fault is not None and kind == "slow" else 0.0
        self._wait(0.003 + 0.004 * self.random.random() + min(slow / 2, TIMEOUT_SECONDS))
        if fault is not None and kind in LOST_BEFORE:
            raise self._struck(request, fault, TIMEOUT_SECONDS if "timeout" in kind else 0.01, is_known=False)
        if fault is not None and kind == "timeout, effect later":
            request.effect = "later"
            self.clock.after(fault.seconds, lambda: self._apply_late(request, act), is_background=True)
            raise self._struck(request, fault, TIMEOUT_SECONDS, is_known=False)
        try:
            result = self._apply(request, act)
        except ClusterError as refused:  # an answer like any other, which whoever listens is to hear of
            self._answered(request, type(refused).__name__)
            raise
        if kind == "kill in":
            self.die()
        if fault is not None and (kind in LOST_AFTER or kind == "garbled" or slow > TIMEOUT_SECONDS):
            raise self._struck(request, fault, TIMEOUT_SECONDS if "timeout" in kind else slow / 2, is_known=False)
        self._wait(0.002 + slow / 2)
        self._answer(request, result, age[0] if age else None)
        if kind == "kill after":
            self.die()
        return result

    def _before(self, request: Request, fault: Fault | None) -> None:
        """Up to the moment at which the request leaves the process."""
        if fault is not None:
            request.fault = fault.kind
            if fault.kind == "kill before":
                self.die()
            if fault.kind == "pause":
                self.pause(fault.seconds)
                request.pause = fault.seconds
        request.t = self.clock.monotonic()
        request.number = next(self.numbers)
        request.plan = self.plan
        self.trace.tell(request)

    def audited(self, entries: Sequence[LedgerEntry]) -> None:
        """Lines have been written on this machine's disk."""
        now = self.clock.monotonic()
        names = tuple(entry.pod.key for entry in entries)
        line = Request(now, next(self.numbers), self.name, "append", "audit", body=names, plan=self.plan, effect="now")
        line.effect_at = now
        self.trace.tell(line)

    def pause(self, seconds: float) -> None:
        """SIGSTOP, and SIGCONT so much later."""
        self.trace.tell(ProcessEvent(self.clock.monotonic(), self.name, "pause", f"{seconds:.3f} s"))
        self._wait(seconds)
        self.trace.tell(ProcessEvent(self.clock.monotonic(), self.name, "resume"))

    def _wait(self, seconds: float) -> None:
        self.clock.sleep(seconds)
        self.check()

    def _apply(self, request: Request, act: Callable[[], T]) -> T:
        """Let the call take place now, as far as the server lets it."""
        before = self._standing(request)
        world = self.world
        workload = "" if before is None else self.trace.truth.workload_of(before)
        ready = self.trace.truth.ready(workload) if workload else 0
        desired = self.trace.truth.desired(workload) if workload else 0
        try:
            result = act()
        except BaseException:
            request.effect = "never"
            raise
        is_refused = isinstance(result, HttpAnswer) and result.status >= 300
        if not request.is_write or is_refused:
            request.effect = "never"
            return result
        request.effect = request.effect or "now"
        request.effect_at = world.clock.monotonic()
        self.trace.tell(Effect(request.effect_at, request, before, workload, ready, desired))
        return result

    def _apply_late(self, request: Request, act: Callable[[], T]) -> None:
        try:
            self._apply(request, act)
        except Exception:  # noqa: BLE001 - the server refused it, and nobody is there to hear of it
            request.effect = "never"

    def _standing(self, request: Request) -> Pod | None:
        is_out_or_back = request.body in (DETACH, GIVE_BACK) and request.resource == "pods"
        if not request.is_eviction and not request.is_last_step and not is_out_or_back:
            return None
        return self.world.store.pods.get(f"{request.namespace}/{request.name}")

    def _struck(self, request: Request, fault: Fault, seconds: float, *, is_known: bool) -> Struck:
        """Tell of the answer that a fault makes, after its time; the exception to raise."""
        if request.effect is None:
            request.effect = "never"
        self._wait(seconds)
        is_bytes = self.told_by is not None and request.resource in BYTES
        told = self.told_by(self.random, fault) if is_bytes and self.told_by is not None else None
        self._answered(request, _meaning(told, fault, is_known=is_known), is_failed=True)
        return Struck(fault, is_known=is_known, told=told)

    def _answer(self, request: Request, result: object, as_of: float | None) -> None:
        self.clock_offset = self.clock.now() - self.wall()
        meaning = result.meaning if isinstance(result, HttpAnswer) else "ok"
        self._answered(request, meaning, result if request.verb in ("get", "list") else None, as_of)

    def _answered(
        self, request: Request, meaning: str, shown: Any = None, as_of: float | None = None, *, is_failed: bool = False
    ) -> None:
        """Tell of an answer. ``is_failed``: the server, or the way to it, failed."""
        now = self.clock.monotonic()
        request.answer, request.answered_at = meaning, now
        self._seen.append((now, is_failed, now - request.t))
        self.trace.tell(Answer(now, request, shown, request.t if as_of is None else as_of))


def _meaning(told: HttpAnswer | Exception | None, fault: Fault, *, is_known: bool) -> str:
    """What whoever hears of it can know: of a request that was never sent, that it may be sent later."""
    if isinstance(told, HttpAnswer):
        return told.meaning
    if told is None:
        return fault.kind
    return "TooManyRequests" if is_known else "Failed"
