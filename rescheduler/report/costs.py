"""What a cluster costs, told to people: the fleet, who pays, and what each rule costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from rich.console import RenderableType
from rich.text import Text

from rescheduler.model.costs import Costs, RuleCost
from rescheduler.report.cells import cell, plural, table
from rescheduler.report.plan.price import cost_told

MOST_SHOWN: Final = 10


def costs_report(costs: Costs, *, wide: bool = False) -> list[RenderableType]:
    """Parts of the report in the order in which they are read; long lists are counted unless ``wide``."""
    money = costs.cost.currency
    parts: list[RenderableType] = [
        cell(f"{costs.cost.before:.2f} {money} a month, of which {costs.idle:.2f} is asked for by nobody", "bold"),
        cell(f"With a plan: {cost_told(costs.cost)}"),
    ]
    most = None if wide else MOST_SHOWN
    pools = [(one.name, one.nodes, f"{one.cost:.2f}", f"{one.idle:.2f}") for one in costs.by_pool]
    parts += _titled("By pool", ("POOL", "NODES", money, "IDLE"), pools, most)
    for title, found in (("By namespace", costs.by_namespace), ("By owner", costs.by_owner)):
        rows = [(one.name, one.pods, f"{one.cost:.2f}") for one in found]
        parts += _titled(title, (title.removeprefix("By ").upper(), "PODS", money), rows, most)
    if costs.rules:
        parts += [Text(), Text("What rules cost", style="bold"), *(cell(_told(rule, money)) for rule in costs.rules)]
    return parts


def _told(rule: RuleCost, money: str) -> str:
    nodes = f" keeps {plural(rule.nodes, 'node')} in use" if rule.pods else " binds"
    told = f"{rule.rule} {rule.object}{nodes}: {rule.saving:.2f} {money} a month"
    return told if rule.at_most <= rule.saving else f"{told}, at most {rule.at_most:.2f}"


def _titled(
    title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]], most: int | None
) -> Iterator[RenderableType]:
    if not rows:
        return
    yield Text()
    yield Text(title, style="bold")
    yield table(headings, rows[:most], right=headings[1:])
    if most is not None and len(rows) > most:
        yield cell(f"and {len(rows) - most} more; -o wide lists each of them.", "dim")
