"""What a plan has used up of its limits and budgets, the permits of the wave at hand included."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from rescheduler.model.cluster import Cluster
from rescheduler.model.disruption import DisruptionGroup, Eligibility
from rescheduler.model.plan import Move

RATES: Final = ("Budget", "RampUp", "Breaker")
"""Windows and rates, asked before the pod itself is looked at."""
FLOORS: Final = ("WorkloadBudget", "StatefulSet", "PodDisruptionBudget")
"""How many pods may be missing, in the order of the gate's questions."""


class Spent:
    """Counts on. ``permits``: permits given in this wave; ``origins``: see ``GateContext.sent``, permits included."""

    def __init__(
        self,
        moves: Sequence[Move],
        cluster: Cluster,
        eligibility: Eligibility,
        sent: Mapping[str, str],
        sent_namespaces: Mapping[str, int],
    ) -> None:
        self.permits = 0
        self.origins = dict(sent)
        self.index_of = _indices(moves, cluster)
        self.movable = frozenset(self.index_of.values()).intersection(eligibility.movable)
        self._namespaces = Counter(sent_namespaces)
        self._limits = eligibility.limits
        self._groups: defaultdict[int, list[DisruptionGroup]] = defaultdict(list)
        for group in eligibility.groups:
            for index in self.movable.intersection(group.pods):
                self._groups[index].append(group)
        self._of_group: Counter[tuple[str, str]] = Counter()

    def over_rates(self, move: Move) -> Iterator[tuple[str, str]]:
        """Windows and rates that leave no room for one more."""
        yield from self._over(move, RATES)

    def over_limits(self, move: Move) -> Iterator[tuple[str, str]]:
        """Limits of the plan first, then the floors of workloads, then PodDisruptionBudgets."""
        from_here = sum(node == move.from_node for node in self.origins.values())
        caps = (
            ("of this plan", len(self.origins), self._limits.max_evictions),
            (f"from node {move.from_node}", from_here, self._limits.max_evictions_per_node),
            (
                f"from namespace {move.pod.namespace}",
                self._namespaces[move.pod.namespace],
                self._limits.max_evictions_per_namespace,
            ),
        )
        for what, number, cap in caps:
            if cap is not None and number >= cap:
                yield "Limits", f"would be eviction {number + 1} {what}; the policy allows {cap}"
        for rule in FLOORS:
            yield from self._over(move, (rule,))

    def add(self, move: Move) -> None:
        """A permit was given."""
        self.permits += 1
        self.origins[move.pod.uid] = move.from_node
        self._namespaces[move.pod.namespace] += 1
        for group in self._groups[self.index_of[move.pod.key]]:
            self._of_group[(group.rule, group.name)] += 1

    def _over(self, move: Move, rules: Sequence[str]) -> Iterator[tuple[str, str]]:
        for group in self._groups[self.index_of[move.pod.key]]:
            number, allowed = self._of_group[(group.rule, group.name)], _allowed(group)
            if group.rule in rules and number >= allowed:
                detail = f" ({group.detail})" if group.detail else ""
                yield group.rule, f"would be eviction {number + 1} of {group.name}, which allows {allowed} now{detail}"


def _allowed(group: DisruptionGroup) -> int:
    """In one wave, and of what a window leaves: evictions that were sent are in the window already."""
    in_plan = group.allowed_in_plan
    return group.allowed_per_wave if in_plan is None else min(group.allowed_per_wave, in_plan)


def _indices(moves: Sequence[Move], cluster: Cluster) -> dict[str, int]:
    """Index of each pod that is to move and is there, by key."""
    names = {move.pod.name for move in moves}
    wanted = {move.pod.key for move in moves}
    return {pod.key: index for index, pod in enumerate(cluster.pods) if pod.name in names and pod.key in wanted}
