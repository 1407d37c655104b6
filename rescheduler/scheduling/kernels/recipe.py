"""What of a profile the kernels compute, if they know all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from rescheduler.extension_points import Filter, Score
from rescheduler.scheduling.filters.inter_pod_affinity import InterPodAffinity
from rescheduler.scheduling.filters.node_ports import NodePorts
from rescheduler.scheduling.filters.node_resources_fit import NodeResourcesFit
from rescheduler.scheduling.filters.node_volume_limits import NodeVolumeLimits
from rescheduler.scheduling.filters.pod_topology_spread import PodTopologySpread
from rescheduler.scheduling.filters.volume_restrictions import VolumeRestrictions
from rescheduler.scheduling.plugin import SchedulerScore
from rescheduler.scheduling.profile import Profile
from rescheduler.scheduling.scores.image_locality import ImageLocality
from rescheduler.scheduling.scores.inter_pod_affinity import InterPodAffinity as InterPodAffinityScore
from rescheduler.scheduling.scores.node_affinity import AddedNodeAffinity, NodeAffinity
from rescheduler.scheduling.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit as NodeResourcesFitScore
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread as PodTopologySpreadScore
from rescheduler.scheduling.scores.requested_to_capacity_ratio import RequestedToCapacityRatio
from rescheduler.scheduling.scores.taint_toleration import TaintToleration

_TIES: Final = (NodePorts, VolumeRestrictions, NodeVolumeLimits, PodTopologySpread, InterPodAffinity)
_BY_LARGEST: Final = (TaintToleration, NodeAffinity, AddedNodeAffinity)
_LARGEST_WEIGHT: Final = 1 << 20


@dataclass(frozen=True)
class Recipe:
    """One profile as the kernels see it; weights in the total stand first in each pair.

    ``checks_room``: NodeResourcesFit filters. ``ties``: filters that say nothing of a pod without ties to others.
    ``fit``, ``balance``: the resource scores; ``whole``: scores fixed for a pod and a node; ``by_largest``: scores
    that are shares of the largest raw score; ``of_others``: scores that follow from where other pods are.
    """

    checks_room: bool = False
    ties: tuple[Filter, ...] = ()
    fit: tuple[int, NodeResourcesFitScore] | None = None
    balance: tuple[int, NodeResourcesBalancedAllocation] | None = None
    whole: tuple[tuple[int, Score], ...] = ()
    by_largest: tuple[tuple[int, SchedulerScore], ...] = ()
    of_others: tuple[Score, ...] = ()


def recipe_of(profile: Profile) -> Recipe | None:
    """The profile's recipe; None if it holds a plugin, or a number, that the kernels do not know."""
    recipe = _with_filters(profile.filters)
    for score in profile.scores:
        if recipe is None or abs(score.weight) > _LARGEST_WEIGHT:
            return None
        recipe = _with_score(recipe, score.weight, score.plugin)
    return recipe


def _with_filters(plugins: Sequence[Filter]) -> Recipe | None:
    recipe = Recipe()
    for plugin in plugins:
        if plugin == NodeResourcesFit():
            recipe = replace(recipe, checks_room=True)
        elif type(plugin) in _TIES:
            recipe = replace(recipe, ties=(*recipe.ties, plugin))
        elif not plugin.is_static:
            return None
    return recipe


def _with_score(recipe: Recipe, weight: int, plugin: Score) -> Recipe | None:
    if type(plugin) is RequestedToCapacityRatio and plugin.arguments.absent_resources == "LeaveOut":
        plugin = NodeResourcesFitScore(plugin.name, plugin.arguments.weights, plugin.arguments.points)
    if type(plugin) is NodeResourcesFitScore:
        return replace(recipe, fit=(weight, plugin)) if recipe.fit is None and _is_known(plugin) else None
    if type(plugin) is NodeResourcesBalancedAllocation:
        return replace(recipe, balance=(weight, plugin)) if recipe.balance is None else None
    if type(plugin) is ImageLocality:
        return replace(recipe, whole=(*recipe.whole, (weight, plugin)))
    if isinstance(plugin, SchedulerScore) and type(plugin) in _BY_LARGEST:
        return replace(recipe, by_largest=(*recipe.by_largest, (weight, plugin)))
    if type(plugin) in (InterPodAffinityScore, PodTopologySpreadScore):
        return replace(recipe, of_others=(*recipe.of_others, plugin))
    return None


def _is_known(plugin: NodeResourcesFitScore) -> bool:
    return all(1 <= weight <= _LARGEST_WEIGHT for _, weight in plugin.resources)
