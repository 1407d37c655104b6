"""What a plan costs and who pays: evictions in all, by objective, by namespace, by workload; and what it empties."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from rescheduler.model.cluster import Cluster
from rescheduler.model.plan import Move, MoveOutcome, PlacementOutcome, Plan, PlannedPlacement, PlanResult
from rescheduler.report.emptied import emptied_nodes
from rescheduler.report.flows import is_evicted

Count = tuple[str, int]


@dataclass(frozen=True)
class Price:
    """Counts of evictions; each list has the largest first, and sums up to ``evictions`` (``workloads``: where known).

    ``exchanges``: waves whose pods leave before they arrive. ``emptied`` names nodes. Of a result only that which
    happened counts; ``moves_ended`` and ``placements_ended`` count how.
    """

    evictions: int
    waves: int
    guided: int
    objectives: tuple[Count, ...]
    namespaces: tuple[Count, ...]
    workloads: tuple[Count, ...]
    emptied: tuple[str, ...]
    exchanges: tuple[int, ...] = ()
    moves_ended: tuple[Count, ...] = ()
    placements_ended: tuple[Count, ...] = ()

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
        moves_ended=_ends(plan.moves),
        placements_ended=_ends(plan.placements),
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
