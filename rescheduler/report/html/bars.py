"""A node's resources as stacked bars: what stays, leaves, arrives, and what pending pods get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rescheduler.model.objects.resources import MEMORY
from rescheduler.report.html.markup import text
from rescheduler.report.nodes import NodeUse, in_one_unit

MOST_RESOURCES = 5
_SHORT = {MEMORY: "mem"}  # bars of a phone are short


class Part(NamedTuple):
    """One piece of a bar: the class of its colour, and its amount."""

    kind: str
    amount: int


def bars_before(use: NodeUse, resources: Sequence[str]) -> str:
    """What the node holds, with what is going to leave it apart."""
    return "".join(_bar(use, name, _before(use, name)) for name in resources)


def bars_after(use: NodeUse, resources: Sequence[str]) -> str:
    """What the node holds in the end, with what has arrived on it apart."""
    return "".join(_bar(use, name, _after(use, name)) for name in resources)


def _before(use: NodeUse, name: str) -> tuple[Part, ...]:
    leaves = use.leaving.get(name, 0)
    return Part("s", use.before.get(name, 0) - leaves), Part("o", leaves)


def _after(use: NodeUse, name: str) -> tuple[Part, ...]:
    stays = use.before.get(name, 0) - use.leaving.get(name, 0)
    return Part("s", stays), Part("i", use.arriving.get(name, 0)), Part("p", use.placed.get(name, 0))


def _bar(use: NodeUse, name: str, parts: Sequence[Part]) -> str:
    """One bar with its figures written over it; an overcommitted node's bar is full and marked."""
    offered = use.offered.get(name, 0)
    total = sum(part.amount for part in parts)
    if not offered and not total:
        return '<div class="t none"></div>'  # keeps all rows of one height
    scale = max(offered, total)
    pieces = "".join(
        f'<i class="{part.kind}" style="width:{100 * part.amount / scale:.4g}%"></i>'
        for part in parts
        if part.amount > 0
    )
    over = " over" if total > offered else ""
    figures = f"{in_one_unit(name, total)} of {in_one_unit(name, offered)}"
    short = _SHORT.get(name) or name.rpartition("/")[2] or name
    title = f' title="{text(name)}"' if short != name else ""
    return f'<div class="t{over}"{title}>{pieces}<b>{text(short)}</b><u>{figures}</u></div>'
