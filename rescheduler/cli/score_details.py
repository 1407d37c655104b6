"""How the scores of one pod come about, node by node, for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING

from rescheduler.model.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from rescheduler.scheduling.reports import NodeScores
    from rescheduler.scheduling.score_details import Sample, ScoreDetails, ScoreLine

NARROWEST_TEXT = 50


def sample_line(sample: Sample) -> str:
    """What it means that the scheduler stops looking once it has found enough feasible nodes."""
    return (
        f"the scheduler scores {sample.scored} of the {sample.feasible} feasible nodes, and which cannot be known: "
        f"the pod may go to any of the {sample.possible} nodes with a total of {sample.least} and more"
    )


def details_by_node(details: ScoreDetails, nodes: Sequence[NodeScores]) -> Iterator[RenderableType]:
    """Under the name and total of each feasible node a line for each plugin."""
    from rich.text import Text

    from rescheduler.report.cells import cell

    lines = details.lines({node.node for node in nodes})
    for node in nodes:
        if lines.get(node.node):
            yield Text()
            yield cell(f"{node.node}: {node.total}", "bold")
            yield _Lines(lines[node.node])


class _Lines:
    """Plugin, points and text side by side, or the text below the others where there is little room for it."""

    def __init__(self, lines: Sequence[ScoreLine]) -> None:
        self._rows = [
            (printable(line.plugin), f"{line.weight} x {line.score} = {line.weight * line.score}", printable(line.text))
            for line in lines
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        # Laid out by hand: for thousands of nodes a rich table takes tens of seconds.
        names, numbers = (max(len(row[column]) for row in self._rows) for column in (0, 1))
        is_narrow = names + numbers + NARROWEST_TEXT > options.max_width
        width = max(options.max_width, NARROWEST_TEXT)
        told = []
        for plugin, points, text in self._rows:
            lead = f"  {plugin:<{names}}  {points:>{numbers}}  "
            if is_narrow:
                told.append(f"  {plugin}: {points}")
                lead = "    "
            told.extend(
                wrap(text, width, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False)
            )
        yield Text("\n".join(told), no_wrap=True, overflow="ignore")
