"""What a plan to spread load says of itself: before and after, what is proven, which nodes stay hot, and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rescheduler.model.plan import Refusal
from rescheduler.model.usage import FloatArray
from rescheduler.planning.improvement.improve import Improvement
from rescheduler.planning.question import Question
from rescheduler.planning.spread_load.state import LoadState
from rescheduler.planning.spread_load.telling import Telling


class Before:
    """The start, as it is told beside the end: ``use`` and ``over`` are float64[K, N]."""

    def __init__(self, state: LoadState) -> None:
        """Copy what will change."""
        self.use: FloatArray = state.use()
        self.over: FloatArray = state.over().copy()


def describe(
    question: Question,
    before: Before,
    state: LoadState,
    plan: Improvement,
    bound: float,
    refusals: Sequence[Refusal],
    notes: Sequence[str],
) -> str:
    """The message of an answer."""
    parts = [_summary(question, before, state, plan)]
    if plan.cost_before > 0:
        parts.append(_proof(plan.cost_after, bound))
    hot = int(state.hot().sum())
    if hot:
        rules = Counter(refusal.rule for refusal in refusals)
        told = ", ".join(f"{count} by {rule}" for rule, count in rules.most_common(3))
        told = f"of the hottest {len(refusals)}: {told}" if len(refusals) < hot else told
        parts.append(f"{_nodes(hot)} still above the target ({told})")
    if question.move_cost:
        parts.append(
            f"an eviction of ordinary price costs {question.move_cost:g}; moves that gain no more are left out"
        )
    unknown = int((~state.load.is_known).sum())
    if unknown:
        parts.append(f"the load of {_nodes(unknown)} is not known or not trusted: neither judged nor sent anything")
    return "; ".join([*parts, *notes])


def _summary(question: Question, before: Before, state: LoadState, plan: Improvement) -> str:
    if not state.load.resources or not state.load.is_known.any():
        return "no node has a load that could be judged"
    telling = Telling(question.prediction.columns.cluster, state.load)
    if not plan.cost_before:
        return f"no node is above its target; the nearest is {telling.hottest(before.use)}"
    start, end = telling.excess(before.over), telling.excess(state.over())
    if not plan.evictions:
        return f"{start} above the target, and no allowed move helps; hottest {telling.hottest(before.use)}"
    count = plan.evictions
    return (
        f"{start} above the target before, {end} after {count} eviction{'s' if count != 1 else ''};"
        f" hottest {telling.hottest(before.use)} before, {telling.hottest(state.use())} after"
    )


def _proof(value: float, bound: float) -> str:
    if value <= bound:
        return "proven: no plan leaves less"
    return f"less is not ruled out: at least {bound:.3g} of {value:.3g} average nodes' worth stays"


def _nodes(number: int) -> str:
    return f"{number} node{'s' if number != 1 else ''}"
