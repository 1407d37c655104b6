"""What happened in one simulated run, in one order and with true times, and who may look at it.

Times ``t`` are true seconds since the run began (``Truth.epoch`` makes them seconds since 1970, as pods carry them).
One call of ours is three events that share one ``Request``: the request when it is sent, its effect on the world when
(and if) it takes place, and the answer when (and if) we are told. ``Request`` is filled in as its life goes on, so that
at the end of the run it tells everything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, TypeAlias

from rescheduler.extension_points import LedgerReading
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, Plan, PlanResult, Refusal
from rescheduler.model.plan.vicinity import Vicinity
from rescheduler.policy.fields.policy import Policy
from tests.soak.line.request import Request as Request
from tests.soak.world.truth import Truth


class Effect(NamedTuple):
    """A request of ours took place. The truth is as it is AFTER it.

    Of an eviction: ``pod`` as it stood right before, ``ready`` and ``desired`` of its workload right before
    (``ready`` counts this pod, if it was ready).
    """

    t: float
    request: Request
    pod: Pod | None = None
    workload: str = ""
    ready: int = 0
    desired: int = 0


class Answer(NamedTuple):
    """We were told something. ``shown``: what a read was given (Cluster, Pod or None, pods, LedgerReading).

    ``as_of``: the true time that this was true; earlier than ``request.t`` where the read was stale.
    """

    t: float
    request: Request
    shown: Cluster | Pod | Sequence[Pod] | LedgerReading | None = None
    as_of: float = 0.0
    message: str = ""


class PodChanged(NamedTuple):
    """A pod came (``old`` None), changed, or went (``new`` None), by whomsoever."""

    t: float
    old: Pod | None
    new: Pod | None


class NodeChanged(NamedTuple):
    """A node came, changed or went, by whomsoever (our own taints too)."""

    t: float
    old: Node | None
    new: Node | None


class WorldEvent(NamedTuple):
    """Somebody or something did this to the world; ``kind`` is one of ``world_events.KINDS``."""

    t: float
    kind: str
    object: str
    detail: str = ""


class ProcessEvent(NamedTuple):
    """``kind``: start, kill, pause, resume, stop (told to: kill switch or SIGTERM), end (it left by itself), crash
    (an exception of ours got out: ``detail``), wall-clock (``detail``: by how many seconds it jumped)."""

    t: float
    process: str
    kind: str
    detail: str = ""


class PolicyEvent(NamedTuple):
    """A process works by this policy from now on; ``detail``: start, reload, rejected (the old one stays)."""

    t: float
    process: str
    policy: Policy
    detail: str = "start"


class PlanEvent(NamedTuple):
    """A process was given a plan. ``planner``: real, adversary, broken (an exception or a wrong answer)."""

    t: float
    process: str
    planner: str
    plan: Plan
    shown: Cluster


class LookEvent(NamedTuple):
    """A process has read anew what one move depends on; ``asked_at``: when the first of these reads began."""

    t: float
    process: str
    asked_at: float
    move: Move
    shown: Vicinity


class GateEvent(NamedTuple):
    """The gate was asked; ``shown`` is the snapshot that it was given."""

    t: float
    process: str
    moves: tuple[Move, ...]
    verdicts: tuple[Permit | Refusal, ...]
    shown: Cluster
    ledger: Ledger


class RoundEvent(NamedTuple):
    """A process came to the end of one round. ``result`` None: it carried nothing out, ``message`` says why."""

    t: float
    process: str
    result: PlanResult | None
    message: str = ""


class LedgerWrite(NamedTuple):
    """The ledger's main object was to be replaced. ``ok`` False: somebody was faster. Follows its request's effect.

    ``ledger``: the whole of it, as whoever begins now would read it; ``size``: bytes that were sent.
    """

    t: float
    process: str
    base: str
    version: str
    ok: bool
    ledger: Ledger
    size: int = 0


Event: TypeAlias = (
    Request
    | Effect
    | Answer
    | PodChanged
    | NodeChanged
    | WorldEvent
    | ProcessEvent
    | PolicyEvent
    | PlanEvent
    | LookEvent
    | GateEvent
    | RoundEvent
    | LedgerWrite
)


class Violation(NamedTuple):
    """An invariant that did not hold. ``invariant``: I1 ... I33; ``message`` with names, numbers and times."""

    t: float
    invariant: str
    message: str


class Observer(Protocol):
    """Looks at a run while it goes on. A new one for each run.

    ``interests``: types of the events it is told of. ``guards``: how often each invariant it checks had something to
    check or a reason to bite, by invariant (for V1); added up over the campaign.
    """

    interests: tuple[type, ...]
    guards: dict[str, int]

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """One event, in order. The truth is as it stands right after it (a Request: right before its effect)."""

    def at_end(self, truth: Truth) -> Sequence[Violation]:
        """The run is over: all processes are dead, and ``Truth.t`` is at least 30 minutes past the last fault."""


@dataclass
class Trace:
    """Tells every event to all who want it, and keeps the last ones for the report."""

    truth: Truth
    observers: Sequence[Observer] = ()
    violations: list[Violation] = field(default_factory=list)
    number: int = 0
    on_first_violation: Callable[[], None] = lambda: None

    def __post_init__(self) -> None:
        self._listeners: dict[type, list[Observer]] = {}
        for observer in self.observers:
            for interest in observer.interests:
                self._listeners.setdefault(interest, []).append(observer)

    def tell(self, event: Event) -> None:
        """The next event."""
        self.number += 1
        for observer in self._listeners.get(type(event), ()):
            found = observer.on_event(event, self.truth)
            if found:
                if not self.violations:
                    self.on_first_violation()
                self.violations.extend(found)

    def end(self) -> None:
        """The run is over."""
        for observer in self.observers:
            self.violations.extend(observer.at_end(self.truth))
