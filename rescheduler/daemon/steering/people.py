"""What people may ask of the daemon: a round, a pause, a yes to a plan or to a policy. Only one that leads obeys."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from rescheduler.daemon.steering.approvals import Approval, Proposal
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.daemon.steering.inbox import Inbox
from rescheduler.daemon.steering.pausing import Switch
from rescheduler.daemon.steering.state_store import Changed, StateStore
from rescheduler.daemon.steering.steering_errors import (
    ChangedError,
    KeyReusedError,
    NotLeadingError,
    ObjectionError,
    UnknownHeldPolicyError,
)
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.notices import PolicyAcknowledged
from rescheduler.model.daemon.rounds import RoundRequest
from rescheduler.model.plan.plan import Plan

MOST_REQUESTS: Final = 256
"""Requests that wait for the loop, and earlier ones that are remembered by their keys."""
AskObjection = Callable[[Plan], ObjectionError | None]
"""What forbids carrying a plan out now; asked in the loop's thread alone."""
Acknowledge = Callable[[str, str], None]
"""Takes the number of a held policy, and who says yes to it; called as above. Raises ReschedulerError."""
Matches = Callable[[str], bool]
"""Whether a tag names what somebody has seen."""


def no_objection(_plan: Plan) -> ObjectionError | None:
    """Nothing ever speaks against a plan."""
    return None


def nothing_held(_held_id: str, _who: str) -> None:
    """No policy is ever held."""
    raise UnknownHeldPolicyError("no policy of this number waits to be acknowledged")


def anything(_tag: str) -> bool:
    """Nobody has said what he has seen."""
    return True


class People:
    """Each call names who asks. ``wake`` is set when there is something for the loop.

    What touches more than the state, which is immutable and changed one at a time, goes through ``inbox`` to the loop.
    A pause does not: it must not wait for anything.
    """

    def __init__(
        self, store: StateStore, clock: Clock, *, objection: AskObjection, acknowledge: Acknowledge, inbox: Inbox
    ) -> None:
        self.wake = threading.Event()
        self._store = store
        self._clock = clock
        self._objection = objection
        self._acknowledge = acknowledge
        self._inbox = inbox
        self._lock = threading.Lock()
        self._requests: list[RoundRequest] = []
        self._by_key: dict[tuple[str, str], RoundRequest] = {}

    def state(self) -> DaemonState:
        """How everything stands now."""
        return self._store.seen()

    def trigger(self, who: str, reason: str, key: str = "", *, how: str = "REST") -> RoundRequest:
        """Ask for a round; with a key that came before, what was asked then.

        Raises NotLeadingError, and KeyReusedError for a key that came with another reason.
        """
        _require_leading(self.state())
        with self._lock:
            earlier = self._by_key.get((who, key)) if key else None
            if earlier is not None and earlier.reason != reason:
                raise KeyReusedError("this idempotency key came with another reason before; write another one")
            if earlier is not None:
                return earlier
            request = RoundRequest(self._clock.now(), how, who, reason)
            self._requests = [*self._requests, request][-MOST_REQUESTS:]
            if key:
                self._by_key[who, key] = request
                self._by_key = dict(list(self._by_key.items())[-MOST_REQUESTS:])
            self.wake.set()
        return request

    def take_requests(self) -> tuple[RoundRequest, ...]:
        """What was asked for since the last call."""
        with self._lock:
            self.wake.clear()
            found, self._requests = tuple(self._requests), []
        return found

    def pause(self, who: str, reason: str, seconds: float | None, *, matches: Matches = anything) -> Switch:
        """Let nothing be carried out, for so long or until resumed. Raises NotLeadingError and ChangedError."""

        def step(state: DaemonState, now: float) -> Changed[Switch]:
            _require(state, state.switch.tag, matches)
            switch, told = state.switch.paused(who, reason, None if seconds is None else now + seconds, now)
            return replace(state, switch=switch), told, switch

        return self._store.change(step)

    def resume(self, who: str, *, matches: Matches = anything) -> Switch:
        """Let things go on. Raises NotLeadingError and ChangedError."""

        def step(state: DaemonState, now: float) -> Changed[Switch]:
            _require(state, state.switch.tag, matches)
            switch, told = state.switch.resumed(who, now)
            return replace(state, switch=switch), told, switch

        switch = self._store.change(step)
        self.wake.set()
        return switch

    def approve(
        self, plan_id: str, who: str, key: str = "", *, how: str = "REST", matches: Matches = anything
    ) -> Approval:
        """Say yes to exactly this plan; a request that was sent before gets the same answer, and does no more.

        Raises NotLeadingError, UnknownPlanError, ApprovalRefusedError, ObjectionError, ChangedError, KeyReusedError,
        BusyError.
        """
        return self._inbox.ask(lambda: self._approve(plan_id, who, key, how, matches))

    def _approve(self, plan_id: str, who: str, key: str, how: str, matches: Matches) -> Approval:
        state = self.state()
        _require_leading(state)
        earlier = state.approvals.answered(plan_id, who, key)
        if earlier is not None:
            return earlier
        plan, pause = state.approvals.waiting(plan_id).plan, state.switch.pause
        if pause is not None:
            raise ObjectionError(str(pause), pause.until)
        problem = self._objection(plan)  # looks at a whole cluster: no lock is held
        if problem is not None:
            raise problem

        def step(state: DaemonState, now: float) -> Changed[Approval]:
            tag = tag_of(state.approvals.proposal, plan_id)
            approvals, approval, told = state.approvals.approve(plan_id, who, how, key, now)
            _require(state, tag, matches if told else anything)
            return replace(state, approvals=approvals), told, approval

        approval = self._store.change(step)
        self.wake.set()
        return approval

    def acknowledge(self, held_id: str, who: str) -> None:
        """Say yes to a policy that reaches further. Raises NotLeadingError, BusyError, what ``acknowledge`` raises."""
        self._inbox.ask(lambda: self._say_yes(held_id, who))

    def _say_yes(self, held_id: str, who: str) -> None:
        state = self.state()
        _require_leading(state)
        if state.held is None or state.held.held_id != held_id:
            raise UnknownHeldPolicyError("no policy of this number waits to be acknowledged")
        self._acknowledge(held_id, who)
        self._store.change(lambda seen, now: (seen, (PolicyAcknowledged(now, held_id, who),), None))
        self.wake.set()


def tag_of(proposal: Proposal | None, plan_id: str) -> str:
    """Names how a plan stands: it changes when the plan is approved, and when it ends."""
    if proposal is None or proposal.plan_id != plan_id:
        return f"{plan_id}-ended"
    return f"{plan_id}-waiting" if proposal.approval is None else f"{plan_id}-approved"


def _require(state: DaemonState, tag: str, matches: Matches) -> None:
    _require_leading(state)
    if not matches(tag):
        raise ChangedError("it has changed since it was read; read it again")


def _require_leading(state: DaemonState) -> None:
    if not state.is_leader:
        raise NotLeadingError(state.holder)
