"""The price of a plan in large figures, and by owner as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.report.cells import plural
from rescheduler.report.html.bars import Bar, Part
from rescheduler.report.plan.price import Count, Price, cost_told

MOST_OWNERS = 8
FEW_EVICTIONS = 2
MOST_EMPTIED_NAMED = 1000


class Tiles(NamedTuple):
    """Large figures with their labels, sentences below them, and the names of emptied nodes."""

    figures: Sequence[tuple[int | str, str]]
    sentences: Sequence[str]
    emptied: Sequence[str]
    unnamed: int
    is_short: bool


class OwnerCosts(NamedTuple):
    """Evictions of one kind of owner, the largest count first."""

    title: str
    bars: Sequence[Bar]
    rest: str


def tiles(plan: Plan | PlanResult, price: Price) -> Tiles:
    """Evictions, waves, nodes emptied, pending pods placed; the names of emptied nodes below."""
    count = len(price.emptied)
    emptied = price.emptied[:MOST_EMPTIED_NAMED]
    return Tiles(_figures(plan, price), _sentences(price), emptied, count - MOST_EMPTIED_NAMED, count <= MOST_OWNERS)


def _figures(plan: Plan | PlanResult, price: Price) -> list[tuple[int | str, str]]:
    figures: list[tuple[int | str, str]] = [(price.evictions, "eviction" if price.evictions == 1 else "evictions")]
    if price.evictions:
        figures.append((price.waves, "wave" if price.waves == 1 else "waves"))
    if price.emptied:
        figures.append((len(price.emptied), "node emptied" if len(price.emptied) == 1 else "nodes emptied"))
    given = len(plan.placements)
    if given or any(objective.wanted for objective in plan.objectives):
        verb = "gets" if plan.snapshot.pending_pods == 1 else "get"
        figures.append((given, f"of {plural(plan.snapshot.pending_pods, 'pending pod')} {verb} a place"))
    if price.guided:
        figures.append((price.guided, f"of the evicted pods need{'s' if price.guided == 1 else ''} guidance"))
    if price.cost is not None:
        money = f"{price.cost.currency} a month"
        figures += [(f"{price.cost.before:.2f}", f"{money} before"), (f"{price.cost.after:.2f}", f"{money} after")]
    return figures


def _sentences(price: Price) -> list[str]:
    found = [] if price.cost is None else [f"Cost: {cost_told(price.cost)}."]
    if price.exchanges:
        found.append(f"The pods of {price.named_exchanges} leave before they arrive: they are down while they move.")
    for what, ended in (("moves", price.moves_ended), ("placements", price.placements_ended)):
        if ended:
            found.append(f"Outcome of {what}: {', '.join(f'{count} {name}' for name, count in ended)}")
    return found


def cost_by_owner(price: Price) -> list[OwnerCosts]:
    """Evictions by objective, namespace and workload; nothing where the list of moves says it as well."""
    if price.evictions <= FEW_EVICTIONS:
        return []
    groups = (
        ("By objective", price.objectives if len(price.objectives) > 1 else ()),
        ("By namespace", price.namespaces),
        ("By workload", price.workloads),
    )
    return [_owner_costs(title, counts, price.evictions) for title, counts in groups if counts]


def _owner_costs(title: str, counts: Sequence[Count], total: int) -> OwnerCosts:
    bars = [Bar(name, f"{count}", (Part("s", 100 * count / total),), name) for name, count in counts[:MOST_OWNERS]]
    rest = counts[MOST_OWNERS:]
    return OwnerCosts(title, bars, f"and {len(rest)} more with {sum(count for _, count in rest)}" if rest else "")
