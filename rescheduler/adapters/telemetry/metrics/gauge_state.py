"""The state that gauges show: what notices have told, with pauses and the plans that wait."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from rescheduler.model.daemon.notices import ApprovalEnded, ApprovalGiven, ApprovalWanted, Notice, Paused, Resumed
from rescheduler.model.daemon.told_state import ToldState


@dataclass(frozen=True)
class GaugeState(ToldState):
    """Immutable. ``waiting``: when each plan that waits for a person expires; ``paused_until``: None while not paused.

    Of the rounds only the last is kept.
    """

    paused_until: float | None = None
    waiting: Mapping[str, float] = field(default_factory=dict)

    def after(self, notice: Notice) -> Self:
        """The same after one more notice."""
        match notice:
            case Paused():
                return replace(self, paused_until=float("inf") if notice.until is None else notice.until)
            case Resumed():
                return replace(self, paused_until=None)
            case ApprovalWanted():
                return replace(self, waiting={**self.waiting, notice.plan_id: notice.expires_at})
            case ApprovalGiven() | ApprovalEnded():
                left = {plan: expires for plan, expires in self.waiting.items() if plan != notice.plan_id}
                return replace(self, waiting=left)
        state = super().after(notice)
        return replace(state, rounds=state.rounds[-1:])

    def is_paused(self, now: float) -> bool:
        """Whether a person has paused the daemon, and the pause has not ended by itself."""
        return self.paused_until is not None and now < self.paused_until

    def still_waiting(self, now: float) -> Mapping[str, float]:
        """Plans that wait for a person and have not expired."""
        return {plan: expires for plan, expires in self.waiting.items() if now < expires}


class CurrentState:
    """The newest state; notices come from several threads."""

    def __init__(self) -> None:
        self.now = GaugeState()
        self._lock = threading.Lock()

    def hear(self, notice: Notice) -> None:
        """Take one more notice in."""
        with self._lock:
            self.now = self.now.after(notice)
