"""I30: outside of a window nothing is moved."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim

from rescheduler.policy.fields.budgets import Budget
from rescheduler.policy.fields.windows import Window, WindowType
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.scopes import covers, named
from tests.soak.trace import Event, Request, Violation
from tests.soak.world.truth import Truth

SLACK_SECONDS = 15.0
"""A snapshot may be 10 s old, and its time is that of all questions."""


class Windows(Checker):
    """I30, of time; I10 has what is in scope. Clocks that are wrong by more than the slack are I25's business."""

    name = "I30"
    sentence = (
        "Outside of a budget's Allow windows, and inside of its Freeze windows, nothing that it covers is evicted. "
        "Empty selects nothing."
    )
    interests = (Request,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction as it is sent."""
        if not isinstance(event, Request) or not event.is_eviction:
            return ()
        send = self.history.send_of(event)
        policy = self.history.policies.get(event.process)
        if policy is None or send.pod is None or send.in_gap or self.history.jumps:
            return ()
        found: list[Violation] = []
        for number, budget in enumerate(policy.disruption.budgets):
            if covers(budget, send.pod) and budget.all_windows:
                self.bites()
                if is_closed(budget, truth.epoch()):
                    found += self.violated(
                        send.t, f"{send.key} was sent outside of the windows of {named(budget, number)}"
                    )
        return found


def is_closed(budget: Budget, now: float) -> bool:
    """Whether a budget's windows keep its pods where they are, at a moment and shortly before and after it."""
    return all(_is_closed_at(budget, now + shift) for shift in (-SLACK_SECONDS, 0.0, SLACK_SECONDS))


def _is_closed_at(budget: Budget, now: float) -> bool:
    allow = [window for window in budget.all_windows if window.type is WindowType.ALLOW]
    freeze = [window for window in budget.all_windows if window.type is WindowType.FREEZE]
    if any(is_open(window, now) for window in freeze):
        return True
    return bool(allow) and not any(is_open(window, now) for window in allow)


def is_open(window: Window, now: float) -> bool:
    """Whether a window is open: some opening lies not further back than its duration."""
    return _is_open(window.schedule, window.duration, window.time_zone, int(now))


@lru_cache(maxsize=4096)
def _is_open(schedule: str, duration: float, zone: str, now: int) -> bool:
    start = datetime.fromtimestamp(now - duration, ZoneInfo(zone))
    opening = next(CronSim(schedule, start), None)
    return opening is not None and opening.timestamp() <= now
