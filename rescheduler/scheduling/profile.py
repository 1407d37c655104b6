"""What a scheduler is made of: its filters in order, and its scores with their weights."""

from __future__ import annotations

import re
from dataclasses import dataclass

from rescheduler.extension_points import Filter, Score
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.scores import (
    ImageLocality,
    InterPodAffinity,
    NodeAffinity,
    NodeResourcesBalancedAllocation,
    NodeResourcesFit,
    PodTopologySpread,
    TaintToleration,
)

DEFAULT_SCHEDULER = "default-scheduler"
# The first minor version of Kubernetes 1 whose balance score looks at the change that the pod makes.
_SCORES_CHANGE_OF_BALANCE = 36


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
    balance = NodeResourcesBalancedAllocation(scores_change=scores_change_of_balance(server_version))
    return Profile(
        scheduler_name,
        DEFAULT_FILTERS,
        (
            WeightedScore(TaintToleration(), 3),
            WeightedScore(NodeAffinity(), 2),
            WeightedScore(NodeResourcesFit(), 1),
            WeightedScore(PodTopologySpread(), 2),
            WeightedScore(InterPodAffinity(), 2),
            WeightedScore(balance, 1),
            WeightedScore(ImageLocality(), 1),
        ),
    )


def scores_change_of_balance(server_version: str | None) -> bool:
    """Whether this version's balance score looks at the change that the pod makes; unknown counts as the newest."""
    minor = minor_version(server_version)
    return minor is None or minor >= _SCORES_CHANGE_OF_BALANCE


def minor_version(server_version: str | None) -> int | None:
    """The 36 of ``v1.36.3``; None where there is no such number."""
    match = re.match(r"v?1\.(\d+)", server_version or "")
    return int(match.group(1)) if match else None
