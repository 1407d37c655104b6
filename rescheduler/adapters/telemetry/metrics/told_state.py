"""How a daemon stands, by what its notices have told; for metrics."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from rescheduler.model.daemon.notices import (
    ApprovalEnded,
    ApprovalGiven,
    ApprovalWanted,
    LeadershipChanged,
    Notice,
    Paused,
    PolicyHeld,
    PolicyKept,
    PolicyLoaded,
    Resumed,
    RoundEnded,
    Started,
    SyncChanged,
)
from rescheduler.model.daemon.rounds import RoundReport


@dataclass(frozen=True)
class DaemonState:
    """Immutable. ``waiting``: when each plan that waits for a person expires; ``synced``: by kind.

    ``paused_until``: None while not paused.
    """

    mode: str = ""
    policy: str = ""
    policy_id: str = ""
    is_held: bool = False
    is_valid: bool = True
    is_leader: bool = True
    paused_until: float | None = None
    waiting: Mapping[str, float] = field(default_factory=dict)
    synced: Mapping[str, bool] = field(default_factory=dict)
    report: RoundReport | None = None

    def after(self, notice: Notice) -> DaemonState:
        """The same after one more notice."""
        match notice:
            case Started():
                return replace(self, mode=notice.mode, policy_id=notice.policy_id)
            case PolicyLoaded(policy_id=known, name=name, mode=mode):
                return replace(self, mode=mode, policy=name, policy_id=known, is_held=False, is_valid=True)
            case PolicyHeld():
                return replace(self, is_held=True, is_valid=True)
            case PolicyKept():
                return replace(self, is_held=False, is_valid=False)
            case LeadershipChanged():
                return replace(self, is_leader=notice.is_leader)
            case Paused():
                return replace(self, paused_until=float("inf") if notice.until is None else notice.until)
            case Resumed():
                return replace(self, paused_until=None)
            case ApprovalWanted():
                return replace(self, waiting={**self.waiting, notice.plan_id: notice.expires_at})
            case ApprovalGiven() | ApprovalEnded():
                left = {plan: expires for plan, expires in self.waiting.items() if plan != notice.plan_id}
                return replace(self, waiting=left)
            case SyncChanged():
                return replace(self, synced={**self.synced, notice.kind: notice.is_synced})
            case RoundEnded():
                return replace(self, report=notice.report)
        return self

    def is_paused(self, now: float) -> bool:
        """Whether a person has paused the daemon, and the pause has not ended by itself."""
        return self.paused_until is not None and now < self.paused_until

    def still_waiting(self, now: float) -> Mapping[str, float]:
        """Plans that wait for a person and have not expired."""
        return {plan: expires for plan, expires in self.waiting.items() if now < expires}


class CurrentState:
    """The newest state; notices come from several threads."""

    def __init__(self) -> None:
        self.now = DaemonState()
        self._lock = threading.Lock()

    def hear(self, notice: Notice) -> None:
        """Take one more notice in."""
        with self._lock:
            self.now = self.now.after(notice)
