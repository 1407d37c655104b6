"""Annotations and labels that steer disruption: the only ones that snapshots keep of annotations."""

from __future__ import annotations

from typing import Final

MIRROR: Final = "kubernetes.io/config.mirror"
CONFIG_SOURCE: Final = "kubernetes.io/config.source"
SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
PREFER_NO_EVICTION: Final = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
DO_NOT_EVICT: Final = "rescheduler.dev/do-not-evict"
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"

STEERING_ANNOTATIONS: Final = frozenset(
    {MIRROR, CONFIG_SOURCE, SAFE_TO_EVICT, DO_NOT_DISRUPT, PREFER_NO_EVICTION, DO_NOT_EVICT, DELETION_COST}
)
"""What a reader keeps of the annotations of pods and nodes."""

STEERING_PREFIXES: Final = (
    "rescheduler.dev/",
    "cluster-autoscaler.kubernetes.io/",
    "karpenter.sh/",
    "descheduler.alpha.kubernetes.io/",
    "kubernetes.io/config.",
)
"""Readers keep other keys with these beginnings too."""

MANAGED_BY: Final = "app.kubernetes.io/managed-by"
OURS: Final = "rescheduler"
"""Value of the label MANAGED_BY on every placeholder that we make."""
HOLD_GATE: Final = "rescheduler.dev/hold"
"""Scheduling gate of every placeholder pod."""
