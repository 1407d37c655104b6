"""What a plan to empty nodes says of itself: how many, at what price, what is proven, and what stands in the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rescheduler.model.plan import Refusal
from rescheduler.planning.empty_nodes.situation import Situation
from rescheduler.planning.empty_nodes.solution import Solution

_MOST_NAMED = 8


def describe(
    situation: Situation,
    solution: Solution,
    bound: float,
    refusals: Sequence[Refusal],
    limits: Sequence[str],
    notes: Sequence[str],
) -> str:
    """The message of an answer."""
    parts = [_summary(situation, solution), _proof(situation, solution, bound)]
    if limits and solution.value < _all_that_could_be(situation):
        parts.append(f"{' and '.join(limits)} {'leaves' if len(limits) == 1 else 'leave'} too little for other nodes")
    if refusals:
        rules = Counter(refusal.rule for refusal in refusals)
        told = ", ".join(f"{count} by {rule}" for rule, count in rules.most_common(3))
        parts.append(f"{_nodes(len(refusals))} kept in use by pods that must stay ({told})")
    if not solution.emptied and not notes:
        parts.append(_why_none(situation))
    return "; ".join([part for part in parts if part] + list(notes))


def _summary(situation: Situation, solution: Solution) -> str:
    if not solution.emptied:
        return "no node is emptied"
    names = [situation.columns.cluster.nodes[node].name for node in solution.emptied]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    count = solution.evictions
    told = f"{_nodes(len(names))} emptied by {count} eviction{'s' if count != 1 else ''}: "
    told += ", ".join(names[:_MOST_NAMED]) + more
    used = round(len(names) - solution.value) if _counts_nodes(situation) else 0
    if used > 0:
        told += (
            f"; {_nodes(used)} that {'was' if used == 1 else 'were'} empty are used instead, and taken off the value"
        )
    if not _counts_nodes(situation):
        told += f"; worth {solution.value:g}"
    return told


def _proof(situation: Situation, solution: Solution, bound: float) -> str:
    if not _is_below(solution.value, bound):
        return "proven: no plan reaches more" if solution.emptied else "proven: no plan empties any"
    unit = "nodes" if _counts_nodes(situation) else "in price"
    return f"more is not ruled out: at most {bound:g} {unit if bound != 1 else unit.removesuffix('s')}"


def _why_none(situation: Situation) -> str:
    if not (situation.is_source & (situation.pods_on > 0)).any():
        return "every node that may be emptied is empty already" if situation.is_source.any() else "no node is selected"
    if not len(situation.candidates):
        return "on every node in use some pod must stay, or a limit is exceeded"
    return f"the pods of {_nodes(len(situation.candidates))} that could be emptied do not find room elsewhere"


def _all_that_could_be(situation: Situation) -> float:
    return float(situation.price[situation.is_source & (situation.pods_on > 0)].sum())


def _counts_nodes(situation: Situation) -> bool:
    return bool((situation.price[situation.is_source] == 1).all())


def _nodes(number: int) -> str:
    return f"{number} node{'s' if number != 1 else ''}"


def _is_below(value: float, bound: float) -> bool:
    return value < bound - 1e-9 * max(1.0, abs(bound))
