"""What somebody else's rules would do, as tables: victims, where they land, and who would not let them go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET
from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.plan.foretold_plan import ForetoldMove, ForetoldOutcome, ForetoldPlan, ForetoldResult
from rescheduler.model.plan.plan import Landing
from rescheduler.report.cells import cell, plural, table

MOST_SHOWN = 60
_ENDS = {
    Landing.OTHER_NODE: "to another node",
    Landing.SAME_NODE: "back to their own node",
    Landing.PENDING: "left waiting",
    Landing.NO_REPLACEMENT: "not made again",
}


def foretold_report(plan: ForetoldPlan | ForetoldResult, *, wide: bool) -> Iterator[RenderableType]:
    """Headline, one line a plugin, victims in order, and those that our gate or the API server would not let go."""
    yield cell(_headline(plan), "bold")
    for result in plan.objectives:
        evictions = plural(int(result.value or 0), "eviction")
        yield cell(f"{result.name}: {evictions}{f' ({result.message})' if result.message else ''}")
    moves = plan.moves if wide else plan.moves[:MOST_SHOWN]
    if moves:
        yield Text()
        ended = ["OUTCOME"] if isinstance(plan, ForetoldResult) else []
        headings = ["ORDER", "WAVE", "POD", "FROM", "LANDING", *ended, "PLUGIN", "WHY", *(["UID"] if wide else [])]
        rows = (
            [
                "" if move.order is UNSET else move.order,
                move.wave,
                move.pod.key,
                move.from_node,
                move.landing.value if move.to_node is None else f"{move.landing.value} {move.to_node}",
                *_ended(move),
                move.objective,
                move.message,
                *([move.pod.uid] if wide else []),
            ]
            for move in moves
        )
        yield table(headings, rows, right=["ORDER", "WAVE"])
    if len(moves) < len(plan.moves):
        yield cell(f"and {len(plan.moves) - len(moves)} more; -o wide lists each of them.", "dim")
    yield from _refused(plan, wide=wide)
    if isinstance(plan, ForetoldResult) and plan.message:
        yield Text()
        yield cell(plan.message)


def _ended(move: ForetoldMove) -> list[str]:
    """What became of a move, where one is told."""
    if not isinstance(move, ForetoldOutcome):
        return []
    where = "" if move.landed_on is None else f" on {move.landed_on}"
    return [f"{move.outcome.value}{where}"]


def _headline(plan: ForetoldPlan | ForetoldResult) -> str:
    tried = len(plan.moves) + len(plan.refusals)
    if not tried:
        return "descheduler would evict nothing"
    if isinstance(plan, ForetoldResult):
        outcomes = Counter(move.outcome for move in plan.moves)
        told = ", ".join(f"{count} {outcome.value}" for outcome, count in sorted(outcomes.items()))
        return f"carried out: {told or 'nothing'}"
    ends = Counter(move.landing for move in plan.moves)
    told = ", ".join(f"{count} {_ENDS[landing]}" for landing, count in sorted(ends.items()))
    refused = f"; {len(plan.refusals)} refused" if plan.refusals else ""
    return f"descheduler would ask for {plural(tried, 'eviction')}: {told or 'none goes'}{refused}"


def _refused(plan: ForetoldPlan | ForetoldResult, *, wide: bool) -> Iterator[RenderableType]:
    shown = plan.refusals if wide else plan.refusals[:MOST_SHOWN]
    if not shown:
        return
    yield Text()
    rows = (
        [
            "" if refusal.order is UNSET else refusal.order,
            refusal.pod.key,
            refusal.chosen_by,
            "the API server" if refusal.server_would_refuse is True else refusal.rule,
            refusal.message,
        ]
        for refusal in shown
    )
    yield table(["ORDER", "REFUSED", "PLUGIN", "BY", "WHY"], rows, right=["ORDER"])
    if len(shown) < len(plan.refusals):
        yield cell(f"and {len(plan.refusals) - len(shown)} more; -o wide lists each of them.", "dim")
