"""I7 again: nobody acts on what an API server shows of the past, once that can be told."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.model.objects.cluster import Cluster
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.history import History
from tests.soak.trace import Answer, Event, ProcessEvent, Request, Violation
from tests.soak.world.truth import Truth

RESTORED_SECONDS = 890.0


class OlderStates(Checker):
    """By the versions of pods alone: the newest list shows one lower than a list before did to the same process."""

    name = "I7"
    sentence = (
        "No eviction is sent while the newest list that the process was shown holds a pod at a lower version than an "
        "earlier one did; what is shown for 15 minutes is a backup that was restored."
    )
    interests = (Answer, Request, ProcessEvent)

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._seen: dict[str, dict[str, int]] = {}
        self._older: dict[str, str | None] = {}
        self._since: dict[str, float] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each list, and each eviction in earnest; a process that starts has seen nothing."""
        if isinstance(event, ProcessEvent):
            if event.kind == "start":
                self._seen[event.process], self._older[event.process] = {}, None
        elif isinstance(event, Answer):
            if isinstance(event.shown, Cluster):
                self._shown(event.t, event.request.process, event.shown)
        elif isinstance(event, Request) and event.is_eviction and not event.pause:
            self.bites()
            older = self._older.get(event.process)
            if older is not None:
                return self.violated(event.t, f"{event.namespace}/{event.name} was sent on a list of the past: {older}")
        return ()

    def _shown(self, t: float, process: str, cluster: Cluster) -> None:
        seen = self._seen.setdefault(process, {})
        shown = {
            pod.uid: (pod.key, int(pod.resource_version or 0))
            for pod in cluster.pods if "app.kubernetes.io/managed-by" not in pod.labels
        }  # fmt: skip
        older = [(key, number, seen[uid]) for uid, (key, number) in shown.items() if number < seen.get(uid, 0)]
        if not older or t - self._since.setdefault(process, t) >= RESTORED_SECONDS:
            self._since.pop(process, None)
            self._older[process] = None
            seen.update({uid: number for uid, (_, number) in shown.items()})
        else:
            self._older[process] = "{} at version {}, seen at {}".format(*older[0])
