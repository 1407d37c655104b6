"""Predicates and priorities of the legacy Policy by name, and the plugins that they became."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rescheduler.scheduling.configuration.settings import Effect, NotModelled, ScoreArguments
from rescheduler.scheduling.scores import (
    ImageLocality,
    InterPodAffinity,
    NodeAffinity,
    NodeResourcesBalancedAllocation,
    NodeResourcesFit,
    PodTopologySpread,
    TaintToleration,
)

PREDICATES: Mapping[str, tuple[str, ...]] = {
    "GeneralPredicates": ("NodeName", "NodeAffinity", "NodePorts", "NodeResourcesFit"),
    "HostName": ("NodeName",),
    "MatchNodeSelector": ("NodeAffinity",),
    "PodFitsHostPorts": ("NodePorts",),
    "PodFitsPorts": ("NodePorts",),
    "PodFitsResources": ("NodeResourcesFit",),
    "NoDiskConflict": ("VolumeRestrictions",),
    "PodToleratesNodeTaints": ("TaintToleration",),
    "PodToleratesNodeNoExecuteTaints": ("TaintToleration",),
    "CheckNodeUnschedulable": ("NodeUnschedulable",),
    "CheckVolumeBinding": ("VolumeBinding",),
    "NoVolumeZoneConflict": ("VolumeZone",),
    "MaxCSIVolumeCountPred": ("NodeVolumeLimits",),
    "MaxEBSVolumeCount": ("NodeVolumeLimits",),
    "MaxGCEPDVolumeCount": ("NodeVolumeLimits",),
    "MaxAzureDiskVolumeCount": ("NodeVolumeLimits",),
    "MaxCinderVolumeCount": ("NodeVolumeLimits",),
    "MatchInterPodAffinity": ("InterPodAffinity",),
    "EvenPodsSpread": ("PodTopologySpread",),
    "CheckNodeCondition": ("NodeUnschedulable",),
    "CheckNodeMemoryPressure": (),
    "CheckNodeDiskPressure": (),
    "CheckNodePIDPressure": (),
}
"""Those of the node's conditions became taints; they and NodeReady stand for them."""
MANDATORY: Final = ("NodeUnschedulable", "TaintToleration")
CUSTOM_PREDICATES: Final = ("serviceAffinity", "labelsPresence")

PRIORITIES: Mapping[str, ScoreArguments | None] = {
    "LeastRequestedPriority": NodeResourcesFit("LeastAllocated"),
    "MostRequestedPriority": NodeResourcesFit("MostAllocated"),
    "BalancedResourceAllocation": NodeResourcesBalancedAllocation(),
    "InterPodAffinityPriority": InterPodAffinity(),
    "NodeAffinityPriority": NodeAffinity(),
    "TaintTolerationPriority": TaintToleration(),
    "ImageLocalityPriority": ImageLocality(),
    "EvenPodsSpreadPriority": PodTopologySpread(defaults=()),
    "EqualPriority": None,
    "NodePreferAvoidPodsPriority": None,
    "SelectorSpreadPriority": None,
    "ServiceSpreadingPriority": None,
    "ResourceLimitsPriority": None,
}
"""None: no score of its own here."""
RATIO: Final = "RequestedToCapacityRatioPriority"
CUSTOM_PRIORITIES: Final = ("serviceAntiAffinity", "labelPreference", "requestedToCapacityRatioArguments")

DEFAULT_PRIORITIES: Mapping[str, int] = {
    "SelectorSpreadPriority": 1,
    "InterPodAffinityPriority": 1,
    "LeastRequestedPriority": 1,
    "BalancedResourceAllocation": 1,
    "NodePreferAvoidPodsPriority": 10000,
    "NodeAffinityPriority": 1,
    "TaintTolerationPriority": 1,
    "ImageLocalityPriority": 1,
}

_ESTIMATE = "not modelled: its score is unknown: destinations are estimates"
_NOTES: Mapping[str, tuple[Effect, str]] = {
    "EqualPriority": (Effect.HARMLESS, "scores all nodes alike: harmless"),
    "NodePreferAvoidPodsPriority": (
        Effect.HARMLESS,
        "not modelled: harmless unless nodes carry the annotation scheduler.alpha.kubernetes.io/preferAvoidPods",
    ),
}


def note_of_priority(name: str) -> NotModelled | None:
    """What it means that a priority is on; None for one that is modelled."""
    if name == RATIO or PRIORITIES.get(name) is not None:
        return None
    effect, text = _NOTES.get(name, (Effect.ESTIMATE, _ESTIMATE))
    return NotModelled(name, effect, text)


def note_of_custom_priority(name: str) -> NotModelled:
    """What it means that a priority by labels of nodes or services is on."""
    return NotModelled(name, Effect.ESTIMATE, _ESTIMATE)


def note_of_custom_predicate(name: str) -> NotModelled:
    """What it means that a predicate by labels of nodes or services is on."""
    text = "not modelled, and it filters nodes: nothing is foretold about its pods and they are not moved"
    return NotModelled(name, Effect.UNKNOWN, text)
