"""What autoscalers say, as notices: hostile or odd objects say nothing, and never fail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import yaml

from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct, ObjectMeta
from rescheduler.model.daemon.rounds import AutoscalerNotice
from rescheduler.model.printable import shortened
from rescheduler.model.times import read_time

# Fields of what autoscalers say: Events, the status of cluster-autoscaler, and Karpenter's NodeClaims.


class EventObject(ApiStruct):
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


class NodeClaimObject(ApiStruct):
    """A NodeClaim of karpenter.sh."""

    metadata: ObjectMeta | None = None
    status: Any = None


CLUSTER_AUTOSCALER, KARPENTER = "cluster-autoscaler", "karpenter"
STATUS_NAMESPACE, STATUS_NAME = "kube-system", "cluster-autoscaler-status"
DELETING: Final = "Deleting"
"""Reason of the notice that a NodeClaim is being deleted."""
LONGEST_MESSAGE: Final = 500
LONGEST_STATUS: Final = 1_000_000
_OLD_FORM: Final = re.compile(r"^\s*ScaleUp:\s+([A-Za-z]{1,40})\b", re.MULTILINE)
_ON_THE_WAY: Final = ("Launched", "Registered", "Initialized")
"""Conditions of a NodeClaim whose node comes, in their order."""
_TOLD: Final = (*_ON_THE_WAY, "DisruptionReason", "InstanceTerminating")


def event_notice(found: EventObject, autoscaler: str, seen_at: float) -> AutoscalerNotice | None:
    """What one Event says; None if it speaks of nothing. ``seen_at``: its time, where it does not say."""
    about, reason = found.involved_object, found.reason
    if not isinstance(about, dict) or not isinstance(reason, str) or not reason:
        return None
    kind, name = about.get("kind"), about.get("name")
    if not isinstance(kind, str) or not isinstance(name, str) or not kind or not name:
        return None
    namespace = about.get("namespace")
    return AutoscalerNotice(
        at=event_time(found) or seen_at,
        autoscaler=autoscaler,
        reason=shortened(reason, 128),
        kind=shortened(kind, 128),
        namespace=namespace if isinstance(namespace, str) else "",
        name=name,
        message=shortened(found.message, LONGEST_MESSAGE) if isinstance(found.message, str) else "",
    )


def event_time(found: EventObject) -> float | None:
    """When the Event was last said, seconds since the epoch; None if it tells no time."""
    series = found.series.get("lastObservedTime") if isinstance(found.series, dict) else None
    meta = found.metadata or ObjectMeta()
    written = (series, found.last_timestamp, found.event_time, found.first_timestamp, meta.creation_timestamp)
    times = [at for text in written if isinstance(text, str) and (at := read_time(text)) is not None]
    return max(times, default=None)


def scale_up_status(data: Mapping[str, Any]) -> tuple[str, float | None]:
    """What cluster-autoscaler's status says of scaling up ("InProgress", "NoActivity"), and since when; "" if nothing.

    Read in its form as YAML (since 1.30) and in the text before that.
    """
    text = data.get("status")
    if not isinstance(text, str) or len(text) > LONGEST_STATUS:
        return "", None
    try:
        # What is said of each node group comes last, and is the most of it.
        found = yaml.load(text.partition("\nnodeGroups:")[0], Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        found = None
    whole = found.get("clusterWide") if isinstance(found, dict) else None
    scale_up = whole.get("scaleUp") if isinstance(whole, dict) else None
    if isinstance(scale_up, dict) and isinstance(scale_up.get("status"), str):
        since = scale_up.get("lastTransitionTime")
        if isinstance(since, datetime):  # YAML reads times by itself
            return shortened(scale_up["status"], 40), float(since.timestamp())
        return shortened(scale_up["status"], 40), read_time(since) if isinstance(since, str) else None
    head = text.partition("NodeGroups:")[0]
    match = _OLD_FORM.search(head)
    return (match[1], None) if match and "Cluster-wide" in head else ("", None)


def claim_notices(found: NodeClaimObject, seen_at: float) -> Iterator[AutoscalerNotice]:
    """The conditions of a NodeClaim that hold, each as one notice; and that it is being deleted."""
    meta = found.metadata or ObjectMeta()
    status = found.status if isinstance(found.status, dict) else {}
    node = status.get("nodeName") if isinstance(status.get("nodeName"), str) else ""
    if not meta.name:
        return
    if meta.deletion_timestamp:
        begun = read_time(meta.deletion_timestamp) or seen_at
        yield AutoscalerNotice(min(begun, seen_at), KARPENTER, DELETING, "NodeClaim", "", meta.name, f"node {node}")
    conditions = status.get("conditions")
    for item in conditions if isinstance(conditions, list) else ():
        reason = _reason(item)
        if reason:
            written, said = item.get("lastTransitionTime"), item.get("message")
            at = read_time(written) if isinstance(written, str) else None
            message = shortened(said, LONGEST_MESSAGE) if isinstance(said, str) else ""
            yield AutoscalerNotice(
                seen_at if at is None else at, KARPENTER, reason, "NodeClaim", "", meta.name, message
            )


def _reason(item: Any) -> str:
    """What a condition tells: its type where it holds, why there is no node where it could not be launched."""
    if not isinstance(item, dict) or item.get("type") not in _TOLD:
        return ""
    if item.get("status") == "True":
        return str(item["type"])
    reason = item.get("reason")
    is_failure = item.get("status") == "False" and item["type"] == "Launched"
    return shortened(reason, 128) if is_failure and isinstance(reason, str) else ""


def is_on_its_way(found: NodeClaimObject) -> bool:
    """Whether the node of a NodeClaim is still to come."""
    conditions = found.status.get("conditions") if isinstance(found.status, dict) else None
    held = {
        item.get("type")
        for item in (conditions if isinstance(conditions, list) else ())
        if isinstance(item, dict) and item.get("status") == "True"
    }
    return "Launched" in held and "Initialized" not in held and not (found.metadata or ObjectMeta()).deletion_timestamp
