"""L5: whoever carries a plan out goes on, or ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.invariants.repayment import desired_of, has_gone
from tests.soak.trace import Effect, Event, PlanEvent, ProcessEvent, Request, RoundEvent, Violation
from tests.soak.truth import Truth

IDLE_SECONDS = 120.0
IDLE_LOOKS = 60
"""A process that stood still looks no oftener than before."""


class _Idle(NamedTuple):
    """Since when a process does nothing but look at what has come to rest, and how often it did."""

    since: float
    looks: int


class Progress(Checker):
    """L5. A wait for what has come already shows in no other invariant: nothing wrong is ever done in it."""

    name = "L5"
    sentence = (
        "Once all pods that a plan has evicted are gone and their workloads are whole, whoever carries it out does not "
        "look at pods alone for two minutes: it goes on, waits for something else, or ends."
    )
    interests = (Effect, PlanEvent, RoundEvent, ProcessEvent, Request)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._sent: dict[str, list[Send]] = {}
        self._idle: dict[str, _Idle] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Looks at pods while nothing is to be seen."""
        if isinstance(event, Effect):
            if event.request.is_eviction:
                self._sent.setdefault(event.request.process, []).append(self.history.send_of(event.request))
        elif isinstance(event, Request):
            return self._asked(event, truth)
        elif isinstance(event, PlanEvent | RoundEvent | ProcessEvent):
            self._sent.pop(event.process, None)
            self._idle.pop(event.process, None)
        return ()

    def _asked(self, request: Request, truth: Truth) -> Sequence[Violation]:
        process = request.process
        sent = self._sent.get(process)
        if not sent or request.resource == "leases":
            return ()
        is_look = (request.verb, request.resource) in (("list", "pods"), ("patch", "jobs"))
        if not is_look or not all(_is_at_rest(send, truth) for send in sent):
            self._idle.pop(process, None)
            return ()
        self.bites()
        before = self._idle.get(process, _Idle(request.t, 0))
        idle = self._idle[process] = before._replace(looks=before.looks + 1)
        if idle.looks < IDLE_LOOKS or request.t - idle.since < IDLE_SECONDS:
            return ()
        self._idle.pop(process)
        return self.violated(
            request.t,
            f"{process} has {len(sent)} evictions behind it, all of them made good, and does nothing but look at pods "
            f"for {request.t - idle.since:.0f} s",
        )


def _is_at_rest(send: Send, truth: Truth) -> bool:
    """Whether the pod is gone, and its workload has all that it wants."""
    if not has_gone(send, truth):
        return False
    members = [pod for pod in truth.members(send.workload) if not pod.is_finished] if send.workload else []
    return all(truth.works(pod) for pod in members) and len(members) >= desired_of(truth, send.workload)
