"""What the commands ``score`` and ``schedule`` print, as data."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from typing import NamedTuple

import numpy as np
from msgspec import Struct

from rescheduler.extension_points import ReschedulerError
from rescheduler.model.columns.arrays import NOWHERE, BoolArray
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference, reference_to
from rescheduler.scheduling.prediction.node_sample import possible_choices
from rescheduler.scheduling.profile import Profile
from rescheduler.scheduling.queue import Scheduled, schedule_pending
from rescheduler.scheduling.scheduler_model import SchedulerModel

# What stands behind the scores of one pod: how each comes about, and whether the scheduler looks at all nodes.


class ScoreLine(NamedTuple):
    """One plugin on one node: ``weight`` times ``score`` is what it adds to the total; ``text`` says how it scores."""

    plugin: str
    weight: int
    score: int
    text: str


class Sample(NamedTuple):
    """The scheduler scores so many of the feasible nodes; those of ``possible`` have ``least`` points or more."""

    scored: int
    feasible: int
    possible: int
    least: int


@dataclass(frozen=True)
class ScoreDetails:
    """Details of what ``scores_of`` says of one pod, judged in the same way. ``pod``: its index."""

    model: SchedulerModel
    pod: int

    def lines(self, nodes: Collection[str]) -> dict[str, tuple[ScoreLine, ...]]:
        """Every plugin in the profile's order, for each feasible node of these names."""
        names = self.model.columns.cluster.nodes
        numbers = [number for number in np.flatnonzero(self._feasible).tolist() if names[number].name in nodes]
        if self._profile is None or not numbers:
            return {}
        by_plugin = []
        for weight, plugin in ((weighted.weight, weighted.plugin) for weighted in self._profile.scores):
            scores = plugin.score(self.pod, self._placement, self._feasible)
            texts = plugin.explain(self.pod, numbers, self._placement, self._feasible)
            by_plugin.append(
                [
                    ScoreLine(plugin.name, weight, int(scores[number]), text)
                    for number, text in zip(numbers, texts, strict=True)
                ]
            )
        if not by_plugin:
            return {names[number].name: () for number in numbers}
        return {names[number].name: lines for number, lines in zip(numbers, zip(*by_plugin, strict=True), strict=True)}

    def sample(self) -> Sample | None:
        """None where the scheduler scores all feasible nodes, or goes by the pod's nomination."""
        pod = self.model.columns.cluster.pods[self.pod]
        nominated = self.model.columns.node_index.get(pod.nominated_node or "") if pod.is_pending else None
        if nominated is not None and self._feasible[nominated]:
            return None
        scored, feasible = self._scheduler.scored_count(self.pod), int(self._feasible.sum())
        if scored is None or scored >= feasible:
            return None
        total = self._scheduler.total(self.pod, self._placement, self._feasible)
        possible = possible_choices(total, self._feasible, scored)
        return Sample(scored, feasible, int(possible.sum()), int(total[possible].min()))

    @cached_property
    def _scheduler(self) -> SchedulerModel:
        return SchedulerModel(self.model.columns, self.model.profiles, counts_nominated=True)

    @cached_property
    def _placement(self) -> Placement:
        return Placement(self.model.columns)

    @cached_property
    def _feasible(self) -> BoolArray:
        return self._scheduler.feasible(self.pod, self._placement)

    @property
    def _profile(self) -> Profile | None:
        return self.model.profiles.get(self.model.columns.cluster.pods[self.pod].spec.scheduler_name)


class NodeScores(Struct, frozen=True, rename="camel"):
    """One node for one pod; ``scores`` by plugin (0 to 100) and ``total`` only where it is feasible."""

    node: str
    feasible: bool
    reasons: tuple[str, ...]
    scores: dict[str, int]
    total: int | None


class Scores(Struct, frozen=True, rename="camel"):
    """Filter verdict, score by plugin and total of one pod on every node."""

    pod: PodReference
    nodes: tuple[NodeScores, ...]
    kind: str = "Scores"


class ScheduledPod(Struct, frozen=True, rename="camel"):
    """Where one pending pod would go; ``reasons`` count nodes where it would go nowhere."""

    pod: PodReference
    scheduler_name: str
    node: str | None
    best_nodes: tuple[str, ...]
    reasons: dict[str, int]
    warnings: tuple[str, ...]


class ScheduleReport(Struct, frozen=True, rename="camel"):
    """All pending pods in queue order."""

    pods: tuple[ScheduledPod, ...]
    kind: str = "Schedule"


def scores_of(model: SchedulerModel, pod_key: str) -> Scores:
    """Verdict on one pod, by ``NAMESPACE/NAME``; a running pod is judged as if it were placed anew.

    Nominated pods count, as they do for the scheduler, whether or not the model counts them.

    Raises ReschedulerError for a pod that the snapshot does not hold.
    """
    columns = model.columns
    pod = columns.pod_index.get(pod_key)
    if pod is None:
        raise ReschedulerError(_unknown_pod(columns.cluster, pod_key))
    scheduler = SchedulerModel(columns, model.profiles, counts_nominated=True)
    verdict = scheduler.verdict(pod, Placement(columns))
    nodes = tuple(
        NodeScores(
            node=node.name,
            feasible=bool(verdict.feasible[number]),
            reasons=verdict.reasons(number),
            scores={name: int(values[number]) for name, values in verdict.scores.items() if verdict.feasible[number]},
            total=int(verdict.total[number]) if verdict.feasible[number] else None,
        )
        for number, node in enumerate(columns.cluster.nodes)
    )
    return Scores(pod=reference_to(columns.cluster.pods[pod]), nodes=nodes)


def schedule_of(cluster: Cluster, model: SchedulerModel | None = None) -> ScheduleReport:
    """Where each pending pod would go, each counting for those after it."""
    model = model or SchedulerModel(columns_of(cluster), counts_nominated=True)
    found = schedule_pending(model, Placement(model.columns))
    return ScheduleReport(pods=tuple(_scheduled_pod(cluster, scheduled) for scheduled in found))


def _scheduled_pod(cluster: Cluster, scheduled: Scheduled) -> ScheduledPod:
    pod = cluster.pods[scheduled.pod]
    return ScheduledPod(
        pod=reference_to(pod),
        scheduler_name=pod.spec.scheduler_name,
        node=None if scheduled.node == NOWHERE else cluster.nodes[scheduled.node].name,
        best_nodes=tuple(cluster.nodes[node].name for node in scheduled.best),
        reasons=scheduled.reasons,
        warnings=scheduled.warnings,
    )


def _unknown_pod(cluster: Cluster, pod_key: str) -> str:
    namespace, slash, _ = pod_key.partition("/")
    if not slash:
        return f'"{pod_key}" names no pod; wanted NAMESPACE/NAME'
    near = get_close_matches(pod_key, [pod.key for pod in cluster.pods if pod.namespace == namespace], n=1)
    hint = f"; did you mean {near[0]}?" if near else f"; the snapshot holds {len(cluster.pods)} pods"
    return f'there is no pod "{pod_key}" in {cluster.source or "the snapshot"}{hint}'
