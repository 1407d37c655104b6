"""Annotations and labels that steer disruption: the only ones that snapshots keep of annotations."""

from __future__ import annotations

from typing import Final

MIRROR: Final = "kubernetes.io/config.mirror"
CONFIG_SOURCE: Final = "kubernetes.io/config.source"
SAFE_TO_EVICT: Final = "cluster-autoscaler.kubernetes.io/safe-to-evict"
DO_NOT_DISRUPT: Final = "karpenter.sh/do-not-disrupt"
PREFER_NO_EVICTION: Final = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
DO_NOT_EVICT: Final = "rescheduler.dev/do-not-evict"
STOP: Final = "rescheduler.dev/stop"
"""Kill switch: on the ledger, or on the namespace of our own objects; its value is the reason."""
RESCHEDULE: Final = "rescheduler.dev/reschedule"
"""On a namespace or a workload: each new value asks for a round."""
ANTAGONISTS_UNTIL: Final = "rescheduler.dev/antagonists-until"
"""On a pod: from this time (RFC 3339) on its label of antagonists says nothing."""
SURGE: Final = "rescheduler.dev/surge"
"""On a pod that moves by surge: the label that was changed, its value before, the plan, and until when (JSON)."""
REQUEST_EVICT_ONLY: Final = "descheduler.alpha.kubernetes.io/request-evict-only"
"""On a pod whose owner answers an eviction by moving the pod himself (KubeVirt)."""
EVICTION_IN_PROGRESS: Final = "descheduler.alpha.kubernetes.io/eviction-in-progress"
"""On such a pod while it is being moved."""
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"

STEERING_ANNOTATIONS: Final = frozenset(
    {MIRROR, CONFIG_SOURCE, SAFE_TO_EVICT, DO_NOT_DISRUPT, PREFER_NO_EVICTION, DO_NOT_EVICT, DELETION_COST}
)
"""What a reader keeps of the annotations of pods and nodes."""

OUR_PREFIX: Final = "rescheduler.dev/"
STEERING_PREFIXES: Final = (
    OUR_PREFIX,
    "cluster-autoscaler.kubernetes.io/",
    "karpenter.sh/",
    "descheduler.alpha.kubernetes.io/",
    "kubernetes.io/config.",
)
"""Readers keep other keys with these beginnings too."""

MANAGED_BY: Final = "app.kubernetes.io/managed-by"
OURS: Final = "rescheduler"
"""Value of the label MANAGED_BY on every placeholder that we make."""
POD_SECURITY: Final = "pod-security.kubernetes.io/enforce"
RESTRICTED: Final = "restricted"
"""Label and value of a namespace into which the API server lets no pod with any privilege."""
NAME: Final = "app.kubernetes.io/name"
PART_OF: Final = "app.kubernetes.io/part-of"
"""Labels of our own pods with the value OURS, however they were installed: by name, or by what they are part of."""
HOLD_GATE: Final = "rescheduler.dev/hold"
"""Scheduling gate of every placeholder pod."""
GUIDE_GATE: Final = "rescheduler.dev/guide"
"""Scheduling gate of replacements that a running plan leads to their nodes."""
HOLD: Final = "rescheduler.dev/hold"
"""Label of a placeholder's Job and pods: the Job's name; annotation of its pod: the hold that it is for."""
PLAN: Final = "rescheduler.dev/plan"
"""Label or annotation of everything that a running plan writes: the plan that it belongs to."""
EXPIRES: Final = "rescheduler.dev/expires"
"""Annotation of the same: when it ends unless it is renewed, RFC 3339."""
