"""I34 to I36: pods that move by surge. Nobody is missing by our doing, nothing stays behind, and the owner wins.

Evictions of pods that are out are judged here alone: nobody is missing when they go, so they are no debts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.line.request import DETACH, GIVE_BACK
from tests.soak.trace import Answer, Effect, Event, PodChanged, ProcessEvent, Request, RoundEvent, Violation, WorldEvent
from tests.soak.world.truth import Truth

UNSEEN_SECONDS: Final = 5.0
"""A loss, or a change of mind, so shortly before a send is not a violation."""
OWNER_SECONDS: Final = 10.0
VERDICT_SECONDS: Final = 2.0
ENDING: Final = "-leaving"


@dataclass
class Out:
    """A pod that is out. ``floor``: as many worked, or were wanted, when it was taken out; ``members``: uids then.

    ``marks``: what its owners wanted then; ``changed_at``: when they first wanted something else.
    """

    t: float
    process: str
    workload: str
    floor: int
    owners: tuple[str, ...]
    marks: tuple[object, ...]
    members: frozenset[str]
    changed_at: float | None = None


def marks_of(truth: Truth, owners: Sequence[str]) -> tuple[object, ...]:
    """What owners want, in as much as a surge rests on it."""
    found = (truth.workloads.get(uid) for uid in owners)
    return tuple(None if one is None else (one.desired_replicas, one.is_terminating) for one in found)


class SurgeFloor(Checker):
    """I34."""

    name = "I34"
    sentence = (
        "A pod that is out is evicted only while as many others of its workload work as did, or were wanted, when it "
        "was taken out, but for pods of then that were lost since, and for losses less than 5 s before the send; by "
        "the gate's leave for this very pod, 2 s old at most; for the newest plan; and with an entry in the ledger."
    )
    interests = (Request, Effect)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._out: dict[str, Out] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Who is taken out, and who of them goes."""
        if isinstance(event, Effect):
            if event.request.body == DETACH and event.pod is not None:
                self._out[event.request.uid] = taken_out(event, truth)
            return self._goes(event, truth) if event.request.is_last_step else ()
        if isinstance(event, Request) and event.is_last_step:
            return list(self._sent(event))
        return ()

    def _sent(self, request: Request) -> Iterator[Violation]:
        if request.pause > 0.0:
            return
        self.bites()
        verdict = self.history.verdicts.get((request.process, request.uid))
        if verdict is None or not verdict.is_permit:
            yield from self.violated(request.t, f"{request.name} was sent without the gate's leave")
        elif request.t - verdict.t > VERDICT_SECONDS:
            age = request.t - verdict.t
            yield from self.violated(request.t, f"{request.name} was sent by a verdict of {age:.1f} s before")
        if request.plan != self.history.ledger.plan:
            newest = self.history.ledger.plan
            yield from self.violated(
                request.t, f"{request.name} was sent for plan {request.plan} while plan {newest} is in force"
            )
        states = [entry.state for entry in self.history.ledger.entries if entry.pod.uid == request.uid]
        if EntryState.SURGING not in states:
            yield from self.violated(request.t, f"{request.name} was sent without an entry; its entries: {states}")

    def _goes(self, effect: Effect, truth: Truth) -> Sequence[Violation]:
        out, request = self._out.get(effect.request.uid), effect.request
        if out is None or effect.pod is None or request.pause > 0.0 or effect.pod.is_terminating:
            return ()
        self.bites()
        left = sum(truth.works(pod) for pod in truth.members(out.workload) if pod.uid != request.uid)
        short = min(out.floor, effect.desired) - left
        losses = self.history.losses
        lost = losses.uids_since(out.workload, out.t) & out.members
        excused = len(lost | losses.uids_since(out.workload, request.t - UNSEEN_SECONDS))
        if short <= 0 or short <= excused:
            return ()
        return self.violated(
            effect.t, f"{request.name} was evicted while {left} others of {out.workload} worked, {out.floor} before; "
            f"{excused} of them were lost",
        )  # fmt: skip


