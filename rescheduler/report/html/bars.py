"""A node's resources as stacked bars: what stays, leaves, arrives, and what pending pods get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from rescheduler.model.objects.resources import MEMORY
from rescheduler.report.plan.nodes import IN_USE, NodeUse, in_one_unit

MOST_RESOURCES = 5
_SHORT = {MEMORY: "mem"}  # bars of a phone are short


class Part(NamedTuple):
    """One piece of a bar: the class of its colour, and its length."""

    kind: str
    percent: float


class Bar(NamedTuple):
    """What is written over a bar, and its pieces; without ``figures`` only a gap of the same height.

    ``title``: the whole name, where ``label`` is shorter. ``is_over``: more than the node offers.
    """

    label: str
    figures: str
    parts: Sequence[Part]
    title: str = ""
    is_over: bool = False


def bars_before(use: NodeUse, resources: Sequence[str]) -> list[Bar]:
    """What the node holds, with what is going to leave it apart."""
    return [_bar(use, name, _before(use, name)) for name in resources]


def bars_after(use: NodeUse, resources: Sequence[str]) -> list[Bar]:
    """What the node holds in the end, with what has arrived on it apart."""
    return [_bar(use, name, _after(use, name)) for name in resources]


def _before(use: NodeUse, name: str) -> Mapping[str, int]:
    leaves = use.leaving.get(name, 0)
    return {"s": use.before.get(name, 0) - leaves, "o": leaves}


def _after(use: NodeUse, name: str) -> Mapping[str, int]:
    stays = use.before.get(name, 0) - use.leaving.get(name, 0)
    return {"s": stays, "i": use.arriving.get(name, 0), "p": use.placed.get(name, 0)}


def _bar(use: NodeUse, name: str, amounts: Mapping[str, int]) -> Bar:
    """One bar of amounts by the class of their colour; an overcommitted node's bar is full and marked."""
    offered = use.offered.get(name, 0)
    total = sum(amounts.values())
    short = _short(name)
    if not offered and (name.endswith(IN_USE) or not total):  # of a node whose load is not known nothing is drawn
        return Bar(short, "", ())
    scale = max(offered, total)
    parts = [Part(kind, 100 * amount / scale) for kind, amount in amounts.items() if amount > 0]
    figures = f"{in_one_unit(name, total)} of {in_one_unit(name, offered)}"
    return Bar(short, figures, parts, name if short != name else "", total > offered)


def _short(name: str) -> str:
    resource = name.removesuffix(IN_USE)
    return (_SHORT.get(resource) or resource.rpartition("/")[2] or resource) + name[len(resource) :]
