"""Nodes as bars: what is requested of each, what is free, and where a plan makes room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, format_amount
from rescheduler.model.plan.plan import Plan, PlanResult

_WIDE_COLUMNS = 72
_ROOMY_COLUMNS = 100
_SHORTEST_BAR = 2
_LONGEST_BAR = 20
_LONGEST_MARK = 28
_SHORT_MARK = 18
_LONGEST_NAME = 32
_SHOWN = {CPU: "cpu", MEMORY: "mem"}


@dataclass(frozen=True)
class BarStyle:
    """How bars are drawn: ``width`` in columns, ``is_ascii`` for terminals without block characters.

    ``most_nodes`` rows are shown; those that the plan touches come first, the rest is only counted.
    """

    width: int = 80
    is_ascii: bool = False
    most_nodes: int = 40

    @property
    def is_wide(self) -> bool:
        """Whether there is room for more than name, bars and what is free."""
        return self.width >= _WIDE_COLUMNS

    @property
    def is_roomy(self) -> bool:
        """Whether figures can say what they are."""
        return self.width >= _ROOMY_COLUMNS


@dataclass(frozen=True)
class _Row:
    node: Node
    requested: dict[str, int]
    pods: int
    change: dict[str, int]
    mark: str

    def free(self, resource: str) -> int:
        return dict(self.node.allocatable).get(resource, 0) - self.requested.get(resource, 0)

    def share(self, resource: str) -> float:
        offered = dict(self.node.allocatable).get(resource, 0)
        return min(1.0, self.requested.get(resource, 0) / offered) if offered else 1.0

    def figure(self, resource: str, style: BarStyle) -> str:
        text = _signed(resource, self.free(resource)) + " free" * style.is_roomy
        change = self.change.get(resource, 0)
        if not change or not style.is_wide:
            return text
        return f"{text} ({'+' if change > 0 else ''}{_signed(resource, change)})"

    def pods_text(self, style: BarStyle) -> str:
        return f"{self.pods}/{dict(self.node.allocatable).get(PODS, 0)}" + " pods" * style.is_roomy


def node_bars(
    cluster: Cluster,
    *,
    plan: Plan | PlanResult | None = None,
    before: Cluster | None = None,
    style: BarStyle | None = None,
) -> list[Text]:
    """One line a node: bars of requested cpu and memory, what is free, pods, and marks.

    ``plan`` marks nodes where pending pods get a place (``<- NAME``) and pods that leave and arrive (``-2 +1``).
    ``before`` adds how much the free amounts have changed. No line is longer than the style's width.
    """
    style = style or BarStyle()
    marks = _marks(plan)
    nodes = sorted(cluster.nodes, key=lambda node: (node.name not in marks, node.name))[: style.most_nodes]
    old = {} if before is None else {node.name: _row(before, node, "", None) for node in before.nodes}
    rows = [_row(cluster, node, marks.get(node.name, ""), old.get(node.name)) for node in _by_name(nodes)]
    lines = _draw(rows, style)
    left = len(cluster.nodes) - len(nodes)
    if left:
        lines.append(Text(set_cell_size(f"and {left} more nodes", style.width).rstrip(), style="dim"))
    return lines


def pending_lines(cluster: Cluster, *, style: BarStyle | None = None) -> list[Text]:
    """One line a pending pod with what it asks for; no line is longer than the style's width."""
    style = style or BarStyle()
    pods = cluster.pending_pods[: style.most_nodes]
    lines = []
    for pod in pods:
        needs = ", ".join(f"{format_amount(name, amount)} {name}" for name, amount in pod.spec.requests)
        lines.append(Text(_fit(f"pending: {pod.key} asks for {needs or 'nothing'}", style.width).rstrip()))
    left = len(cluster.pending_pods) - len(pods)
    if left:
        lines.append(Text(f"and {left} more pending pods", style="dim"))
    return lines


def _row(cluster: Cluster, node: Node, mark: str, old: _Row | None) -> _Row:
    pods = cluster.pods_by_node.get(node.name, ())
    requested: Counter[str] = Counter()
    for pod in pods:
        requested.update(dict(pod.amounts))
    row = _Row(node, dict(requested), len(pods), {}, " ".join(filter(None, (_state(node), mark))))
    if old is None:
        return row
    change = {resource: row.free(resource) - old.free(resource) for resource in _SHOWN}
    return _Row(row.node, row.requested, row.pods, change, row.mark)


