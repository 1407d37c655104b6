"""The price of a plan as lines of text: how many evictions, who pays, and which nodes are empty in the end."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.report.cells import plural
from rescheduler.report.price import Count, Price

MOST_NAMED = 4
MOST_EMPTIED_NAMED = 12
FEW_EVICTIONS = 5  # a list of so few moves says itself whose pods they are


def price_lines(price: Price, *, wide: bool = False) -> Iterator[str]:
    """The lines, ``wide`` with every name."""
    most = None if wide else MOST_NAMED
    yield f"Price: {_evictions(price)}"
    if price.evictions > FEW_EVICTIONS or (wide and price.evictions):
        yield f"  by namespace: {_told(price.namespaces, most)}"
        if price.workloads:
            yield f"  by workload: {_told(price.workloads, most)}"
    if price.emptied:
        yield f"Emptied: {_names(price.emptied, None if wide else MOST_EMPTIED_NAMED)}"
    if price.moves_ended:
        yield f"Outcome of moves: {_told(price.moves_ended, None)}"
    if price.placements_ended:
        yield f"Outcome of placements: {_told(price.placements_ended, None)}"


def _evictions(price: Price) -> str:
    if not price.evictions:
        return "no pod is moved"
    told = f"{plural(price.evictions, 'eviction')} in {plural(price.waves, 'wave')}"
    if len(price.objectives) > 1:
        told += f" ({_told(price.objectives, None)})"
    if price.guided:
        told += f"; {price.guided} of them need{'s' if price.guided == 1 else ''} guidance"
    if price.exchanges:
        told += f"; the pods of {price.named_exchanges} leave before they arrive"
    return told


def _told(counts: Sequence[Count], most: int | None) -> str:
    named = [f"{name} {count}" for name, count in counts[:most]]
    rest = counts[len(named) :]
    return ", ".join(named) + (f" and {len(rest)} more with {sum(count for _, count in rest)}" if rest else "")


def _names(names: Sequence[str], most: int | None) -> str:
    told = ", ".join(names[:most])
    return told if most is None or len(names) <= most else f"{told} and {len(names) - most} more"
