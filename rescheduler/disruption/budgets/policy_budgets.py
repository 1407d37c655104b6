"""All budgets of a policy in one cluster: which pods they keep where they are, and which moves go together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise

import numpy as np

from rescheduler.disruption.budgets.budget_status import UNLIMITED, BudgetStatus, called, objection, rate_detail
from rescheduler.disruption.budgets.coverage import Population
from rescheduler.disruption.budgets.workload_budgets import WorkloadBudgets
from rescheduler.disruption.pod_kinds import PodKinds, counts_as_ready
from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import DisruptionGroup
from rescheduler.policy.fields.budgets import Budget, names_of

RULE = "Budget"


class PolicyBudgets:
    """The budgets as they stand; several may cover one pod, and then each of them binds."""

    def __init__(
        self,
        cluster: Cluster,
        kinds: PodKinds,
        budgets: tuple[Budget, ...],
        workloads: WorkloadBudgets,
        ledger: Ledger,
        is_missed: Callable[[Pod], bool] | None = None,
    ) -> None:
        """``cluster`` holds pods of open debts as terminating; ``ledger`` the debts themselves.

        ``is_missed``: whether fewer are ready while a ready pod moves; None: that is so for each.
        """
        self._is_missed = is_missed
        self._pod_count = len(cluster.pods)
        self.statuses: tuple[BudgetStatus, ...] = ()
        if budgets:
            population = Population(cluster, kinds)
            self._population = population
            self.statuses = tuple(
                BudgetStatus(name, budget, population, workloads, ledger)
                for name, budget in zip(names_of(budgets), budgets, strict=True)
            )

    @cached_property
    def alike(self) -> Sequence[int]:
        """A number for each pod: budgets answer alike to pods of the same number, and 0 is "no objection"."""
        numbers = np.zeros(self._pod_count, dtype=np.int64)
        offset = 1
        for status in self.statuses:
            place = status.coverage.instance_of
            is_ready = self._population.is_ready[self._population.kind_of]
            allowed = np.where(is_ready, _at(status.lets_ready_go, place), _at(status.lets_unready_go, place))
            allowed = np.where(self._stays_available, _at(status.lets_any_go, place), allowed)
            blocked = (place != NOWHERE) & ~allowed & (numbers == 0)
            number = np.where(self._stays_available, 2, is_ready)
            numbers[blocked] = offset + 3 * place[blocked] + number[blocked]
            offset += 3 * len(status.instances)
        found: list[int] = numbers.tolist()
        return found

    @cached_property
    def _stays_available(self) -> BoolArray:
        """Pods of whose kind fewer are never ready while they move, bool[P]."""
        kinds = self._population.kinds
        if self._is_missed is None:
            return np.zeros(self._pod_count, dtype=np.bool_)
        of_kind = np.array([not self._is_missed(example) for example in kinds.examples], dtype=np.bool_)
        return of_kind[self._population.kind_of]

    def objection(self, pod: Pod) -> str | None:
        """Why budgets keep a pod where it is: the first that does, as the rest of a sentence."""
        for status in self.statuses:
            place = status.coverage.place_of(pod)
            is_missed = self._is_missed is None or self._is_missed(pod)
            told = {"is_ready": counts_as_ready(pod), "is_missed": is_missed}
            reason = None if place == NOWHERE else objection(status, place, **told)
            if reason is not None:
                return reason
        return None

    def groups(self, movable: Sequence[int]) -> Iterator[DisruptionGroup]:
        """Pods of which a wave, or the whole plan, may not take all; ``movable``: pods that nothing keeps."""
        pods: IntArray = np.array(movable, dtype=np.int64)
        for status in self.statuses:
            for place, members in _by_instance(status.coverage.instance_of, pods):
                yield from self._groups(status, place, members)

    def _groups(self, status: BudgetStatus, place: int, members: IntArray) -> Iterator[DisruptionGroup]:
        """Pods that are missing already take nothing from maxUnavailable, but count in all else."""
        name, detail = called(status, place), rate_detail(status, place)
        in_plan = _binding(int(status.left_of_rate[place]), members)
        moving = _binding(int(status.left_to_move[place]), members)
        ready = members[self._population.is_ready[self._population.kind_of[members]] & ~self._stays_available[members]]
        unavailable = _binding(int(status.left_to_be_unavailable[place]), ready)
        if unavailable is not None and len(ready) == len(members):
            moving, unavailable = min(unavailable, UNLIMITED if moving is None else moving), None
        if moving is not None or in_plan is not None:
            wave = min(UNLIMITED if number is None else number for number in (moving, in_plan))
            yield DisruptionGroup(RULE, name, wave, tuple(members.tolist()), in_plan, detail)
        if unavailable is not None:
            yield DisruptionGroup(RULE, f"{name} (maxUnavailable)", unavailable, tuple(ready.tolist()))


def _at(of_instance: np.ndarray, place: IntArray) -> np.ndarray:
    """Values of pods' instances; of pods in none the last one, which nobody looks at."""
    return of_instance[place] if len(of_instance) else np.zeros(len(place), dtype=of_instance.dtype)


def _binding(left: int, members: IntArray) -> int | None:
    """A limit that some plan could break; None for any other."""
    return left if left < len(members) else None


def _by_instance(instance_of: IntArray, pods: IntArray) -> Iterator[tuple[int, IntArray]]:
    """The pods of each instance that has any, by rising place; pods ascending."""
    places = instance_of[pods]
    order = np.argsort(places, kind="stable")
    places, pods = places[order], pods[order]
    starts = np.flatnonzero(np.diff(places, prepend=NOWHERE, append=NOWHERE)).tolist()  # NOWHERE is below all places
    for start, end in pairwise(starts):
        yield int(places[start]), pods[start:end]
