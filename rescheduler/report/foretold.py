"""What somebody else's rules would do, as tables: victims, where they land, and who would not let them go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.plan.foretold_plan import ForetoldPlan, Landing
from rescheduler.report.cells import cell, plural, table

MOST_SHOWN = 60
_ENDS = {
    Landing.OTHER_NODE: "to another node",
    Landing.SAME_NODE: "back to their own node",
    Landing.PENDING: "left waiting",
    Landing.NO_REPLACEMENT: "not made again",
}


def foretold_report(plan: ForetoldPlan, *, wide: bool) -> Iterator[RenderableType]:
    """Headline, one line a plugin, victims in order, and those that our gate or the API server would not let go."""
    yield cell(_headline(plan), "bold")
    for result in plan.objectives:
        evictions = plural(int(result.value or 0), "eviction")
        yield cell(f"{result.name}: {evictions}{f' ({result.message})' if result.message else ''}")
    moves = plan.moves if wide else plan.moves[:MOST_SHOWN]
    if moves:
        yield Text()
        headings = ["ORDER", "WAVE", "POD", "FROM", "LANDING", "PLUGIN", "WHY", *(["UID"] if wide else [])]
        rows = (
            [
                move.order,
                move.wave,
                move.pod.key,
                move.from_node,
                move.landing.value if move.to_node is None else f"{move.landing.value} {move.to_node}",
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


def _headline(plan: ForetoldPlan) -> str:
    tried = len(plan.moves) + len(plan.refusals)
    if not tried:
        return "descheduler would evict nothing"
    ends = Counter(move.landing for move in plan.moves)
    told = ", ".join(f"{count} {_ENDS[landing]}" for landing, count in sorted(ends.items()))
    refused = f"; {len(plan.refusals)} refused" if plan.refusals else ""
    return f"descheduler would ask for {plural(tried, 'eviction')}: {told or 'none goes'}{refused}"


def _refused(plan: ForetoldPlan, *, wide: bool) -> Iterator[RenderableType]:
    shown = plan.refusals if wide else plan.refusals[:MOST_SHOWN]
    if not shown:
        return
    yield Text()
    rows = (
        [
            refusal.order,
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
