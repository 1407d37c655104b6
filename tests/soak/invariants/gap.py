"""The one gap that no client can close: a pause exactly between the last check and the write."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.trace import Event, ProcessEvent, Request, Violation
from tests.soak.world.truth import Truth


class Gap(Checker):
    """What must hold even then. I1 counts such sends apart."""

    name = "gap"
    sentence = (
        "A pause between the last check and the write lets at most one stale send out per pause; its intent is in the "
        "ledger, and it carries both preconditions."
    )
    interests = (Request, ProcessEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._since_pause: Counter[str] = Counter()

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each send that was held up."""
        if isinstance(event, ProcessEvent):
            if event.kind in ("pause", "start"):
                self._since_pause[event.process] = 0
            return ()
        if not isinstance(event, Request) or not event.is_eviction or event.pause <= 0:
            return ()
        self.bites()
        send = self.history.send_of(event)
        self._since_pause[event.process] += 1
        if self._since_pause[event.process] > 1:
            return self.violated(event.t, f"{event.process} sent {send.key} as a second stale eviction after one pause")
        if not event.uid or not event.resource_version:
            return self.violated(event.t, f"{send.key} was sent without both preconditions after a pause")
        intended = {entry.pod.uid for entry in self.history.ledger.entries}
        if event.uid not in intended:
            return self.violated(event.t, f"{send.key} was sent after a pause, and its intent is not in the ledger")
        return ()
