"""Room that an autoscaler is asked for, and nodes that it is offered."""

from __future__ import annotations

from datetime import datetime
from typing import Final, NamedTuple

from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import PodSpec
from rescheduler.model.plan.plan import PodReference
from rescheduler.model.times import rfc3339

CAPACITY: Final = "rescheduler.dev/capacity"
"""Label of everything that one request for room consists of: its name."""
FOR: Final = "rescheduler.dev/for"
"""Annotation of the same: uids of the pods that the room is for."""
BUYING: Final = "rescheduler-buy-"
"""How the names of requests begin that ask for machines which a plan names, and which no pod waits for."""
EMPTIED: Final = "rescheduler.dev/emptied"
"""Annotation or taint of a node that a plan has emptied: until when it is offered."""
NO_SCHEDULE: Final = "NoSchedule"
ANNOTATE, TAINT, HOLD = "Annotate", "Taint", "Hold"
OFFERING: Final = "emptied"
"""What placeholders on emptied nodes name as their plan: no plan waits for them to go."""


class PodSet(NamedTuple):
    """So many pods of one shape."""

    spec: PodSpec
    number: int


class CapacityRequest(NamedTuple):
    """Room for pods. ``name``: the same for the same pods' owner, so that nothing is asked for twice.

    ``how``: as the policy names it. ``expires_at``: seconds since the epoch.
    """

    name: str
    how: str
    pods: tuple[PodReference, ...]
    shapes: tuple[PodSet, ...]
    expires_at: float


class AskedMachine(NamedTuple):
    """How far a machine has come that was asked for. ``stands``: the pod that asks is there; ``node``: where it is."""

    stands: bool
    node: str | None = None


class StandingRequest(NamedTuple):
    """A request as it stands in the cluster. ``pods``: uids. ``failure``: why the autoscaler cannot fulfil it."""

    name: str
    how: str
    pods: tuple[str, ...]
    made_at: float
    expires_at: float
    failure: str = ""


def offered_until(node: Node) -> float | None:
    """Until when the node is marked as emptied, by annotation or taint; 0 if that cannot be read, None: it is not."""
    if EMPTIED in node.annotations:
        return _annotated(node.annotations[EMPTIED])
    taint = next((taint for taint in node.taints if taint.key == EMPTIED), None)
    return None if taint is None else _tainted(taint)


def is_kept_empty(node: Node) -> bool:
    """Whether our own taint keeps pods off the node."""
    return any(taint.key == EMPTIED for taint in node.taints)


def emptied_annotation(until: float) -> str:
    """The annotation's value: RFC 3339."""
    return rfc3339(int(until))


def emptied_taint(until: float) -> Taint:
    """The taint; its value is a time in seconds since the epoch, since colons may not stand there."""
    return Taint(EMPTIED, str(int(until)), NO_SCHEDULE)


def _annotated(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0.0
    return 0.0 if moment.tzinfo is None else moment.timestamp()


def _tainted(taint: Taint) -> float:
    return float(taint.value) if taint.value.isascii() and taint.value.isdigit() and len(taint.value) < 16 else 0.0