def _state(node: Node) -> str:
    if node.problem is not None:
        return "unusable"
    if not node.is_ready:
        return "not ready"
    return "cordoned" if node.is_unschedulable else ""


def _marks(plan: Plan | PlanResult | None) -> dict[str, str]:
    if plan is None:
        return {}
    moves = [move for move in plan.moves if move.destination is not None]
    leaving = Counter(move.from_node for move in moves)
    arriving = Counter(move.to_node for move in moves)
    marks = {}
    for name in dict.fromkeys((*(item.node for item in plan.placements), *leaving, *arriving)):
        parts = [f"-{leaving[name]}"] * (name in leaving) + [f"+{arriving[name]}"] * (name in arriving)
        marks[name] = " ".join([*parts, *(f"<- {item.pod.name}" for item in plan.placements if item.node == name)])
    return marks


def _draw(rows: Sequence[_Row], style: BarStyle) -> list[Text]:
    names = _column([row.node.name for row in rows], _LONGEST_NAME if style.is_wide else style.width // 4)
    figures = {item: _column([row.figure(item, style) for row in rows], style.width // 3) for item in _SHOWN}
    pods = _column([row.pods_text(style) for row in rows], style.width // 5)
    marks = [row.mark if style.is_wide else _short(row.mark) for row in rows]
    mark_width = min(_mark_width(style), max(map(cell_len, marks), default=0))
    spent = [names[:1], pods[:1], *(column[:1] for column in figures.values())]
    used = sum(cell_len(text) + 1 for texts in spent for text in texts) + mark_width
    length = (style.width - used) // len(_SHOWN) - len(" cpu ")
    if length < _SHORTEST_BAR:  # a narrow screen with long names: the pods go first
        length = max(_SHORTEST_BAR, length + (cell_len(pods[0]) + 1) // len(_SHOWN))
        pods = [""] * len(rows)
    return [
        _line(
            row, style, min(length, _LONGEST_BAR), [names[i], *(figures[item][i] for item in _SHOWN), pods[i], marks[i]]
        )
        for i, row in enumerate(rows)
    ]


def _mark_width(style: BarStyle) -> int:
    if style.is_roomy:
        return _LONGEST_MARK
    return _SHORT_MARK if style.is_wide else 1


def _line(row: _Row, style: BarStyle, length: int, cells: Sequence[str]) -> Text:
    name, *figures, pods, mark = cells
    line = Text(name)
    for (item, label), figure in zip(_SHOWN.items(), figures, strict=True):
        line.append(f" {label} ")
        line.append(_bar(row.share(item), length, style), style=_colour(row.share(item)))
        line.append(f" {figure}")
    line.append(f" {pods} " if pods else " ")
    line.append(_fit(mark, max(0, style.width - line.cell_len)), style="bold")
    line.rstrip()
    line.truncate(style.width)
    return line


def _column(texts: Sequence[str], most: int) -> list[str]:
    """Texts of one width, cut where that would be more than ``most`` columns."""
    printable = [_printable(text) for text in texts]
    width = min(most, max(map(cell_len, printable), default=0))
    return [_fit(text, width) for text in printable]


def _bar(share: float, length: int, style: BarStyle) -> str:
    full, empty = ("#", ".") if style.is_ascii else ("█", "░")
    # Rounded down: a bar looks full only where nothing is free.
    filled = int(share * length)
    return full * filled + empty * (length - filled)


def _colour(share: float) -> str:
    if share < 0.7:
        return "green"
    return "yellow" if share < 0.9 else "red"


def _short(mark: str) -> str:
    """One sign for a narrow screen: a pending pod gets a place here, or something else is to be said."""
    return "<" if "<-" in mark else "*" if mark else ""


def _signed(resource: str, amount: int) -> str:
    return ("-" if amount < 0 else "") + format_amount(resource, abs(amount))


def _by_name(nodes: Sequence[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: node.name)


def _fit(text: str, width: int) -> str:
    """Exactly ``width`` columns, cut with a sign where it is longer."""
    text = _printable(text)
    if cell_len(text) > width > 1:
        return set_cell_size(text, width - 1) + "~"
    return set_cell_size(text, width)


def _printable(text: str) -> str:
    """Control characters in names would act on the terminal; they are shown as question marks."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)
