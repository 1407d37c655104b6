"""I22: nothing of ours is left behind, and nothing that is not ours is touched."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import structs

from rescheduler.model.objects.node import Node
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.trace import Effect, Event, NodeChanged, ProcessEvent, Request, RoundEvent, Violation, WorldEvent
from tests.soak.world.truth import Truth

LEFT_SECONDS = 300.0
OURS = "rescheduler.dev/"


class Leftovers(Checker):
    """I22. Looked at again and again while no process lives, and at the end."""

    name = "I22"
    sentence = (
        "Whatever we put on nodes/pods has our key, owner and expiry; 5 min after the last process died, or after its "
        "TTL, none is left. We never remove or change what we did not put; spec.unschedulable is never written."
    )
    interests = (Request, Effect, NodeChanged, ProcessEvent, RoundEvent, WorldEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._living: set[str] = set()
        self._alone_since: float | None = None
        self._last_change: NodeChanged | None = None
        self._reported: set[str] = set()

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Deaths, and what our writes did."""
        if isinstance(event, ProcessEvent):
            self._lives(event)
        elif isinstance(event, NodeChanged):
            self._last_change = event
        elif isinstance(event, Request):
            return list(self._labelled(event))
        elif isinstance(event, Effect) and event.request.resource == "nodes":
            return list(self._touched(event))
        return self._left(truth)

    def at_end(self, truth: Truth) -> Sequence[Violation]:
        """All processes are dead for long."""
        self.bites()
        return [found for name in truth.ours() for found in self.violated(truth.t, f"{name} is left behind at the end")]

    def _lives(self, event: ProcessEvent) -> None:
        if event.kind == "start":
            self._living.add(event.process)
        elif event.kind in ("kill", "end", "crash"):
            self._living.discard(event.process)
        self._alone_since = None if self._living else (self._alone_since or event.t)

    def _left(self, truth: Truth) -> Sequence[Violation]:
        policies = self.history.policies.values()
        longest = max((policy.hold.deadline for policy in policies), default=0.0)
        if self._alone_since is None or truth.t - self._alone_since < LEFT_SECONDS + longest:
            return ()
        new = [name for name in truth.ours() if name not in self._reported]
        self._reported.update(new)
        return [
            found
            for name in new
            for found in self.violated(
                truth.t, f"{name} still stands, and nobody of us lives since {self._alone_since:.0f}"
            )
        ]

    def _labelled(self, request: Request) -> Iterator[Violation]:
        """Placeholders name their plan and end by themselves."""
        if request.resource != "jobs" or request.verb != "create":
            return
        for hold in request.body or ():
            self.bites()
            if not hold.plan_id or hold.deadline_seconds <= 0:
                yield from self.violated(request.t, f"placeholder {hold.name} has no plan or no deadline")

    def _touched(self, effect: Effect) -> Iterator[Violation]:
        change = self._last_change
        if change is None or change.t < effect.t or change.old is None or change.new is None:
            return
        self.bites()
        if _without_ours(change.old) != _without_ours(change.new):
            yield from self.violated(effect.t, f"our write changed more of node {change.new.name} than our own taint")


def _without_ours(node: Node) -> Node:
    return structs.replace(node, taints=tuple(taint for taint in node.taints if not taint.key.startswith(OURS)))
