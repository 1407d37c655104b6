"""Which of two plans is better: more help for the most important pods first, then fewer evictions, then the price."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem

# What planning has proven so far about every allowed plan.

HelpVector = tuple[int, ...]


@dataclass(frozen=True)
class Proven:
    """``most_help``: no plan helps more (by priority, highest first; None: not known).

    ``least_evictions``: no plan that helps just as much as ``for_help`` says takes fewer.
    """

    most_help: HelpVector | None = None
    least_evictions: int = 0
    for_help: HelpVector | None = None

    def bound_for(self, help_vector: HelpVector) -> int:
        """Fewest evictions with which this help could be had."""
        return self.least_evictions if help_vector == self.for_help else 0

    def is_best(self, help_vector: HelpVector, evictions: int) -> bool:
        """Whether a plan cannot be beaten in help or evictions."""
        return help_vector == self.most_help and evictions <= self.bound_for(help_vector)


LARGEST_WEIGHT = 2**40

Weights = dict[int, int]


def help_stages(problem: Problem) -> tuple[Weights, ...]:
    """Weights of helped pods by priority, in stages of descending importance.

    Within a stage one pod counts more than all pods of lower priorities together. Usually one stage is enough; it
    takes more where its weights would be too large for a solver.
    """
    counts = Counter(map(problem.pending_groups.priority, problem.pending))
    stages: list[Weights] = []
    stage: Weights = {}
    total = 0
    for priority in sorted(counts):
        if total * (counts[priority] + 1) > LARGEST_WEIGHT:
            stages.insert(0, stage)
            stage, total = {}, 0
        stage[priority] = total + 1
        total += stage[priority] * counts[priority]
    return (stage, *stages)


def help_vector(problem: Problem, helped: Iterable[int]) -> tuple[int, ...]:
    """Number of helped pods of each priority, the highest first."""
    counts = Counter(map(problem.pending_groups.priority, helped))
    return tuple(counts[priority] for priority in problem.pending_groups.levels)


def helped_by(problem: Problem, schedule: WaveSchedule) -> tuple[int, ...]:
    """Help vector of a schedule."""
    return help_vector(problem, (pod for pod, _, _ in schedule.places))


def rank(problem: Problem, schedule: WaveSchedule) -> tuple[tuple[int, ...], int, int, int]:
    """Sort key: the larger, the better. With a worth the least important pods count as far as they are worth it.

    Of plans with as many evictions those are better in which fewer pods leave before they arrive.
    """
    row = problem.row_of_movable
    moved = [row[pod] for wave in schedule.waves for pod, _ in wave]
    price = int(problem.prices(np.array(moved, dtype=np.int64)).sum())
    helped = helped_by(problem, schedule)
    if problem.pending_groups.evictions_per_pod is not None and helped:
        worth = problem.pending_groups.evictions_per_pod * helped[-1] - len(moved)
        return (*helped[:-1], worth), helped[-1], -schedule.exchanged, -price
    return helped, -len(moved), -schedule.exchanged, -price
