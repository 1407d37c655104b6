"""I31: everything that we do can be accounted for."""

from __future__ import annotations

from collections.abc import Sequence

from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.trace import Event, Request, Violation
from tests.soak.world.truth import Truth


class Accountability(Checker):
    """I31. Events are made as far as the policy's guidance lets anything be written but evictions."""

    name = "I31"
    sentence = (
        "Each send has a line in the audit log before it, and an entry in the ledger with plan number, reason, origin "
        "and predicted node."
    )
    interests = (Request,)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._lines: set[tuple[str, str]] = set()

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Lines of the audit log, and sends."""
        if not isinstance(event, Request):
            return ()
        if event.resource == "audit":
            self._lines.update((event.process, key) for key in event.body or ())
            return ()
        if not event.is_eviction:
            return ()
        self.bites()
        found: list[Violation] = []
        line = (event.process, f"{event.namespace}/{event.name}")
        if line not in self._lines:
            found += self.violated(event.t, f"{event.name} was sent without a line in the audit log")
        self._lines.discard(line)
        for entry in [entry for entry in self.history.ledger.entries if entry.pod.uid == event.uid][-1:]:
            missing = [
                name for name in ("plan", "reason", "from_node", "to_node", "objective") if not getattr(entry, name)
            ]
            if missing:
                found += self.violated(event.t, f"the entry of {event.name} in the ledger lacks {', '.join(missing)}")
        return found
