"""The life of a pod on its node: it starts, becomes ready, and ends after its grace."""

from __future__ import annotations

from msgspec import structs

from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.model.objects.pod import Pod

NOTICED_SECONDS = 1.0
"""How long a kubelet takes to find out that a pod cannot run."""


class Kubelet:
    """All kubelets at once."""

    def __init__(self, store: ObjectStore, settings: SimulationSettings) -> None:
        self._store = store
        self._settings = settings
        store.on_pod_change(self._pod_changed)
        for pod in list(store.pods.values()):
            self._take_over(pod)

    def delete(self, pod: Pod) -> None:
        """Begin a deletion as the API server does: with a grace where the pod is on a node and has not ended."""
        if pod.node_name is None or pod.is_finished:
            self._store.remove_pod(pod.key)
        elif not pod.is_terminating:
            deletion_at = self._store.clock.now() + pod.spec.termination_grace_seconds
            terminating = self._store.put_pod(structs.replace(pod, deletion_at=deletion_at))
            self._store.event("Killing", terminating)
            self._end_later(terminating)

    def _take_over(self, pod: Pod) -> None:
        """Go on with what was under way when the recording was made."""
        if pod.node_name is None or pod.is_finished:
            return
        if pod.is_terminating:
            self._end_later(pod)
        elif pod.phase == "Pending":
            self._start_later(pod)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        if new is not None and new.node_name is not None and (old is None or old.node_name is None):
            self._take_over(new)

    def _start_later(self, pod: Pod) -> None:
        refused, trouble = self._settings.refuses(pod), self._settings.troubles(pod)
        if refused or trouble:
            phase = "Failed" if refused else "Pending"
            self._store.clock.after(NOTICED_SECONDS, lambda: self._fail(pod, phase, refused or trouble))
            return
        seconds = self._settings.startup_of(pod)
        self._store.clock.after(seconds or 0.0, lambda: self._start(pod, is_ready=seconds is not None))

    def _start(self, pod: Pod, *, is_ready: bool) -> None:
        now = self._store.same(pod)
        if now is not None and now.is_active:
            at = self._store.clock.now()
            ready_at = at if is_ready else None
            self._store.put_pod(
                structs.replace(now, phase="Running", is_ready=is_ready, started_at=at, ready_at=ready_at)
            )
            self._store.event("Started", now)

    def _fail(self, pod: Pod, phase: str, why: str) -> None:
        now = self._store.same(pod)
        if now is not None and not now.is_terminating:
            self._store.put_pod(structs.replace(now, phase=phase, is_ready=False, trouble=why))
            self._store.event("Failed", now, why)

    def _end_later(self, pod: Pod) -> None:
        self._store.clock.after(self._settings.termination_of(pod), lambda: self._end(pod))

    def _end(self, pod: Pod) -> None:
        if self._store.same(pod) is not None:
            self._store.remove_pod(pod.key)
