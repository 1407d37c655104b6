"""What a scheduler is made of: its filters in order, and its scores with their weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from rescheduler.extension_points import Filter, Score
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.plugin import SchedulerScore, Surroundings
from rescheduler.scheduling.scores import SCORES

DEFAULT_SCHEDULER = "default-scheduler"
DEFAULT_SCORES: Final = (
    "TaintToleration", "NodeAffinity", "NodeResourcesFit", "PodTopologySpread", "InterPodAffinity",
    "NodeResourcesBalancedAllocation", "ImageLocality",
)  # fmt: skip
"""Scores of kube-scheduler as it comes, in the order in which it runs them."""


@dataclass(frozen=True)
class WeightedScore:
    """A score plugin and what it counts in the total."""

    plugin: Score
    weight: int


@dataclass(frozen=True)
class Profile:
    """One scheduler by the name that pods give in ``schedulerName``.

    ``remarks``: what of it is not modelled and makes destinations estimates, one sentence each.
    ``percentage_of_nodes_to_score``: as configured, 0 for the scheduler's own share (see ``node_sample``).
    """

    scheduler_name: str
    filters: tuple[Filter, ...]
    scores: tuple[WeightedScore, ...]
    remarks: tuple[str, ...] = ()
    percentage_of_nodes_to_score: int = 0


def default_profile(server_version: str | None, scheduler_name: str = DEFAULT_SCHEDULER) -> Profile:
    """kube-scheduler as it comes, for a version such as ``v1.36.3``; an unknown version counts as the newest."""
    surroundings = Surroundings(0, server_version)
    weighted = (WeightedScore(score.of().fitted(surroundings), score.default_weight) for score in _default_scores())
    return Profile(scheduler_name, DEFAULT_FILTERS, tuple(weighted))


@cache
def _default_scores() -> tuple[type[SchedulerScore], ...]:
    return tuple(SCORES.get(name) for name in DEFAULT_SCORES)
