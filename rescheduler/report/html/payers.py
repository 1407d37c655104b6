"""The price of a plan in large figures, and who pays it as bars."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.report.cells import plural
from rescheduler.report.html.markup import folded, text
from rescheduler.report.price import Count, Price

MOST_PAYERS = 8
FEW_EVICTIONS = 2
MOST_EMPTIED_NAMED = 1000


def tiles(plan: Plan | PlanResult, price: Price) -> Iterator[str]:
    """Evictions, waves, nodes emptied, pending pods placed; the names of emptied nodes below."""
    figures = [(price.evictions, "eviction" if price.evictions == 1 else "evictions")]
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
    yield '<div class="tiles">' + "".join(f"<div><b>{count}</b> {label}</div>" for count, label in figures) + "</div>"
    if price.exchanges:
        yield f"<p>The pods of {price.named_exchanges} leave before they arrive: they are down while they move.</p>"
    for what, ended in (("moves", price.moves_ended), ("placements", price.placements_ended)):
        if ended:
            told = ", ".join(f"{count} {name}" for name, count in ended)
            yield f"<p>Outcome of {what}: {text(told)}</p>"
    if price.emptied:
        names = ", ".join(map(text, price.emptied[:MOST_EMPTIED_NAMED]))
        rest = len(price.emptied) - MOST_EMPTIED_NAMED
        more = f" and {rest} more" if rest > 0 else ""
        is_short = len(price.emptied) <= MOST_PAYERS
        yield from folded("Nodes emptied", [f'<p class="names">{names}{more}</p>'], is_open=is_short)


def payers(price: Price) -> Iterator[str]:
    """Evictions by objective, namespace and workload; nothing where the list of moves says it as well."""
    if price.evictions <= FEW_EVICTIONS:
        return
    yield '<div class="payers">'
    for title, counts in (
        ("By objective", price.objectives if len(price.objectives) > 1 else ()),
        ("By namespace", price.namespaces),
        ("By workload", price.workloads),
    ):
        if counts:
            yield f"<div><h3>{title}</h3>"
            yield from _bars(counts, price.evictions)
            yield "</div>"
    yield "</div>"


def _bars(counts: Sequence[Count], total: int) -> Iterator[str]:
    for name, count in counts[:MOST_PAYERS]:
        yield (
            f'<div class="t" title="{text(name)}"><i class="s" style="width:{100 * count / total:.4g}%"></i>'
            f"<b>{text(name)}</b><u>{count}</u></div>"
        )
    rest = counts[MOST_PAYERS:]
    if rest:
        yield f'<p class="quiet">and {len(rest)} more with {sum(count for _, count in rest)}</p>'
