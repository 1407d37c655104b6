"""What happens to the simulated world by itself, drawn from the seed: what, and how often."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from tests.soak.world.events.budget_events import BudgetEvents
from tests.soak.world.events.component_events import ComponentEvents
from tests.soak.world.events.node_events import NodeEvents
from tests.soak.world.events.odd_pods import OddPods
from tests.soak.world.events.workload_events import WorkloadEvents
from tests.soak.world.world import World

RATES: Mapping[str, float] = {
    "scale up": 2.0, "scale down": 1.5, "scale to zero": 0.15, "rollout": 0.7, "stalled rollout": 0.2,
    "roll back": 0.3, "pod arrives": 1.0, "job arrives": 1.5, "job pod ends": 3.0, "workload goes": 0.2,
    "node added": 0.3, "node drained and removed": 0.25, "node removed unmarked": 0.1, "node down": 0.3,
    "node flaps": 0.2, "zone down": 0.04, "foreign eviction": 1.5, "foreign deletion": 0.7, "foreign drain": 0.1,
    "budget made": 0.3, "budget tightened": 0.5, "budget deleted": 0.2, "budget doubled": 0.1, "budget invalid": 0.1,
    "namespace deleted": 0.01, "pods fall ill": 0.3, "new pods refused": 0.3, "kubelet refuses": 0.2,
    "scheduler paused": 0.2, "scheduler chooses worst": 0.3, "scheduler passes over": 0.2,
    "budgets lag": 0.5, "budgets stop": 0.1, "pod restarts": 1.0, "pod reappears": 0.3,
    "large pod arrives": 0.0, "custom owner arrives": 0.5, "forged pods arrive": 0.7, "system workload arrives": 0.3,
    "pod not ready": 1.5, "huge labels": 4.0, "node dedicated": 0.0,
    "owner of one out scaled": 0.0, "one out labelled": 0.0, "one out deleted": 0.0,
}  # fmt: skip
KINDS = tuple(RATES)


class WorldEvents(WorkloadEvents, NodeEvents, BudgetEvents, ComponentEvents, OddPods):
    """Draws events at their rates, times ``pace``, and lets them happen; ``tell`` hears kind, object and detail."""

    def __init__(
        self,
        world: World,
        random: Random,
        pace: float,
        own_rates: Mapping[str, float],
        tell: Callable[[str, str, str], None],
    ) -> None:
        """``own_rates``: of kinds that happen so often an hour, whatever the pace; large pods are made room for."""
        super().__init__(world, random, tell)
        self.counts: dict[str, int] = dict.fromkeys(KINDS, 0)
        for kind in KINDS:
            self._next(kind, own_rates[kind] if kind in own_rates else RATES[kind] * pace)

    def end(self) -> None:
        """Nothing new happens, and what was broken is mended."""
        self._is_over = True
        conditions = self._world.conditions
        conditions.scheduler = "best"
        for broken in (conditions.stuck, conditions.blocked, conditions.illness, conditions.refusing):
            broken.clear()
        conditions.budget_lag, conditions.budgets_return_in, conditions.share_ill = 0.05, 0.0, 0.0
        self._world.look_at_pods_again()
        for name in list(self._world.store.nodes):
            self._world.bring_up(name)
            self._give_back(name)
        for uid in list(self._world.templates):
            self._world.reconcile(uid)

    def happen(self, kind: str) -> None:
        """Let one event of a kind happen now, if there is anything that it can happen to."""
        done = getattr(self, "_" + kind.replace(" ", "_"))()
        if done is not None:
            self.counts[kind] += 1
            self._tell(kind, *done)

    def _next(self, kind: str, rate: float) -> None:
        if rate > 0:
            self._world.clock.after(
                self._random.expovariate(rate / 3600.0), lambda: self._occur(kind, rate), is_background=True
            )

    def _occur(self, kind: str, rate: float) -> None:
        if not self._is_over:
            self.happen(kind)
            self._next(kind, rate)
