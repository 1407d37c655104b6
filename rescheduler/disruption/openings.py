"""When the windows of a policy's budgets open next, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from rescheduler.disruption.windows import next_spans, span_at, told
from rescheduler.policy.budget_sentences import written
from rescheduler.policy.budgets import Budget, names_of

OPENINGS_TOLD = 3


def opening_sentences(budgets: tuple[Budget, ...], now: float) -> Iterator[str]:
    """The next three openings of each window after a moment, in UTC and in its own time zone."""
    for name, budget in zip(names_of(budgets), budgets, strict=True):
        for window in budget.all_windows:
            here = span_at(window, now)
            present = "" if here is None else f" is open until {told(here.end, window.time_zone)}, and"
            times = ", ".join(told(span.start, window.time_zone) for span in next_spans(window, now, OPENINGS_TOLD))
            what = f"{window.type.value} window {written(window)} of budget {name}"
            yield f"{what}{present} opens next at {times}" if times else f"{what} does not open any more"
