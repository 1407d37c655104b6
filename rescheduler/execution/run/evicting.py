"""One eviction: look again, ask for a dry run, then ask in earnest; answers told apart, tries bounded."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from enum import Enum
from typing import Final, NamedTuple

from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.run.stopping import PlanStoppedError, Waiter
from rescheduler.extension_points import ClusterError, EvictionAnswer, ExecutionTarget, NotSentError
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move

ATTEMPTS: Final = 3
SHORTEST_BACK_OFF_SECONDS: Final = 30.0
CONFLICT_PAUSE_SECONDS: Final = 1.0
DOUBT_SECONDS: Final = 15.0
"""How long an eviction whose answer was lost is looked for in the pod itself."""

LIVE_SECONDS: Final = 1.0
"""A pod that was read longer ago than this is read once more, so that none was two seconds ago when it is evicted."""
LOOKS: Final = 3
"""So often what grew old while an eviction was announced is looked at again."""

TRY_LATER: Final = frozenset({"BudgetExhausted", "BudgetNotObserved", "TooManyRequests"})
_ADVICE: Final = {
    "BudgetExhausted": "a PodDisruptionBudget allows no disruption",
    "BudgetNotObserved": "a PodDisruptionBudget is newer than its own count",
    "TooManyRequests": "the API server is overloaded",
    "Gone": "the pod went by itself",
    "Conflict": "the pod changed at this very moment; its budget may count one disruption too many for two minutes",
    "Forbidden": "the API server forbids it",
    "TwoBudgets": "more than one PodDisruptionBudget selects the pod",
    "Failed": "the API server failed",
}


class EvictionKind(Enum):
    """Whether a pod is leaving on our account."""

    SENT = "sent"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class Eviction(NamedTuple):
    """What became of asking for one eviction, and in words why it was not done."""

    kind: EvictionKind
    message: str = ""


class Evictor:
    """Evicts one pod at a time; no pod is ever asked for again after an eviction of it may have taken effect."""

    def __init__(self, target: ExecutionTarget, waiter: Waiter, session: LedgerSession) -> None:
        self._target = target
        self._waiter = waiter
        self._session = session
        self.in_flight: Move | None = None
        """The move whose eviction was sent and has had no definite answer; whoever has noted its answer resets it."""

    def evict(
        self, move: Move, expected: Pod, still_allowed: Callable[[], str | None], ask: Callable[[], str | None]
    ) -> Eviction:
        """Evict the pod of a move if it still is as ``expected``.

        ``still_allowed`` is asked before each try and says what speaks against it; ``ask``: what the gate says where
        somebody else has written to the ledger meanwhile.
        """
        answer = EvictionAnswer("Failed", "it was never asked")
        for attempt in range(ATTEMPTS):
            if attempt:
                self._back_off(move, answer, attempt)
            tried = self._try(move, expected, still_allowed, ask)
            if isinstance(tried, Eviction):
                return tried
            answer = tried
            if answer.kind not in TRY_LATER and answer.kind not in ("Conflict", "Failed"):
                break
        self._session.refused(move, expected, answer)
        return _refusal(move, answer)

    def _try(
        self, move: Move, expected: Pod, still_allowed: Callable[[], str | None], ask: Callable[[], str | None]
    ) -> Eviction | EvictionAnswer:
        """One try: what became of it, or an answer after which there may be another."""
        objection = still_allowed()
        if objection is not None:
            return Eviction(EvictionKind.REFUSED, objection)
        read_at, live = self._waiter.now, self._read(move, expected)
        if isinstance(live, Eviction):
            return live
        answer = self._target.evict(move.pod, live.resource_version, dry_run=True)
        if answer.kind != "Accepted":
            return answer
        if self._waiter.now - read_at > LIVE_SECONDS:
            read_at, live = self._waiter.now, self._read(move, expected)
            if isinstance(live, Eviction):
                return live
        objection = still_allowed() or self._session.announce(move, live, ask)
        if objection is None:
            objection = self._last_look(move, live, read_at, still_allowed)
        if objection is not None:
            return Eviction(EvictionKind.REFUSED, objection)
        answer = self._send(move, live)
        if answer.kind == "Accepted":
            return Eviction(EvictionKind.SENT)
        if answer.kind == "Failed":
            return self._resolve(move, answer)
        return _refusal(move, answer) if answer.kind == "Conflict" else answer

    def _read(self, move: Move, expected: Pod) -> Pod | Eviction:
        """The pod as it stands now; a refusal where it is not as expected any more."""
        live = self._target.read_pod(move.pod.namespace, move.pod.name)
        change = what_changed(live, expected)
        if live is None or change is not None:
            return Eviction(EvictionKind.REFUSED, f"{move.pod.key} {change}; plan again")
        return live

    def _last_look(self, move: Move, live: Pod, read_at: float, still_allowed: Callable[[], str | None]) -> str | None:
        """Between the intent and the request: what speaks against it after all. The intent is then taken back."""
        try:
            objection = self._aged(move, live, read_at, still_allowed) or self._session.last_look(move)
        except (PlanStoppedError, ClusterError) as error:
            self._session.not_sent(move, str(error))
            raise
        if objection is not None:
            self._session.not_sent(move, objection)
        return objection

    def _aged(self, move: Move, live: Pod, read_at: float, still_allowed: Callable[[], str | None]) -> str | None:
        """What speaks against sending now, where a verdict or a look at the pod grew old while it was announced."""
        for _ in range(LOOKS):
            objection = still_allowed()
            if objection is not None or self._waiter.now - read_at <= LIVE_SECONDS:
                return objection
            read_at, found = self._waiter.now, self._read(move, live)
            if isinstance(found, Eviction):
                return found.message
            if found.resource_version != live.resource_version:
                return f"{move.pod.key} changed while its eviction was announced; plan again"
        return f"the API server took over {LIVE_SECONDS:g} s for each last look at {move.pod.key}; apply again to go on"

    def _send(self, move: Move, live: Pod) -> EvictionAnswer:
        self.in_flight = move
        try:
            answer = self._target.evict(move.pod, live.resource_version, dry_run=False)
        except NotSentError as error:
            self.in_flight = None
            self._session.not_sent(move, str(error))
            raise
        self._session.answered(move, answer)
        if answer.kind not in ("Accepted", "Failed"):
            self.in_flight = None
        return answer

    def _back_off(self, move: Move, answer: EvictionAnswer, attempt: int) -> None:
        """Wait before the next try: as long as the server asks, and long where it asks for patience."""
        if answer.kind not in TRY_LATER:
            self._waiter.pause(CONFLICT_PAUSE_SECONDS)
            return
        # Different pods come back at different times; the same pod at the same, so that a run can be repeated.
        spread = zlib.crc32(f"{move.pod.uid}/{attempt}".encode()) / 2**32
        seconds = SHORTEST_BACK_OFF_SECONDS * (1.0 + 0.25 * spread)
        self._waiter.pause(max(seconds, answer.retry_after_seconds or 0.0))

    def _resolve(self, move: Move, answer: EvictionAnswer) -> Eviction:
        """After a lost answer the pod itself tells whether the eviction took effect."""
        for _ in self._waiter.polls(DOUBT_SECONDS):
            try:
                if is_leaving(self._target.read_pod(move.pod.namespace, move.pod.name), move):
                    self._session.left(move)
                    return Eviction(EvictionKind.SENT)
            except ClusterError:
                continue
        told = f"the answer to the eviction of {move.pod.key} was lost ({answer.message}); the pod still stands"
        return Eviction(EvictionKind.UNKNOWN, f"{told}, but the eviction may yet take effect")


def is_leaving(live: Pod | None, move: Move) -> bool:
    """Whether the pod of a move is gone or on its way out."""
    return live is None or live.uid != move.pod.uid or live.is_terminating or live.is_finished


def what_changed(live: Pod | None, expected: Pod) -> str | None:
    """What tells a pod from what was planned for, in words that follow its name; None: nothing."""
    if live is None:
        return "is gone"
    if live.uid != expected.uid:
        return "is another pod of the same name by now"
    if live.is_terminating or live.is_finished:
        return "is on its way out already"
    if live.node_name != expected.node_name:
        return f"is on {live.node_name or 'no node'}, not on {expected.node_name}"
    if expected.is_ready and not live.is_ready:
        return "is not ready any more"
    return None


def _refusal(move: Move, answer: EvictionAnswer) -> Eviction:
    why = _ADVICE.get(answer.kind, answer.kind)
    said = f": {answer.message}" if answer.message else ""
    return Eviction(EvictionKind.REFUSED, f"{move.pod.key} was not evicted: {why}{said}")
