"""I8 and I20: the ledger is written before anything is sent, and decides whose plan is in force."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rescheduler.model.daemon.ledger import EntryState
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.history import History
from tests.soak.trace import Effect, Event, Request, Violation
from tests.soak.world.truth import Truth


class Fencing(Checker):
    """I8."""

    name = "I8"
    sentence = (
        "Plan number of every send = the highest committed. A superseded plan sends nothing, and no two processes have "
        "plans of one number."
    )
    interests = (Request,)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._owner: dict[int, str] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction as it is sent."""
        if not isinstance(event, Request) or not event.is_eviction:
            return ()
        send = self.history.send_of(event)
        if send.in_gap:
            return ()
        self.bites()
        highest = self.history.ledger.plan
        if event.plan != highest:
            return self.violated(send.t, f"{send.key} was sent for plan {event.plan} while plan {highest} is in force")
        if self._owner.setdefault(event.plan, event.process) != event.process:
            return self.violated(send.t, f"{send.key} was sent for plan {event.plan}, which is not of {event.process}")
        return ()


class IntentFirst(Checker):
    """I20. What was written before a kill is what the next process knows."""

    name = "I20"
    sentence = (
        "For a kill at any point of any call: each eviction has an intent of its own in the ledger before it is sent, "
        "and each pod UID gets at most one accepted eviction from us."
    )
    interests = (Request, Effect)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._sent: Counter[str] = Counter()
        self._accepted: dict[str, float] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """The intent at the send, the count at the effect."""
        if isinstance(event, Request) and event.is_eviction:
            return self._intended(self.history.send_of(event))
        if isinstance(event, Effect) and event.request.is_eviction:
            return self._once(event)
        return ()

    def _intended(self, send: Send) -> Sequence[Violation]:
        uid = send.request.uid
        self._sent[uid] += 1
        self.bites()
        entries = [entry for entry in self.history.ledger.entries if entry.pod.uid == uid]
        # While a process stood still right before the write, others may have found the pod unharmed.
        waiting = entries if send.in_gap else [entry for entry in entries if entry.state is EntryState.INTENDED]
        if waiting and len(entries) >= self._sent[uid]:
            return ()
        states = ", ".join(entry.state.value for entry in entries) or "none"
        return self.violated(
            send.t, f"{send.key} was sent {self._sent[uid]} times; its entries in the ledger: {states}"
        )

    def _once(self, effect: Effect) -> Sequence[Violation]:
        uid = effect.request.uid
        before = self._accepted.setdefault(uid, effect.t)
        if before == effect.t:
            return ()
        return self.violated(effect.t, f"pod {uid} ({effect.request.name}) was evicted at {before:.1f} already")
