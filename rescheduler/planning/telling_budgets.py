"""Which budgets hold an objective back, for the end of its message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from rescheduler.model.disruption import Eligibility
from rescheduler.model.plan import PodReference
from rescheduler.planning.goals.goal import Goal
from rescheduler.planning.question import Answer, Question
from rescheduler.planning.rations import Rations, left_of

MOST_TOLD = 2
RULE = "Budget"


def budgets_that_bar(eligibility: Eligibility) -> list[str]:
    """Why budgets keep pods where they are: each reason once with the number of its pods, the most frequent first."""
    reasons: Counter[str] = Counter()
    for refusal in eligibility.refusals.values():
        if refusal.rule == RULE and isinstance(refusal.pod, PodReference):
            reasons[refusal.message.removeprefix(f"{refusal.pod.key} is covered by ")] += 1
    found = [f"{count} pod{'s' if count != 1 else ''} stay because of {text}" for text, count in reasons.most_common()]
    more = len(found) - MOST_TOLD
    return found[:MOST_TOLD] + ([f"and {more} more reasons of budgets"] if more > 0 else [])


def told_of_budgets(
    goal: Goal, answer: Answer, question: Question, rations: Rations | None, barring: Sequence[str]
) -> Answer:
    """The answer, naming what budgets keep in place and rates that are used up, where more could be wished for."""
    has_all = answer.helped == answer.wanted
    if answer.helped is None:
        has_all = answer.value <= 0 and not goal.is_better_higher
    if has_all:
        return answer
    left = left_of(() if rations is None else rations.limits, question.placement)
    moved = {move.pod for move in answer.moves}
    spent = [
        f"{ration} leaves no more evictions"
        for ration in left
        if ration.allowed <= len(moved & ration.pods) and ration.name not in answer.message
    ]
    return replace(answer, message="; ".join([answer.message, *barring, *spent])) if barring or spent else answer
