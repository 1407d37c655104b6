"""Scheduler plugins by name: the extension points each one stands at, and what is modelled of it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from rescheduler.scheduling.configuration.settings import Effect, NotModelled
from rescheduler.scheduling.filters import FILTERS
from rescheduler.scheduling.plugin import FILTER_POINTS, SCORE_POINTS, SchedulerFilter, SchedulerScore
from rescheduler.scheduling.scores import SCORES

QUEUE_POINTS: Final = ("preEnqueue", "queueSort")
_LATER_POINTS: Final = ("reserve", "permit", "preBind", "bind", "postBind")
_GROUP_POINTS: Final = ("placementGenerate", "placementScore")
POINTS: Final = (*QUEUE_POINTS, *_GROUP_POINTS, *FILTER_POINTS, "postFilter", *SCORE_POINTS, *_LATER_POINTS)
"""Extension points in the order in which they run."""

IN_TREE: Mapping[str, tuple[str, ...]] = {
    "PrioritySort": ("queueSort",),
    "EBSLimits": ("filter",),
    "GCEPDLimits": ("filter",),
    "AzureDiskLimits": ("filter",),
    "CinderLimits": ("filter",),
    "NodeDeclaredFeatures": FILTER_POINTS,
    "GangScheduling": ("preEnqueue", "permit"),
    "DynamicResources": ("preEnqueue", *FILTER_POINTS, "postFilter", "score", "reserve", "preBind"),
    "DefaultPreemption": ("preEnqueue", "postFilter"),
    "DefaultBinder": ("bind",),
    "SelectorSpread": SCORE_POINTS,
    "NodePreferAvoidPods": ("score",),
    "NodeLabel": ("filter", "score"),
    "ServiceAffinity": (*FILTER_POINTS, "score"),
}
"""kube-scheduler's own plugins that no filter and no score models, of all versions of its configuration."""

OTHERS: Mapping[str, tuple[str, ...]] = {
    "Coscheduling": ("queueSort", "preFilter", "postFilter", "reserve", "permit", "postBind"),
    "CapacityScheduling": ("preFilter", "postFilter", "reserve"),
    "NodeResourceTopologyMatch": ("filter", "score", "reserve", "postBind"),
    "NodeResourcesAllocatable": ("score",),
    "NetworkOverhead": ("preFilter", "filter", "score"),
    "TopologicalSort": ("queueSort",),
    "PodState": ("score",),
    "Peaks": ("score",),
    "SySched": ("score",),
    "QOSSort": ("queueSort",),
    "PreemptionToleration": ("postFilter",),
    "CrossNodePreemption": ("postFilter",),
}
"""Plugins that are not kube-scheduler's own, known, and not modelled."""

_REMOVED: Final = ("NodeLabel", "ServiceAffinity", "NodePreferAvoidPods")
# Volume limits of single providers: their volumes are counted by NodeVolumeLimits since they went over to CSI.
_COVERED = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
_UNKNOWN = "whether a node suits a pod is unknown: no prediction about its pods and they are not moved"
_ESTIMATE = "its score is unknown: destinations are estimates"
_COSCHEDULED = ("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")


@cache
def score_class(plugin: str) -> type[SchedulerScore] | None:
    """What models the score of a plugin; None where nothing does. Raises PluginError for one that is unusable."""
    return SCORES.get(plugin) if plugin in SCORES.own or plugin in SCORES.foreign() else None


@cache
def filter_class(plugin: str) -> type[SchedulerFilter] | None:
    """What models the filter of a plugin; None where nothing does. Raises PluginError for one that is unusable."""
    return FILTERS.get(plugin) if plugin in FILTERS.own or plugin in FILTERS.foreign() else None


def filters_nodes(plugin: str) -> bool:
    """Whether the filter of a plugin is modelled; of another package's only one that looks at pod and node alone."""
    found = filter_class(plugin)
    return found is not None and (plugin in FILTERS.own or found.is_static)


@cache
def points_of(plugin: str) -> tuple[str, ...] | None:
    """The extension points at which a plugin can stand; None for a plugin that is not known."""
    return _modelled_points(plugin) or IN_TREE.get(plugin) or OTHERS.get(plugin)


