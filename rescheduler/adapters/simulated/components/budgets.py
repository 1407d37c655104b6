"""The disruption controller: it recounts what each PodDisruptionBudget allows, a little late."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from msgspec import structs

from rescheduler.adapters.simulated.object_store import ObjectStore
from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.model.columns.selectors import holds
from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget
from rescheduler.model.plan.detachment import controller_as_written

# Which labels a selector selects.


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """True if every requirement holds; an empty selector selects everything, an absent one nothing."""
    return selector is not None and all(holds(rule, labels.get(rule.key)) for rule in selector.requirements)


_PORTION = re.compile(r"\d{1,9}%?", re.ASCII)


class DisruptionController:
    """Recounts a budget after each change of a pod that it selects.

    A budget without ``minAvailable`` and ``maxUnavailable`` (a recording that holds only the status) keeps the number
    of healthy pods that it implied at the start: those healthy then, less the disruptions allowed then.
    """

    def __init__(self, store: ObjectStore, settings: SimulationSettings) -> None:
        self._store = store
        self._settings = settings
        self._recounts_due: set[str] = set()
        self._disrupted_until: dict[tuple[str, str], float] = {}
        self._implied: dict[str, int] = {}
        for budget in store.budgets.values():
            if budget.min_available is None and budget.max_unavailable is None:
                healthy = sum(pod.is_ready for pod in self._selected(budget))
                self._implied[budget.key] = max(0, healthy - budget.disruptions_allowed)
        store.on_pod_change(self._pod_changed)

    def matching(self, pod: Pod) -> list[DisruptionBudget]:
        """Budgets that select the pod. A selector with a rule that cannot be read selects nothing."""
        found = (budget for budget in self._store.budgets.values() if budget.namespace == pod.namespace)
        return [budget for budget in found if selects(budget.selector, pod.labels)]

    def grant(self, budget: DisruptionBudget, pod: Pod) -> None:
        """Book one disruption, as the eviction handler does before it deletes the pod."""
        seconds = self._settings.disrupted_pod_timeout_seconds
        self._disrupted_until[budget.key, pod.name] = self._store.clock.monotonic() + seconds
        disrupted = dict.fromkeys((*budget.disrupted_pods, pod.name))
        self._store.put_budget(
            structs.replace(budget, disruptions_allowed=budget.disruptions_allowed - 1, disrupted_pods=tuple(disrupted))
        )
        # A grant whose pod never leaves is forgotten after this time.
        self._store.clock.after(seconds, lambda: self._recount_soon(budget.key), is_background=True)

    def budget_changed(self, key: str) -> None:
        """Somebody made or changed a budget: its status is counted anew when the controller comes by."""
        self._recount_soon(key)

    def recount_all(self) -> None:
        """Every budget is counted anew, now."""
        for key in list(self._store.budgets):
            self._recount(key)

    def _pod_changed(self, old: Pod | None, new: Pod | None) -> None:
        for pod in (old, new):
            for budget in self.matching(pod) if pod is not None else ():
                self._recount_soon(budget.key)

    def _recount_soon(self, key: str) -> None:
        if key not in self._recounts_due:
            self._recounts_due.add(key)
            self._store.clock.after(self._settings.budget_lag(), lambda: self._recount(key))

    def _recount(self, key: str) -> None:
        self._recounts_due.discard(key)
        budget = self._store.budgets.get(key)
        if budget is None:
            return
        pods = self._selected(budget)
        disrupted = self._still_disrupted(budget, pods)
        healthy = sum(pod.is_ready and not pod.is_terminating and pod.name not in disrupted for pod in pods)
        expected, desired = self._wanted(budget, pods)
        self._store.put_budget(
            structs.replace(
                budget,
                disruptions_allowed=max(0, healthy - desired) if expected > 0 else 0,
                current_healthy=healthy,
                desired_healthy=desired,
                expected_pods=expected,
                observed_generation=budget.generation,
                disrupted_pods=tuple(disrupted),
                problem=None,  # whatever was wrong with the status: it has just been written
            )
        )

    def _selected(self, budget: DisruptionBudget) -> list[Pod]:
        pods = self._store.in_namespace(budget.namespace)
        return [pod for pod in pods if selects(budget.selector, pod.labels)]  # finished ones too

    def _still_disrupted(self, budget: DisruptionBudget, pods: Iterable[Pod]) -> list[str]:
        """Names whose eviction was granted lately and whose deletion has not been seen yet."""
        standing = {pod.name for pod in pods if not pod.is_terminating}
        now = self._store.clock.monotonic()
        # Names that a recording brought along are held for as long as a grant of today.
        later = now + self._settings.disrupted_pod_timeout_seconds
        return [
            name
            for name in budget.disrupted_pods
            if name in standing and self._disrupted_until.setdefault((budget.key, name), later) > now
        ]

    def _wanted(self, budget: DisruptionBudget, pods: list[Pod]) -> tuple[int, int]:
        """Expected pods and desired healthy ones, by the rules of the disruption controller."""
        wanted = budget.min_available if budget.max_unavailable is None else budget.max_unavailable
        if wanted is not None and _PORTION.fullmatch(wanted) is None:
            return 0, budget.desired_healthy  # a hand-made recording: no API server takes it; nothing is allowed
        if budget.max_unavailable is not None:
            expected = self._scale(pods)
            return expected, max(0, expected - _share(budget.max_unavailable, expected))
        if budget.min_available is None:
            return len(pods), self._implied.get(budget.key, budget.desired_healthy)
        if budget.min_available.endswith("%"):
            expected = self._scale(pods)
            return expected, _share(budget.min_available, expected)
        return len(pods), int(budget.min_available)

    def _scale(self, pods: list[Pod]) -> int:
        """Desired replicas of all controllers of these pods; 0, and so nothing allowed, if one has no such count.

        A pod that was taken out of its ReplicaSet is nobody's, and is passed over.
        """
        wanted: dict[str, int] = {}
        for pod in pods:
            if SURGE in pod.annotations and controller_as_written(pod) is None:
                continue
            owner = self._store.owner_of(pod)
            if owner is None or owner.desired_replicas is None:
                return 0
            wanted[owner.uid] = owner.desired_replicas
        return sum(wanted.values())


def _share(text: str, whole: int) -> int:
    """A number, or a percentage of ``whole`` rounded up."""
    return -(-int(text[:-1]) * whole // 100) if text.endswith("%") else int(text)
