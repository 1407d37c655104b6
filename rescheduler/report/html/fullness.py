"""How many nodes are how full, before and after: the whole cluster at a glance, however large."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from rescheduler.report.html.markup import text
from rescheduler.report.nodes import SHOWN_FIRST, NodeUse

FEWEST_NODES = 12
TENTHS = 10
_LABELS = (*(f"{10 * tenth} to {10 * tenth + 10}%" for tenth in range(TENTHS)), "more than 100%")


def fullness(uses: Sequence[NodeUse]) -> Iterator[str]:
    """Nodes by the share of cpu and memory that is requested; nothing for a handful of nodes, or if none changes."""
    if len(uses) < FEWEST_NODES or not any(use.pods_changed for use in uses):
        return
    yield '<div class="payers">'
    for name in SHOWN_FIRST:
        before = Counter(_tenth(use, use.before, name) for use in uses if use.offered.get(name))
        after = Counter(_tenth(use, use.after, name) for use in uses if use.offered.get(name))
        yield from _chart(name, before, after)
    yield "</div>"


def _chart(name: str, before: Mapping[int, int], after: Mapping[int, int]) -> Iterator[str]:
    most = max([*before.values(), *after.values()], default=1)
    yield f'<table class="hist"><caption>{text(name)} requested</caption><thead><tr><th scope="col">of the node</th>'
    yield '<th scope="col">nodes before</th><th scope="col">nodes after</th></tr></thead><tbody>'
    for tenth, label in enumerate(_LABELS):
        if tenth == TENTHS and not (before.get(tenth) or after.get(tenth)):
            continue
        cells = (_cell(amounts.get(tenth, 0), most, kind) for amounts, kind in ((before, "s"), (after, "i")))
        yield f'<tr><th scope="row">{label}</th>{"".join(cells)}</tr>'
    yield "</tbody></table>"


def _cell(count: int, most: int, kind: str) -> str:
    return f'<td><div class="t"><i class="{kind}" style="width:{100 * count / most:.4g}%"></i><b>{count}</b></div></td>'


def _tenth(use: NodeUse, amounts: Mapping[str, int], name: str) -> int:
    """Which tenth; exactly full counts as full, and not as more."""
    used, offered = amounts.get(name, 0), use.offered[name]
    if used > offered:
        return TENTHS
    return min(TENTHS - 1, TENTHS * max(0, used) // offered)
