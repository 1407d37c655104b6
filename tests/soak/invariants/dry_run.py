"""I24: who may not act sends nothing that could change anything."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.policy.fields.policy import Mode
from tests.soak.invariants.checker import Checker
from tests.soak.trace import Event, Request, Violation
from tests.soak.world.truth import Truth


class DryRun(Checker):
    """I24. The audit log is a local file and not on the wire."""

    name = "I24"
    sentence = "While a process's policy does not say Execute, mutating requests on the wire = 0, dry runs included."
    interests = (Request,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each request."""
        if not isinstance(event, Request):
            return ()
        policy = self.history.policies.get(event.process)
        if policy is None or policy.mode is Mode.EXECUTE:
            return ()
        self.bites()
        if event.verb in ("get", "list") or event.resource == "audit":
            return ()
        dry = " (dry run)" if event.dry_run else ""
        return self.violated(
            event.t, f"{event.verb} {event.resource} {event.name}{dry} was sent under mode {policy.mode.value}"
        )
