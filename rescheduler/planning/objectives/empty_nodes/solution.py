"""A plan to empty nodes with an order, and which of two is better."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.problem.draft import WaveSchedule

_SAME = 1e-9


@dataclass(frozen=True)
class Solution:
    """``value`` as in the answer; ``harm``: moved pods that others' spread or affinity may count on.

    ``guided``: pods that the scheduler would not send where the plan has them.
    """

    schedule: WaveSchedule = field(default_factory=WaveSchedule)
    emptied: tuple[int, ...] = ()
    value: float = 0.0
    harm: int = 0
    guided: frozenset[int] = frozenset()

    @property
    def evictions(self) -> int:
        """Number of moves."""
        return self.schedule.evictions

    def is_better_than(self, other: Solution) -> bool:
        """More value; at equal value fewer evictions, then what these cost.

        Fewer pods that leave before they arrive, then less harm, then fewer guided moves, then fewer waves.
        """
        if abs(self.value - other.value) > _SAME * max(1.0, abs(other.value)):
            return self.value > other.value
        return self._cost() < other._cost()

    def _cost(self) -> tuple[int, ...]:
        return (self.evictions, self.schedule.exchanged, self.harm, len(self.guided), len(self.schedule.waves))


def solution_of(situation: EmptyingSituation, schedule: WaveSchedule) -> Solution:
    """What a schedule reaches: nodes with pods at the start and none at the end, less empty ones that got some."""
    pods = np.array([pod for wave in schedule.waves for pod, _ in wave], dtype=np.int64)
    goals = np.array([node for wave in schedule.waves for _, node in wave], dtype=np.int64)
    left: IntArray = situation.pods_on.copy()
    np.subtract.at(left, situation.start.node_of[pods], 1)
    np.add.at(left, goals, 1)
    emptied = np.flatnonzero(situation.is_source & (situation.pods_on > 0) & (left == 0))
    used = np.flatnonzero(situation.is_empty & (left > 0))
    harm = int(np.isin(pods, situation.harmful).sum())
    return Solution(schedule, tuple(emptied.tolist()), situation.worth(emptied, used), harm)


def keeps_limits(situation: EmptyingSituation, schedule: WaveSchedule) -> bool:
    """Whether a schedule stays within what the limits leave, and empties no more nodes than are wanted."""
    limits, cluster = situation.limits, situation.columns.cluster
    pods = [pod for wave in schedule.waves for pod, _ in wave]
    if len(pods) > limits.in_all:
        return False
    if len(solution_of(situation, schedule).emptied) > situation.most_nodes:
        return False
    origins = np.bincount(situation.start.node_of[pods], minlength=situation.node_count) if pods else np.zeros(1)
    if pods and (origins > limits.of_node).any():
        return False
    if limits.of_namespace is None:
        return True
    names = Counter(cluster.pods[pod].namespace for pod in pods)
    return all(number <= limits.of(name) for name, number in names.items())
