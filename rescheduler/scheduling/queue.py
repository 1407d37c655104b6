"""Pending pods placed one after another, as the scheduler's queue would serve them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.scheduling.prediction.verdict import reason_counts
from rescheduler.scheduling.scheduler_model import SchedulerModel


class Scheduled(NamedTuple):
    """Where one pending pod goes.

    ``node`` is NOWHERE for a pod that fits nowhere or that is not decided on; then ``warnings`` say why not.
    ``best`` are all nodes that tie for the highest total; ``reasons`` count nodes by reason where none fits.
    ``warnings`` also hold what of the pod's scheduler is not modelled and makes its place an estimate.
    """

    pod: int
    node: int
    best: IntArray
    reasons: dict[str, int]
    warnings: tuple[str, ...]


def queue_order(cluster: Cluster) -> list[int]:
    """Indices of the pending pods: higher priority first, then the older one, then by name."""
    pending = [number for number, pod in enumerate(cluster.pods) if pod.is_pending]
    pods = cluster.pods
    return sorted(pending, key=lambda n: (-pods[n].spec.priority, pods[n].created_at or 0.0, pods[n].key))


def schedule_pending(
    model: SchedulerModel, placement: Placement, order: Iterable[int] | None = None
) -> list[Scheduled]:
    """Place pending pods in order (``queue_order`` by default); ``placement`` is changed as they are assumed.

    Of nodes that tie the first by name is taken, where the scheduler would draw lots.
    """
    pods = queue_order(model.columns.cluster) if order is None else order
    return [_schedule(model, placement, pod) for pod in pods]


def _schedule(model: SchedulerModel, placement: Placement, pod: int) -> Scheduled:
    undecided = why_undecided(model, pod)
    if undecided:
        return Scheduled(pod, NOWHERE, np.zeros(0, dtype=np.int64), {}, undecided)
    remarks = model.profiles[model.columns.cluster.pods[pod].spec.scheduler_name].remarks
    best = model.best_nodes(pod, placement)
    if not best.size:
        return Scheduled(pod, NOWHERE, best, reason_counts(model.refusals(pod, placement)), remarks)
    node = int(best[0])
    placement.assume(pod, node)
    return Scheduled(pod, node, best, {}, remarks)


def why_undecided(model: SchedulerModel, pod: int) -> tuple[str, ...]:
    """Why there is no prediction about a pending pod: gates, an unconfigured scheduler, predicates not modelled."""
    gates = model.columns.cluster.pods[pod].scheduling_gates
    return (*((f"gated by {', '.join(gates)}",) if gates else ()), *model.not_modelled(pod))
