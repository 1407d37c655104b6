"""The scheduler's queue: active pods, pods in back-off, and pods that wait for something to change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.model.objects.pod import Pod


@dataclass
class _Waiting:
    pod: Pod
    order: int
    since: float
    attempts: int = 0
    state: str = "Active"  # Active | Backoff | Unschedulable

    @property
    def rank(self) -> tuple[int, float, int]:
        """Higher priority first, then who has waited longest since its last attempt, then who came first."""
        return -self.pod.spec.priority, self.since, self.order


class SchedulingQueue:
    """Pods that wait for a node, in kube-scheduler's order.

    A pod that failed waits until an event wakes it; if its back-off (1 s, doubled with each failure up to 10 s) has
    not passed by then, it waits that out. Where the settings say so, an idle scheduler takes it before.
    """

    def __init__(self, clock: SimulatedClock, settings: SimulationSettings, on_ready: Callable[[], None]) -> None:
        self._clock = clock
        self._settings = settings
        self._on_ready = on_ready
        self._order = count()
        self._waiting: dict[str, _Waiting] = {}

    def add(self, pod: Pod) -> None:
        """Queue a new pod, ready to be tried."""
        self._waiting[pod.key] = _Waiting(pod, next(self._order), self._clock.monotonic())
        self._on_ready()

    def remove(self, pod: Pod) -> None:
        """Forget a pod that is bound or gone."""
        self._waiting.pop(pod.key, None)

    def holds(self, pod: Pod) -> bool:
        """True if the pod is queued."""
        waiting = self._waiting.get(pod.key)
        return waiting is not None and waiting.pod.uid == pod.uid

    def pop(self) -> Pod | None:
        """Take the next pod to try; None if none is ready."""
        active = [item for item in self._waiting.values() if item.state == "Active"]
        if not active and self._settings.pops_from_backoff:
            backing_off = [item for item in self._waiting.values() if item.state == "Backoff"]
            active = sorted(backing_off, key=lambda item: (self._backoff_ends_at(item), item.rank))[:1]
        if not active:
            return None
        chosen = min(active, key=lambda item: item.rank)
        chosen.attempts += 1
        chosen.state = "Unschedulable"  # until the scheduler binds it
        return chosen.pod

    def failed(self, pod: Pod) -> None:
        """The pod was tried in vain: it waits for an event, at most five minutes."""
        waiting = self._waiting[pod.key]
        waiting.since = self._clock.monotonic()
        attempts = waiting.attempts
        seconds = self._settings.unschedulable_flush_seconds
        self._clock.after(seconds, lambda: self._flush(waiting, attempts), is_background=True)

    def wake(self, is_concerned: Callable[[Pod], bool] | None = None) -> None:
        """Something changed that may let waiting pods fit: those concerned are tried again after their back-off."""
        for waiting in list(self._waiting.values()):
            if waiting.state == "Unschedulable" and (is_concerned is None or is_concerned(waiting.pod)):
                self._requeue(waiting)

    def _requeue(self, waiting: _Waiting) -> None:
        left = self._backoff_ends_at(waiting) - self._clock.monotonic()
        waiting.state = "Backoff" if left > 0 else "Active"
        if left > 0:
            attempts = waiting.attempts
            self._clock.after(left, lambda: self._backoff_over(waiting, attempts))
        if left <= 0 or self._settings.pops_from_backoff:
            self._on_ready()

    def _backoff_ends_at(self, waiting: _Waiting) -> float:
        first, longest = self._settings.first_backoff_seconds, self._settings.longest_backoff_seconds
        # 2 ** 30 is past any longest back-off; the cap keeps the power from overflowing.
        return waiting.since + min(longest, first * 2.0 ** min(30, max(0, waiting.attempts - 1)))

    def _backoff_over(self, waiting: _Waiting, attempts: int) -> None:
        if self._is_still(waiting, "Backoff", attempts):
            waiting.state = "Active"
            self._on_ready()

    def _flush(self, waiting: _Waiting, attempts: int) -> None:
        if self._is_still(waiting, "Unschedulable", attempts):
            self._requeue(waiting)

    def _is_still(self, waiting: _Waiting, state: str, attempts: int) -> bool:
        """Whether the pod waits as it did when an alarm was set: it may be gone, or have been tried again since."""
        is_current = self._waiting.get(waiting.pod.key) is waiting
        return is_current and (waiting.state, waiting.attempts) == (state, attempts)
