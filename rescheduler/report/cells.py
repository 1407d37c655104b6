"""What all tables share: their look, and cells whose text is shown as it is, never as markup."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import zip_longest
from math import isfinite

from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.text import Text

from rescheduler.model.plan.plan import PodReference, Refusal
from rescheduler.model.printable import printable

# Numbers in words that people read: no exponents, no digits that mean nothing.

_LONGEST_WHOLE = 1e15
_ROUGH = 1e4


def number(value: float) -> str:
    """A count or an amount: whole numbers in full, others with four digits that count."""
    if not isfinite(value):
        return str(value)
    if value == round(value) or abs(value) >= _ROUGH:
        return f"{value + 0.0:.0f}" if abs(value) < _LONGEST_WHOLE else f"{value:.3e}"  # never "-0"
    return f"{value:.4g}" if abs(value) >= 1e-4 else f"{value:.1e}"


def percent(share: float) -> str:
    """A share from 0 on: ``33%``, and ``0.4%`` where whole percents would hide it."""
    if not isfinite(share):
        return str(share)
    if share == 0 or abs(share) >= 0.1:
        return f"{number(100 * round(share, 2))}%"
    return f"{share:.1%}" if abs(share) >= 0.001 else "below 0.1%"


GAP = 2
NARROWEST_LAST_COLUMN = 24
NARROWEST_FOLDED_COLUMN = 18
STATUS_STYLES = {
    "OPTIMAL": "green", "FEASIBLE": "yellow", "INFEASIBLE": "red", "UNKNOWN": "red",
    "Landed": "green", "LandedElsewhere": "yellow", "Refused": "red", "NotAttempted": "dim", "Unknown": "red",
    "Undone": "yellow",
}  # fmt: skip


def cell(text: object, style: str = "") -> Text:
    """Text for a table, safe whatever it holds; a long word breaks, nothing is cut off."""
    return Text(printable(str(text)), style=style, overflow="fold")


class HangingText:
    """A line of text that, where it is too long, goes on below its own beginning and not at the margin."""

    def __init__(self, text: Text, indent: int) -> None:
        self.text, self._indent = text, indent

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        if self.text.cell_len <= width or width <= 2 * self._indent:
            yield self.text
            return
        first, *_ = self.text.wrap(console, width)
        rest = self.text[len(first.plain) :]
        yield first
        while rest.plain and rest.plain[0] == " ":
            rest = rest[1:]
        for line in rest.wrap(console, width - self._indent) if rest.plain else ():
            yield Text(" " * self._indent).append_text(line)


def hanging(text: Text, indent: int = 2) -> HangingText:
    """Text whose further lines are indented."""
    return HangingText(text, indent)


class Rows:
    """Rows under headings: columns where they fit, else one block of lines for each row, so that no name breaks.

    Only the last column, which holds the longest text, may fold; besides those of ``folds``, in this order.
    """

    def __init__(
        self, headings: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[str], folds: Sequence[str] = ()
    ) -> None:
        self._folds = folds
        self._headings = headings
        self._rows = [[item if isinstance(item, Text) else cell(item) for item in row] for row in rows]
        self._right = right

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self._width_of_all_but_last() + NARROWEST_LAST_COLUMN <= options.max_width or self._fits(options.max_width):
            yield from self._columns(console, options.max_width)
        elif self._folds and (narrowed := self._narrowed(options.max_width)):
            yield from self._folded_columns(console, narrowed)
        else:
            yield from self._blocks()

    @cached_property
    def _widths(self) -> list[int]:
        columns = zip(self._headings, *self._rows, strict=True)
        return [max([len(heading), *(one.cell_len for one in cells)]) for heading, *cells in columns]

    def _width_of_all_but_last(self) -> int:
        return sum(self._widths[:-1]) + GAP * (len(self._headings) - 1)

    def _fits(self, width: int) -> bool:
        return self._width_of_all_but_last() + self._widths[-1] <= width

    def _columns(self, console: Console, width: int) -> Iterator[Segment]:
        """Segments at once: rich's own table takes long for as many rows as a large plan has."""
        *widths, _ = self._widths
        indent = sum(widths) + GAP * len(widths)
        for row in ([cell(heading, "bold") for heading in self._headings], *self._rows):
            for heading, column, one in zip(self._headings, widths, row, strict=False):
                pad = " " * (column - one.cell_len)
                before, after = (pad, "") if heading in self._right else ("", pad)
                yield from (Segment(before), *one.render(console), Segment(after + " " * GAP))
            yield from _folded(row[-1], console, indent, width - indent)

    def _narrowed(self, width: int) -> list[int]:
        """Widths of columns that fit together, those of ``folds`` narrowed in their order; empty where none do."""
        widths, left = list(self._widths), width - GAP * (len(self._headings) - 1)
        for heading in self._folds:
            place = self._headings.index(heading)
            surplus = max(0, sum(widths) - left)
            widths[place] = max(min(widths[place], NARROWEST_FOLDED_COLUMN), widths[place] - surplus)
        return widths if sum(widths) <= left else []

    def _folded_columns(self, console: Console, widths: Sequence[int]) -> Iterator[Segment]:
        """Every cell in lines of its column's width."""
        for row in ([cell(heading, "bold") for heading in self._headings], *self._rows):
            columns = [[one] if one.cell_len <= width else one.wrap(console, width)
                       for one, width in zip(row, widths, strict=True)]  # fmt: skip
            for pieces in zip_longest(*columns, fillvalue=Text()):
                for heading, width, piece in zip(self._headings, widths, pieces, strict=True):
                    pad = " " * (width - piece.cell_len)
                    before, after = (pad, "") if heading in self._right else ("", pad)
                    is_last = heading == self._headings[-1]
                    yield from (Segment(before), *piece.render(console), Segment("" if is_last else after + " " * GAP))
                yield Segment.line()

    def _blocks(self) -> Iterator[HangingText]:
        for row in self._rows:
            for place, (heading, one) in enumerate(zip(self._headings, row, strict=True)):
                if one.plain:
                    lead = Text("- " if place == 0 else "  ", overflow="fold")
                    yield hanging(lead.append(f"{heading.lower()}: ", style="bold").append_text(one), 4)


def _folded(text: Text, console: Console, indent: int, width: int) -> Iterator[Segment]:
    """The text in lines of a width, all but the first indented."""
    lines = [text] if text.cell_len <= width else text.wrap(console, width)
    for place, line in enumerate(lines):
        yield from (Segment(" " * indent if place else ""), *line.render(console), Segment.line())


def table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, right: Sequence[str] = (), folds: Sequence[str] = ()
) -> Rows:
    """Columns without lines, like kubectl's; ``right`` names those with numbers, ``folds`` those to narrow."""
    return Rows(headings, rows, right, folds)


def plural(count: float, singular: str, more: str | None = None) -> str:
    """``1 pod``, ``2 pods``."""
    return f"{number(count)} {singular if count == 1 else more or singular + 's'}"


def cause(refusal: Refusal) -> str:
    """Why, without the name that ``subject`` tells already where the message begins with it."""
    name = refusal.pod.key if isinstance(refusal.pod, PodReference) else refusal.node
    return refusal.message.removeprefix(f"{name} ") if isinstance(name, str) else refusal.message


def subject(refusal: Refusal) -> str:
    """What a refusal is about: ``pod NAMESPACE/NAME`` or ``node NAME``."""
    if isinstance(refusal.pod, PodReference):
        return f"pod {refusal.pod.key}"
    return f"node {refusal.node}" if isinstance(refusal.node, str) else "the plan"
