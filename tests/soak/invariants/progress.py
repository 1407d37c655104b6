"""L5: whoever carries a plan out goes on, or ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.invariants.load import PATIENT
from tests.soak.invariants.repayment import desired_of, has_gone
from tests.soak.trace import (
    Answer,
    Effect,
    Event,
    NodeChanged,
    PlanEvent,
    PodChanged,
    ProcessEvent,
    Request,
    RoundEvent,
    Violation,
)
from tests.soak.world.truth import Truth

IDLE_SECONDS = 120.0
LOOKS = (("list", "pods"), ("patch", "jobs"))
"""What is asked while one waits for pods; where all have come not even that."""


@dataclass
class _Run:
    """One plan in one process. ``step_at``: its last request that was no look; ``rest_at``: since when all that it
    evicted is made good, None: it is not. ``last``: the last eviction that it asked for. ``waits``: since its last
    step, from when until when it waited for answers."""

    step_at: float
    sent: list[Send] = field(default_factory=list)
    rest_at: float | None = None
    last: Request | None = None
    waits: list[tuple[float, float]] = field(default_factory=list)


class Progress(Checker):
    """L5. A wait for what has come already breaks no other invariant: nothing wrong is ever done in it."""

    name = "L5"
    sentence = (
        "Once all pods that a plan has evicted are gone and their workloads are whole, whoever carries it out makes a "
        "step or ends within two minutes of its own time, but where the API server asks for patience. While an answer "
        "of the API server is outstanding, it is the server's time."
    )
    interests = (Answer, Effect, PlanEvent, RoundEvent, ProcessEvent, Request, PodChanged, NodeChanged)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._runs: dict[str, _Run] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Begin with each plan, and look at what becomes of its evictions."""
        if isinstance(event, PodChanged | NodeChanged):
            for run in self._runs.values():
                _look(run, event.t, truth)
        elif isinstance(event, Effect):
            run = self._runs.get(event.request.process)
            if run is not None and event.request.is_eviction:
                run.sent.append(self.history.send_of(event.request))
                run.rest_at = None
        elif isinstance(event, Request):
            return self._asked(event)
        elif isinstance(event, Answer):
            run = self._runs.get(event.request.process)
            if run is not None:
                run.waits.append((event.request.t, event.t))
        elif isinstance(event, RoundEvent):
            run = self._runs.pop(event.process, None)
            return () if run is None else self._judge(event.process, run, event.t)
        elif isinstance(event, PlanEvent):
            self._runs[event.process] = _Run(event.t)
        elif isinstance(event, ProcessEvent):
            self._runs.pop(event.process, None)
        return ()

    def _asked(self, request: Request) -> Sequence[Violation]:
        run = self._runs.get(request.process)
        if run is None or request.resource == "leases":
            return ()
        found = self._judge(request.process, run, request.t)
        if (request.verb, request.resource) not in LOOKS or found:
            run.step_at = request.t
            run.waits.clear()
        if request.resource == "pods/eviction":
            run.last = request
        return found

    def _judge(self, process: str, run: _Run, t: float) -> Sequence[Violation]:
        if run.rest_at is None or (run.last is not None and run.last.answer in PATIENT):
            return ()
        self.bites()
        since = max(run.rest_at, run.step_at)
        # Not all that is between two looks, but the looks themselves: who only asks and sleeps in between is found.
        idle = t - since - sum(max(0.0, answered - max(asked, since)) for asked, answered in run.waits)
        if idle <= IDLE_SECONDS:
            return ()
        return self.violated(
            t, f"{process} made no step for {idle:.0f} s, with {len(run.sent)} evictions that were all made good"
        )


def _look(run: _Run, t: float, truth: Truth) -> None:
    if not run.sent or not all(_is_at_rest(send, truth) for send in run.sent):
        run.rest_at = None
    elif run.rest_at is None:
        run.rest_at = t


def _is_at_rest(send: Send, truth: Truth) -> bool:
    """Whether the pod is gone, and its workload has all that it wants."""
    if not has_gone(send, truth):
        return False
    members = [pod for pod in truth.members(send.workload) if not pod.is_finished] if send.workload else []
    return all(truth.works(pod) for pod in members) and len(members) >= desired_of(truth, send.workload)
