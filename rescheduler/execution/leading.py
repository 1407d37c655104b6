"""Leads one pending pod into the room that is kept for it: nominate, let go of the room, and again if that failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from rescheduler.execution.holding import Hold
from rescheduler.execution.holds import Holds
from rescheduler.extension_points import Clock, ExecutionTarget
from rescheduler.model.plan import PodReference

FIRST_PATIENCE_SECONDS: Final = 2.0


@dataclass
class _Lead:
    """``hold``: what kept the room. ``due_at``: when to try again."""

    hold: Hold | None
    patience_seconds: float
    due_at: float


class Leader:
    """Leads pods that are pending. Does nothing but release room while ``is_guided`` is False.

    The order matters: a pod that is tried while its own placeholder stands fails, and that clears its nomination. So
    the nomination comes right before the release, which makes the scheduler try again; and where the try failed all
    the same, the room is kept and released anew, since nothing else would wake the pod.
    """

    def __init__(self, target: ExecutionTarget, holds: Holds, clock: Clock) -> None:
        self.is_guided = False
        self._target = target
        self._holds = holds
        self._clock = clock
        self._leads: dict[PodReference, _Lead] = {}

    def lead(self, pod: PodReference, node: str, holder: PodReference, *, after_seconds: float = 0.0) -> None:
        """Lead a pod to a node whose room is kept under the name of ``holder``; to be called while it is pending.

        ``after_seconds``: the time a pod is given to be bound without us, from the first call on.
        """
        if not self.is_guided:
            return
        now = self._clock.monotonic()
        lead = self._leads.setdefault(pod, _Lead(self._holds.of(holder), FIRST_PATIENCE_SECONDS, now + after_seconds))
        if now < lead.due_at:
            return
        if lead.hold is not None and self._holds.of(holder) is None:
            self._holds.set([lead.hold])
        self._target.nominate(pod, node)
        self._holds.release([holder])
        lead.due_at = self._clock.monotonic() + lead.patience_seconds
        lead.patience_seconds *= 2

    def suggest(self, pod: PodReference, node: str) -> None:
        """Nominate a pod for room that is free already."""
        if self.is_guided:
            self._target.nominate(pod, node)
