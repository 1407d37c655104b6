"""One eviction: look around, ask for a dry run, write the intent, then ask in earnest; answers told apart."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable
from typing import Final, NamedTuple

from rescheduler.execution.core.events import Accepted, Allowed, Doubtful, Event, HeldBack, NotYet, Refused, Written
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.stopping import NoRoomError, PlanStoppedError, Waiter
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

TRY_LATER: Final = frozenset({"BudgetExhausted", "BudgetNotObserved", "TooManyRequests", "WebhookDenied"})
_ADVICE: Final = {
    "BudgetExhausted": "a PodDisruptionBudget allows no disruption",
    "BudgetNotObserved": "a PodDisruptionBudget is newer than its own count",
    "TooManyRequests": "the API server is overloaded",
    "WebhookDenied": "an admission webhook does not let it go now",
    "OwnerMoves": "whoever owns the pod moves it himself (policy: disruption.moveBy, method Migrate)",
    "Gone": "the pod went by itself",
    "Conflict": "the pod changed at this very moment; its budget may count one disruption too many for two minutes",
    "Forbidden": "the API server forbids it",
    "TwoBudgets": "more than one PodDisruptionBudget selects the pod",
    "Failed": "the API server failed",
}


class Eviction(NamedTuple):
    """One eviction on its way: the pod as it was expected, and as it was read last, and when; ``answer``: the last
    that the Eviction API gave, ``said``: in words why nothing comes of it."""

    move: Move
    expected: Pod | None
    live: Pod | None = None
    read_at: float = 0.0
    answer: EvictionAnswer | None = None
    said: str = ""


class Evictor:
    """Carries out the three steps of one eviction: ask, write, send; each tells by an event what came of it.

    One pod at a time; no pod is ever asked for again after an eviction of it may have taken effect.
    ``still_allowed`` says what speaks against a move now; ``ask_gate``: what the gate says where somebody else has
    written to the ledger meanwhile. ``as_seen``: see ``FreshCluster.pod_as_seen``.
    """

    def __init__(
        self,
        target: ExecutionTarget,
        waiter: Waiter,
        session: LedgerSession,
        still_allowed: Callable[[Move], str | None],
        ask_gate: Callable[[Move], str | None],
        as_seen: Callable[[Move], tuple[float, Pod | None] | None],
    ) -> None:
        self._target = target
        self._waiter = waiter
        self._session = session
        self._still_allowed = still_allowed
        self._ask_gate = ask_gate
        self._as_seen = as_seen
        self._tries: Counter[str] = Counter()
        self._eviction: Eviction | None = None
        self.in_flight: Move | None = None
        """The move whose eviction was sent and has had no definite answer; whoever has noted its answer resets it."""

    def ask(self, number: int, move: Move, expected: Pod) -> Event:
        """Get leave for a move whose pod still is as ``expected``: verdict, the pod as that saw it, dry run."""
        self._eviction = eviction = Eviction(move, expected)
        objection = self._still_allowed(move)
        if objection is not None:
            return self._refused(number, objection)
        read_at, live = self._look(move, expected)
        if isinstance(live, str):
            return self._refused(number, live)
        answer = self._target.evict(move.pod, live.resource_version, dry_run=True)
        if answer.kind != "Accepted":
            return self._answered(number, answer)
        if self._waiter.now - read_at > LIVE_SECONDS:
            read_at, live = self._waiter.now, self._read(move, expected)
            if isinstance(live, str):
                return self._refused(number, live)
        objection = self._still_allowed(move)
        if objection is not None:
            return self._refused(number, objection)
        self._eviction = eviction._replace(live=live, read_at=read_at)
        return Allowed(number)

    def write(self, number: int) -> Event:
        """Write the intent down, right after the leave."""
        eviction = self._eviction
        assert eviction is not None
        assert eviction.live is not None
        try:
            objection = self._session.announce(eviction.move, eviction.live, lambda: self._ask_gate(eviction.move))
        except NoRoomError as error:
            self._eviction = eviction._replace(said=str(error))
            return HeldBack(number)
        return Written(number) if objection is None else self._refused(number, objection)

    def send(self, number: int) -> Event:
        """Look once more at what grew old meanwhile, then send the request."""
        eviction = self._eviction
        assert eviction is not None
        assert eviction.live is not None
        objection = self._last_look(eviction.move, eviction.live, eviction.read_at)
        if objection is not None:
            return self._refused(number, objection)
        answer = self._send(eviction.move, eviction.live)
        if answer.kind == "Accepted":
            return Accepted(number)
        if answer.kind == "Failed":
            return self._resolve(number, eviction.move, answer)
        if answer.kind == "Conflict":
            return self._refused(number, told(eviction.move, answer))
        return self._answered(number, answer)

    def withdraw(self) -> None:
        """Take back an intent that is not to be sent."""
        if self._eviction is not None:
            self._session.not_sent(self._eviction.move, "the plan stopped")

    def give_up(self) -> str:
        """Why the last one was not evicted; a refusal that will last is remembered for later plans."""
        eviction = self._eviction
        assert eviction is not None
        if eviction.answer is not None and eviction.expected is not None:
            self._session.refused(eviction.move, eviction.expected, eviction.answer)
        return eviction.said

    def refuse(self, number: int, move: Move, why: str) -> Event:
        """A move that nobody has to be asked about."""
        self._eviction = Eviction(move, None, said=why)
        return Refused(number)

    @property
    def is_overloaded(self) -> bool:
        """Whether the API server put the last one off for its own sake: it would do so with any other."""
        return self._answer_kind == "TooManyRequests"

    @property
    def is_about_all(self) -> bool:
        """Whether the last answer was about the API server, not about the pod."""
        return self._answer_kind in ("TooManyRequests", "Failed")

    @property
    def _answer_kind(self) -> str | None:
        answer = None if self._eviction is None else self._eviction.answer
        return None if answer is None else answer.kind

    def _refused(self, number: int, why: str) -> Event:
        assert self._eviction is not None
        self._eviction = self._eviction._replace(said=why)
        return Refused(number)

    def _answered(self, number: int, answer: EvictionAnswer) -> Event:
        """What a definite answer other than yes leads to: a later try, or the end of this move."""
        assert self._eviction is not None
        move = self._eviction.move
        self._eviction = self._eviction._replace(answer=answer, said=told(move, answer))
        if answer.kind not in TRY_LATER and answer.kind not in ("Conflict", "Failed"):
            return Refused(number)
        self._tries[move.pod.uid] += 1
        seconds = CONFLICT_PAUSE_SECONDS
        if answer.kind in TRY_LATER:
            # Different pods come back at different times; the same pod at the same, so that a run can be repeated.
            spread = zlib.crc32(f"{move.pod.uid}/{self._tries[move.pod.uid]}".encode()) / 2**32
            seconds = max(SHORTEST_BACK_OFF_SECONDS * (1.0 + 0.25 * spread), answer.retry_after_seconds or 0.0)
        if not self._waiter.has_time(seconds):
            why = f"it may be asked again in {seconds:.0f} s, more than the plan's time allows"
            return self._refused(number, f"{told(move, answer)}; {why}")
        return NotYet(number, self._waiter.now + seconds)

    def _look(self, move: Move, expected: Pod) -> tuple[float, Pod | str]:
        """The pod as the look around for its verdict showed it, and when; as it stands now, where that was long ago."""
        seen = self._as_seen(move)
        if seen is None or self._waiter.now - seen[0] > LIVE_SECONDS:
            return self._waiter.now, self._read(move, expected)
        return seen[0], _as_expected(seen[1], move, expected)

    def _read(self, move: Move, expected: Pod) -> Pod | str:
        """The pod as it stands now; in words why not, where it is not as expected any more."""
        return _as_expected(self._target.read_pod(move.pod.namespace, move.pod.name), move, expected)

    def _last_look(self, move: Move, live: Pod, read_at: float) -> str | None:
        """Between the intent and the request: what speaks against it after all. The intent is then taken back."""
        try:
            objection = self._aged(move, live, read_at) or self._session.last_look(move)
        except (PlanStoppedError, ClusterError) as error:
            self._session.not_sent(move, str(error))
            raise
        if objection is not None:
            self._session.not_sent(move, objection)
        return objection

    def _aged(self, move: Move, live: Pod, read_at: float) -> str | None:
        """What speaks against sending now, where a verdict or a look at the pod grew old while it was announced."""
        for _ in range(LOOKS):
            objection = self._still_allowed(move)
            if objection is not None or self._waiter.now - read_at <= LIVE_SECONDS:
                return objection
            read_at, found = self._waiter.now, self._read(move, live)
            if isinstance(found, str):
                return found
            if found.resource_version != live.resource_version:
                return f"{move.pod.key} changed while its eviction was announced; plan again"
        return f"the API server took over {LIVE_SECONDS:g} s for each last look at {move.pod.key}; apply again to go on"

    def request(self, move: Move, live: Pod) -> EvictionAnswer:
        """The request itself, once. Raises NotSentError, ClusterError.

        The move counts as in flight, for whoever is interrupted, until who asked has dealt with the answer.
        """
        self.in_flight = move
        try:
            return self._target.evict(move.pod, live.resource_version, dry_run=False)
        except NotSentError:
            self.in_flight = None
            raise

    def _send(self, move: Move, live: Pod) -> EvictionAnswer:
        try:
            answer = self.request(move, live)
        except NotSentError as error:
            self._session.not_sent(move, str(error))
            raise
        self._session.answered(move, answer)
        if answer.kind not in ("Accepted", "Failed"):
            self.in_flight = None
        return answer

    def _resolve(self, number: int, move: Move, answer: EvictionAnswer) -> Event:
        """After a lost answer the pod itself tells whether the eviction took effect."""
        for _ in self._waiter.polls(DOUBT_SECONDS):
            try:
                if is_leaving(self._target.read_pod(move.pod.namespace, move.pod.name), move):
                    self._session.left(move)
                    return Accepted(number)
            except ClusterError:
                continue
        told = f"the answer to the eviction of {move.pod.key} was lost ({answer.message}); the pod still stands"
        assert self._eviction is not None
        self._eviction = self._eviction._replace(said=f"{told}, but the eviction may yet take effect")
        return Doubtful(number)


def is_leaving(live: Pod | None, move: Move) -> bool:
    """Whether the pod of a move is gone or on its way out."""
    return live is None or live.uid != move.pod.uid or not live.is_active


def what_changed(live: Pod | None, expected: Pod) -> str | None:
    """What tells a pod from what was planned for, in words that follow its name; None: nothing."""
    if live is None:
        return "is gone"
    if live.uid != expected.uid:
        return "is another pod of the same name by now"
    if not live.is_active:
        return "is on its way out already"
    if live.node_name != expected.node_name:
        return f"is on {live.node_name or 'no node'}, not on {expected.node_name}"
    if expected.is_ready and not live.is_ready:
        return "is not ready any more"
    return None


def _as_expected(live: Pod | None, move: Move, expected: Pod) -> Pod | str:
    change = what_changed(live, expected)
    if live is None or change is not None:
        return f"{move.pod.key} {change}; plan again"
    return live


def told(move: Move, answer: EvictionAnswer) -> str:
    """An answer other than yes in words."""
    why = _ADVICE.get(answer.kind, answer.kind)
    said = f": {answer.message}" if answer.message else ""
    return f"{move.pod.key} was not evicted: {why}{said}"
