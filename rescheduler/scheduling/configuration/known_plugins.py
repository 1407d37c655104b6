"""Scheduler plugins by name: the extension points each one stands at, and what is modelled of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rescheduler.scheduling.configuration.settings import Effect, NotModelled

QUEUE_POINTS: Final = ("preEnqueue", "queueSort")
FILTER_POINTS: Final = ("preFilter", "filter")
SCORE_POINTS: Final = ("preScore", "score")
_LATER_POINTS: Final = ("reserve", "permit", "preBind", "bind", "postBind")
_GROUP_POINTS: Final = ("placementGenerate", "placementScore")
POINTS: Final = (*QUEUE_POINTS, *_GROUP_POINTS, *FILTER_POINTS, "postFilter", *SCORE_POINTS, *_LATER_POINTS)
"""Extension points in the order in which they run."""

_FILTERS_ONLY = ("preFilter", "filter")
_BOTH = (*FILTER_POINTS, *SCORE_POINTS)

IN_TREE: Mapping[str, tuple[str, ...]] = {
    "SchedulingGates": ("preEnqueue",),
    "PrioritySort": ("queueSort",),
    "NodeUnschedulable": ("filter",),
    "NodeName": ("filter",),
    "TaintToleration": ("filter", *SCORE_POINTS),
    "NodeAffinity": _BOTH,
    "NodePorts": _FILTERS_ONLY,
    "NodeResourcesFit": ("placementScore", *_BOTH),
    "VolumeRestrictions": _FILTERS_ONLY,
    "NodeVolumeLimits": _FILTERS_ONLY,
    "EBSLimits": ("filter",),
    "GCEPDLimits": ("filter",),
    "AzureDiskLimits": ("filter",),
    "CinderLimits": ("filter",),
    "VolumeBinding": (*_BOTH, "reserve", "preBind"),
    "VolumeZone": _FILTERS_ONLY,
    "PodTopologySpread": _BOTH,
    "InterPodAffinity": _BOTH,
    "NodeDeclaredFeatures": _FILTERS_ONLY,
    "GangScheduling": ("preEnqueue", "permit"),
    "DynamicResources": ("preEnqueue", *_FILTERS_ONLY, "postFilter", "score", "reserve", "preBind"),
    "DefaultPreemption": ("preEnqueue", "postFilter"),
    "NodeResourcesBalancedAllocation": SCORE_POINTS,
    "ImageLocality": ("score",),
    "DefaultBinder": ("bind",),
    "SelectorSpread": SCORE_POINTS,
    "NodePreferAvoidPods": ("score",),
    "NodeResourcesLeastAllocated": ("score",),
    "NodeResourcesMostAllocated": ("score",),
    "RequestedToCapacityRatio": ("score",),
    "NodeLabel": ("filter", "score"),
    "ServiceAffinity": (*_FILTERS_ONLY, "score"),
}
"""kube-scheduler's own plugins, of all versions of its configuration that are read."""

OTHERS: Mapping[str, tuple[str, ...]] = {
    "TargetLoadPacking": ("score",),
    "LoadVariationRiskBalancing": ("score",),
    "LowRiskOverCommitment": ("score",),
    "BestFitBinPack": SCORE_POINTS,
    "SafeBalancing": SCORE_POINTS,
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
"""Plugins that are not kube-scheduler's own, but known."""

LOAD_AWARE: Final = (
    "TargetLoadPacking", "LoadVariationRiskBalancing", "LowRiskOverCommitment", "BestFitBinPack", "SafeBalancing",
)  # fmt: skip

REMOVED: Final = (
    "NodeLabel", "ServiceAffinity", "NodePreferAvoidPods", "NodeResourcesLeastAllocated",
    "NodeResourcesMostAllocated", "RequestedToCapacityRatio",
)  # fmt: skip
"""Plugins that v1beta2 and later do not have."""

# Volume limits of single providers: their volumes are counted by NodeVolumeLimits since they went over to CSI.
_COVERED = ("EBSLimits", "GCEPDLimits", "AzureDiskLimits", "CinderLimits")
_UNKNOWN = "whether a node suits a pod is unknown: nothing is foretold about its pods and they are not moved"
_ESTIMATE = "its score is unknown: destinations are estimates"
_COSCHEDULED = ("scheduling.x-k8s.io/pod-group", "pod-group.scheduling.sigs.k8s.io")


def points_of(plugin: str) -> tuple[str, ...] | None:
    """The extension points at which a plugin can stand; None for a plugin that is not known."""
    return IN_TREE.get(plugin) or OTHERS.get(plugin)


def not_modelled(plugin: str, points: frozenset[str]) -> NotModelled | None:
    """What it means that a plugin stands at these points; None where all that matters of it is modelled."""
    special = _special(plugin, points)
    if special is not None or plugin in IN_TREE:
        return special
    if points.intersection(FILTER_POINTS):
        return NotModelled(plugin, Effect.UNKNOWN, f"not modelled, and it filters nodes: {_UNKNOWN}")
    if plugin not in LOAD_AWARE and points.intersection(SCORE_POINTS):
        return NotModelled(plugin, Effect.ESTIMATE, f"not modelled: {_ESTIMATE}")
    return None if plugin in LOAD_AWARE else _beside(plugin, points)


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
