"""What stands behind the scores of one pod: how each comes about, and whether the scheduler looks at all nodes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import BoolArray
from rescheduler.model.placement import Placement
from rescheduler.scheduling.node_sample import possible_choices
from rescheduler.scheduling.profile import Profile
from rescheduler.scheduling.scheduler_model import SchedulerModel


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
