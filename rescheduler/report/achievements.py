"""What each objective has reached, in words."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.model.plan import ObjectiveResult
from rescheduler.report.cells import plural
from rescheduler.report.numbers import number


def achievement(objective: ObjectiveResult) -> str:
    """What got better, without what it cost: "12 nodes emptied"; objectives that are not known by name as numbers."""
    if isinstance(objective.wanted, int):
        return _places(objective)
    if objective.value is None:
        return "no answer"
    words = _WORDS.get(objective.name)
    return _plain(objective.value, objective.unit) if words is None else words(objective.value, objective.unit)


def _places(objective: ObjectiveResult) -> str:
    if objective.wanted == 0:
        return "no pending pod waits for room"
    helped = objective.helped if isinstance(objective.helped, int) else 0
    pods = "pending pod gets" if objective.wanted == 1 else "pending pods get"
    return f"{helped} of {objective.wanted} {pods} a place"


def _emptied(value: float, unit: str) -> str:
    if value == 0:
        return "no node is emptied"
    if unit in ("node", "nodes", ""):
        return f"{plural(value, 'node')} emptied"
    return f"emptied nodes worth {number(value)} ({unit})"


def _overload(value: float, unit: str) -> str:
    if value == 0:
        return "no load above the target is left"
    amount = _plain(value, unit)
    return f"{amount} left" if "overload" in unit else f"{amount} of load above the target left"


def _antagonists(value: float, unit: str) -> str:
    if value == 0:
        return "no antagonists share a node"
    return f"{_plain(value, unit or 'pairs')} of antagonists left on one node"


def _shapes(value: float, unit: str) -> str:
    return f"room for {_plain(value, unit or 'shapes')}"


def _violations(value: float, unit: str) -> str:
    if value == 0:
        return "no spread, affinity or taint rule is violated"
    return f"{_plain(value, unit or 'violations')} of spread, affinity or taint rules left"


def _points(value: float, unit: str) -> str:
    if value == 0:
        return "no move raises the scheduler's score enough"
    return f"the scheduler's score rises by {_plain(value, unit.removeprefix('score ') or 'points')}"


def _plain(value: float, unit: str) -> str:
    """``3 pairs``, ``1 pair``; only units of one word have a singular."""
    single = unit.removesuffix("s") if unit.isalpha() else unit
    return f"{number(value)} {single if value == 1 else unit}".rstrip()


_WORDS: dict[str, Callable[[float, str], str]] = {
    "EmptyNodes": _emptied,
    "SpreadLoad": _overload,
    "SeparateAntagonists": _antagonists,
    "Defragment": _shapes,
    "FaultDomains": _violations,
    "SchedulerScore": _points,
}
