"""What autoscalers say, by the reason of their events and conditions."""

from __future__ import annotations

from typing import Final, Literal, TypeAlias

AutoscalerReason: TypeAlias = Literal[
    # cluster-autoscaler
    "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "ScaleDown", "ScaleDownEmpty",
    "ScaleDownFailed",
    # karpenter
    "FailedScheduling", "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed", "NodeClassNotReady",
    "DisruptionTerminating", "DisruptionBlocked", "Unconsolidatable", "InstanceTerminating", "Deleting",
]  # fmt: skip
"""Reasons that may ask for a round."""

HELP_NEEDED: Final[tuple[AutoscalerReason, ...]] = (
    "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "ScaleDown", "ScaleDownEmpty",
    "FailedScheduling", "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed",
    "DisruptionTerminating",
)  # fmt: skip
"""No node comes for a pod, or nodes have gone."""
NODE_COMES: Final = frozenset({"TriggeredScaleUp", "Nominated"})
"""A node is on its way for a pod, or has room for it: the pod is left to it."""
NO_NODE_COMES: Final = frozenset(
    {
        "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "FailedScheduling",
        "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed",
    }
)  # fmt: skip
"""It does not come after all."""
