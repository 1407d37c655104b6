"""What a plan costs and who pays: evictions in all, by objective, by namespace, by workload; and what it empties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import newest
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.model.plan.plan import Move, MoveOutcome, PlacementOutcome, Plan, PlannedPlacement, PlanResult
from rescheduler.model.printable import first_few
from rescheduler.report.cells import plural
from rescheduler.report.plan.flows import emptied_nodes, is_evicted

Count = tuple[str, int]


@dataclass(frozen=True)
class Price:
    """Counts of evictions; each list has the largest first, and sums up to ``evictions`` (``workloads``: where known).

    ``exchanges``: waves whose pods leave before they arrive. ``methods``: evictions that are the end of another method.
    ``emptied`` names nodes. Of a result only that which happened counts; ``moves_ended`` and ``placements_ended`` count
    how. ``cost``: of a plan, where prices are known.
    """

    evictions: int
    waves: int
    guided: int
    objectives: tuple[Count, ...]
    namespaces: tuple[Count, ...]
    workloads: tuple[Count, ...]
    emptied: tuple[str, ...]
    exchanges: tuple[int, ...] = ()
    methods: tuple[Count, ...] = ()
    moves_ended: tuple[Count, ...] = ()
    placements_ended: tuple[Count, ...] = ()
    cost: Cost | None = None

    @property
    def named_exchanges(self) -> str:
        """The waves whose pods leave before they arrive, in words."""
        return f"wave{'s' if len(self.exchanges) > 1 else ''} {', '.join(map(str, self.exchanges))}"


def price_of(plan: Plan | PlanResult, cluster: Cluster | None = None) -> Price:
    """The price of a plan. ``cluster``: without it neither workloads nor emptied nodes are known."""
    moves = tuple(filter(is_evicted, plan.moves))
    return Price(
        evictions=len(moves),
        waves=len({move.wave for move in moves}),
        guided=sum(move.needs_guidance for move in moves),
        objectives=tuple(Counter(move.objective for move in moves).items()),
        namespaces=_largest_first(move.pod.namespace for move in moves),
        workloads=() if cluster is None else _workloads(moves, cluster),
        emptied=() if cluster is None else emptied_nodes(plan, cluster),
        exchanges=tuple(sorted({move.wave for move in moves if move.evict_first})),
        methods=_largest_first(move.method.lower() for move in moves if move.method is not MoveMethod.EVICT),
        moves_ended=_ends(newest(plan.moves)),
        placements_ended=_ends(plan.placements),
        cost=plan.cost if isinstance(plan, Plan) and plan.cost is not UNSET else None,
    )


def _workloads(moves: Iterable[Move], cluster: Cluster) -> tuple[Count, ...]:
    names = []
    for move in moves:
        pod = cluster.pod_by_key.get(move.pod.key)
        workload = None if pod is None else cluster.workload_of(pod)
        if workload is not None:
            names.append(f"{workload.kind} {workload.namespace}/{workload.name}")
    return _largest_first(names)


def _ends(items: Iterable[Move | PlannedPlacement]) -> tuple[Count, ...]:
    return _largest_first(item.outcome.value for item in items if isinstance(item, MoveOutcome | PlacementOutcome))


def _largest_first(names: Iterable[str]) -> tuple[Count, ...]:
    counted = Counter(names)
    return tuple(sorted(counted.items(), key=lambda item: (-item[1], item[0])))


# The price of a plan as lines of text: how many evictions, who pays, and which nodes are empty in the end.

MOST_NAMED = 4
MOST_EMPTIED_NAMED = 12
FEW_EVICTIONS = 5  # a list of so few moves says itself whose pods they are


def price_lines(price: Price, *, wide: bool = False) -> Iterator[str]:
    """The lines, ``wide`` with every name."""
    most = None if wide else MOST_NAMED
    yield f"Price: {_evictions(price)}"
    if price.cost is not None:
        yield f"Cost: {cost_told(price.cost)}"
    if price.evictions > FEW_EVICTIONS or (wide and price.evictions):
        yield f"  by namespace: {_told(price.namespaces, most)}"
        if price.workloads:
            yield f"  by workload: {_told(price.workloads, most)}"
    if price.emptied:
        yield f"Emptied: {first_few(price.emptied, len(price.emptied) if wide else MOST_EMPTIED_NAMED)}"
    if price.moves_ended:
        yield f"Outcome of moves: {_told(price.moves_ended, None)}"
    if price.placements_ended:
        yield f"Outcome of placements: {_told(price.placements_ended, None)}"


def cost_told(cost: Cost) -> str:
    """Money before and after, what it does not count, and what is in it that no plan was needed for."""
    money = cost.currency
    change = f"{cost.saving:.2f} saved" if cost.saving >= 0 else f"{-cost.saving:.2f} more"
    told = f"{cost.before:.2f} {money} a month before, {cost.after:.2f} after: {change}"
    if cost.empty:
        told += f", {cost.empty:.2f} of it by nodes that are empty already"
    if cost.unpriced:
        told += f"; {plural(len(cost.unpriced), 'node')} without a price not counted"
    return told


def _evictions(price: Price) -> str:
    if not price.evictions:
        return "no pod is moved"
    told = f"{plural(price.evictions, 'eviction')} in {plural(price.waves, 'wave')}"
    if len(price.objectives) > 1:
        told += f" ({_told(price.objectives, None)})"
    told += "".join(f"; {count} of them by {method}" for method, count in price.methods)
    if price.guided:
        told += f"; {price.guided} of them need{'s' if price.guided == 1 else ''} guidance"
    if price.exchanges:
        told += f"; the pods of {price.named_exchanges} leave before they arrive"
    return told


def _told(counts: Sequence[Count], most: int | None) -> str:
    named = [f"{name} {count}" for name, count in counts[:most]]
    rest = counts[len(named) :]
    return ", ".join(named) + (f" and {len(rest)} more with {sum(count for _, count in rest)}" if rest else "")