def _modelled_points(plugin: str) -> tuple[str, ...]:
    """Those of the filter and of the score of that name, in the order in which they run."""
    classes = (filter_class(plugin), score_class(plugin))
    points = {point for found in classes if found is not None for point in found.stands_at}
    return tuple(point for point in POINTS if point in points)


def is_removed(plugin: str) -> bool:
    """Whether v1beta2 and later do not have a plugin."""
    found = score_class(plugin)
    return plugin in _REMOVED if found is None else found.is_removed


def known_names() -> list[str]:
    """Every plugin that a KubeSchedulerConfiguration may name here."""
    names = dict.fromkeys((*FILTERS.names(), *SCORES.names(), *IN_TREE, *OTHERS))
    return [name for name in names if points_of(name) is not None]


def not_modelled(plugin: str, points: frozenset[str]) -> NotModelled | None:
    """What it means that a plugin stands at these points; None where all that matters of it is modelled."""
    found = filter_class(plugin)
    if found is not None and plugin not in FILTERS.own and not found.is_static and points.intersection(FILTER_POINTS):
        text = "it filters nodes by where other pods are, which plans cannot follow: no prediction about its pods"
        return NotModelled(plugin, Effect.UNKNOWN, f"{text} and they are not moved")
    if _modelled_points(plugin):
        return None
    special = _special(plugin, points)
    if special is not None or plugin in IN_TREE:
        return special
    if points.intersection(FILTER_POINTS):
        return NotModelled(plugin, Effect.UNKNOWN, f"not modelled, and it filters nodes: {_UNKNOWN}")
    if points.intersection(SCORE_POINTS):
        return NotModelled(plugin, Effect.ESTIMATE, f"not modelled: {_ESTIMATE}")
    return _beside(plugin, points)


def _beside(plugin: str, points: frozenset[str]) -> NotModelled | None:
    """A plugin that neither filters nor scores."""
    if points.intersection(_GROUP_POINTS):
        text = "not modelled: it places groups of pods together, here pods are taken one by one"
        return NotModelled(plugin, Effect.ESTIMATE, text)
    if "preEnqueue" in points:
        text = "not modelled, and it may keep pods out of the queue: a pod may wait although it fits"
        return NotModelled(plugin, Effect.ESTIMATE, text)
    if points.intersection(_LATER_POINTS):
        text = "not modelled, and it acts after a node is chosen: it may delay or refuse a binding"
        return NotModelled(plugin, Effect.ESTIMATE, text)
    if "postFilter" in points:
        text = "not modelled, and it only acts where a pod fits nowhere: harmless, no plan counts on preemption"
        return NotModelled(plugin, Effect.HARMLESS, text)
    if "queueSort" in points:
        text = "not modelled, and it only orders the queue: harmless, but pods may be served in another order"
        return NotModelled(plugin, Effect.HARMLESS, text)
    return None


def _special(plugin: str, points: frozenset[str]) -> NotModelled | None:
    """Plugins that are modelled in part, or that matter to some pods only."""
    if plugin == "Coscheduling" and points.intersection((*FILTER_POINTS, "permit")):
        text = f"not modelled: groups are bound whole; about their members, {_UNKNOWN}"
        return NotModelled(plugin, Effect.UNKNOWN, text, pod_labels=_COSCHEDULED)
    if plugin == "GangScheduling":
        text = "not modelled: pods of a Workload are bound together, here pods are taken one by one"
        return NotModelled(plugin, Effect.ESTIMATE, text)
    if plugin in _COVERED:
        return NotModelled(plugin, Effect.HARMLESS, "not modelled: such volumes are counted by NodeVolumeLimits")
    if plugin == "NodePreferAvoidPods":
        text = "not modelled: harmless unless nodes carry the annotation scheduler.alpha.kubernetes.io/preferAvoidPods"
        return NotModelled(plugin, Effect.HARMLESS, text)
    if plugin in ("NodeLabel", "ServiceAffinity") and "filter" in points:
        return NotModelled(plugin, Effect.UNKNOWN, f"not modelled, and it filters nodes: {_UNKNOWN}")
    if plugin in ("NodeLabel", "ServiceAffinity", "SelectorSpread") and "score" in points:
        return NotModelled(plugin, Effect.ESTIMATE, f"not modelled: {_ESTIMATE}")
    return None