class NothingOut(Checker):
    """I35."""

    name = "I35"
    sentence = (
        "When a round of a process ends, none of the pods that it, or one before it on its machine, took out is out, "
        "unless a call of that round failed or showed what was not so; in the end none is."
    )
    interests = (Effect, Answer, PodChanged, ProcessEvent, RoundEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._out: dict[str, str] = {}
        self._is_excused: defaultdict[str, bool] = defaultdict(bool)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Out, back, gone; and what a round may not have known."""
        if isinstance(event, Effect):
            self._written(event)
        elif isinstance(event, PodChanged):
            if event.new is None and event.old is not None:
                self._out.pop(event.old.uid, None)
            elif event.new is not None and (SURGE not in event.new.annotations or event.new.is_terminating):
                self._out.pop(event.new.uid, None)
        elif isinstance(event, Answer):
            if event.request.fault or event.request.answer not in ("ok", "Accepted"):
                self._is_excused[event.request.process] = True
        elif isinstance(event, ProcessEvent):
            if event.kind in ("start", "pause", "kill", "crash", "wall-clock"):
                self._is_excused[event.process] = event.kind != "start"
        elif isinstance(event, RoundEvent):
            return self._round(event, truth)
        return ()

    def _written(self, effect: Effect) -> None:
        request = effect.request
        if request.body == DETACH:
            self._out[request.uid] = request.process
            self._is_excused[request.process] |= request.effect == "later"

    def _round(self, event: RoundEvent, truth: Truth) -> Sequence[Violation]:
        excused, self._is_excused[event.process] = self._is_excused[event.process], False
        if excused or truth.run.processes > 1:  # type: ignore[attr-defined]
            return ()
        self.bites(len(self._out) or 1)
        mine = [uid for uid, process in self._out.items() if process == event.process]
        out = ", ".join(sorted(pod.key for pod in truth.out() if pod.uid in mine))
        return self.violated(event.t, f"{out} still out after the round of {event.process}") if out else ()

    def at_end(self, truth: Truth) -> Sequence[Violation]:
        """Nobody is out."""
        out = [pod.key for pod in truth.out() if not pod.is_terminating]
        return [found for name in out for found in self.violated(truth.t, f"{name} is out at the end")]


class OwnersWin(Checker):
    """I36."""

    name = "I36"
    sentence = (
        "No pod that is out is evicted when its owners have wanted something else for 10 s before the send; and giving "
        "one back changes nothing but the label and the annotation that taking it out wrote."
    )
    interests = (Request, Effect, PodChanged, WorldEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._out: dict[str, Out] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """What owners want while a pod of theirs is out."""
        for out in self._out.values():
            if out.changed_at is None and marks_of(truth, out.owners) != out.marks:
                out.changed_at = truth.t
        if isinstance(event, PodChanged) and event.new is None and event.old is not None:
            self._out.pop(event.old.uid, None)
        if isinstance(event, Effect):
            return self._written(event, truth)
        if isinstance(event, Request) and event.is_last_step and event.pause == 0.0:
            return self._sent(event)
        return ()

    def _sent(self, request: Request) -> Sequence[Violation]:
        out = self._out.get(request.uid)
        if out is None:
            return ()
        self.bites()
        if out.changed_at is None or request.t - out.changed_at <= OWNER_SECONDS:
            return ()
        ago = request.t - out.changed_at
        return self.violated(request.t, f"{request.name} is evicted, and its owner wanted else {ago:.1f} s before")

    def _written(self, effect: Effect, truth: Truth) -> Sequence[Violation]:
        before, request = effect.pod, effect.request
        if before is None or request.resource != "pods":
            return ()
        if request.body == DETACH:
            self._out[request.uid] = taken_out(effect, truth)
        elif request.body == GIVE_BACK:
            self.bites()
            after = truth.pods.get(before.key)
            self._out.pop(before.uid, None)
            if after is not None and after.uid == before.uid and _others(after) != _others(before):
                return self.violated(effect.t, f"giving {before.key} back changed what was not ours")
        return ()


def taken_out(effect: Effect, truth: Truth) -> Out:
    """What stood when a pod was taken out; the truth is as it is after that."""
    assert effect.pod is not None
    pod, workload = effect.pod, effect.workload
    owners = (*(owner.uid for owner in pod.owners), workload)
    members = truth.members(workload)
    return Out(
        effect.t, effect.request.process, workload, min(effect.ready, effect.desired), owners,
        marks_of(truth, owners), frozenset(one.uid for one in members),
    )  # fmt: skip


def _others(pod: Pod) -> tuple[object, ...]:
    """Labels and annotations that are not of a surge, and what else no surge writes."""
    labels = {key: value.removesuffix(ENDING) if key == TEMPLATE_HASH else value for key, value in pod.labels.items()}
    notes = {key: value for key, value in pod.annotations.items() if key != SURGE}
    return labels, notes, pod.node_name, pod.phase, pod.scheduling_gates, {owner.uid for owner in pod.owners}
