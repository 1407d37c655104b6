"""Fields of a HorizontalPodAutoscaler, loosely: one that cannot be read is left out, not the whole snapshot."""

from __future__ import annotations

from typing import Any

from rescheduler.adapters.kubernetes.decoding.metadata import Decoded, ObjectMeta


class PodAutoscalerSpec(Decoded):
    """Which workload is scaled: its kind and name."""

    scale_target_ref: Any = None


class PodAutoscalerStatus(Decoded):
    """What the autoscaler has come to."""

    current_replicas: Any = None
    desired_replicas: Any = None
    last_scale_time: Any = None


class PodAutoscalerObject(Decoded):
    """A HorizontalPodAutoscaler."""

    metadata: ObjectMeta | None = None
    spec: PodAutoscalerSpec | None = None
    status: PodAutoscalerStatus | None = None
