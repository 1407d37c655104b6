"""What moving a pod costs beyond being one more eviction: a price that only breaks ties between equal plans.

Prices run from 0 to HIGHEST_PRICE. Steps are coarse on purpose: replicas that differ by minutes of age stay alike,
which keeps the planner's problems small.
"""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.model.objects.annotations import DELETION_COST
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import DisruptionGroup

HIGHEST_PRICE = 31
ORDINARY_PRICE = 8
"""Of a pod of priority 0 that has run for a day, with the usual grace and no budget to speak of."""

_AGE_STEPS_SECONDS = (600.0, 3600.0, 86400.0, 7 * 86400.0)
_GRACE_STEPS_SECONDS = (30, 120, 600)
_PRIORITY_STEPS = (0, 1000, 1_000_000)


def price_of_move(pod: Pod, now: float, allowed_per_wave: int | None = None, *, is_owing: bool = False) -> int:
    """Price of moving one pod, 0 to HIGHEST_PRICE.

    Dearer: a higher ``pod-deletion-cost`` (Kubernetes removes the cheaper pod first), a higher priority, volumes that
    must be attached again, a longer life so far, a longer termination grace, a tight disruption budget
    (``allowed_per_wave``, None: no budget), and a workload that still waits for an earlier replacement (``is_owing``).
    """
    price = 6 + _deletion_cost_step(pod)  # 3 to 9
    price += 3 * sum(pod.spec.priority > step for step in _PRIORITY_STEPS)
    price += 4 * any(volume.kind in ("PersistentVolumeClaim", "Ephemeral") for volume in pod.volumes)
    began = pod.started_at if pod.started_at is not None else pod.created_at
    price += 0 if began is None else sum(now - began >= step for step in _AGE_STEPS_SECONDS)
    price += sum(pod.spec.termination_grace_seconds > step for step in _GRACE_STEPS_SECONDS)
    if allowed_per_wave is not None:
        price += 2 if allowed_per_wave <= 1 else 1
    price += 4 * is_owing  # the executor would wait for that replacement first
    return min(HIGHEST_PRICE, price)


def relative_price(price: float) -> float:
    """A price counted in evictions of ordinary price: what the policy's ``moveCost`` is multiplied with."""
    return price / ORDINARY_PRICE


def tightest_allowances(groups: Sequence[DisruptionGroup]) -> dict[int, int]:
    """The smallest allowance per wave over all groups that hold a pod, by pod index."""
    tightest: dict[int, int] = {}
    for group in groups:
        for pod in group.pods:
            tightest[pod] = min(group.allowed_per_wave, tightest.get(pod, group.allowed_per_wave))
    return tightest


def _deletion_cost_step(pod: Pod) -> int:
    try:
        cost = int(pod.annotations.get(DELETION_COST, "0"))
    except ValueError:  # Kubernetes ignores a cost it cannot read
        return 0
    size = len(str(abs(cost))) if cost else 0
    step = min(3, (size + 1) // 2)
    return step if cost > 0 else -step
