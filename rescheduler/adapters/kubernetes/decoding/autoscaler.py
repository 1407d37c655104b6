"""Fields of what autoscalers say: Events, the status of cluster-autoscaler, and Karpenter's NodeClaims."""

from __future__ import annotations

from typing import Any

from rescheduler.adapters.kubernetes.decoding.metadata import Decoded, ObjectMeta


class EventObject(Decoded):
    """A core/v1 Event, loosely: one that is odd is read as far as it goes."""

    metadata: ObjectMeta | None = None
    involved_object: Any = None
    reason: Any = None
    message: Any = None
    source: Any = None
    reporting_component: Any = None
    first_timestamp: Any = None
    last_timestamp: Any = None
    event_time: Any = None
    series: Any = None


class NodeClaimObject(Decoded):
    """A NodeClaim of karpenter.sh."""

    metadata: ObjectMeta | None = None
    status: Any = None
