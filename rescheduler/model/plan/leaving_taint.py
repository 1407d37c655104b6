"""Our own taint on nodes that are to be left: who put it there, until when, and the cluster without it."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from msgspec import structs

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import Node

LEAVING: Final = "rescheduler.dev/leaving"
"""Key of the one taint that is ever written; its effect is NoSchedule, so no running pod is touched."""
NO_SCHEDULE: Final = "NoSchedule"
SLACK_SECONDS: Final = 5.0
"""Clocks of two machines may differ by so much before one takes the other's taint for expired."""


def leaving_taint(plan_id: str, expires_at: float) -> Taint:
    """The taint of a plan; expiry (seconds since the epoch) and owner stand in its value, so that neither gets lost."""
    return Taint(LEAVING, f"{math.ceil(expires_at)}.{plan_id}", NO_SCHEDULE)


def is_leaving_taint(taint: Taint) -> bool:
    """Whether a taint is one of ours, whatever its value."""
    return taint.key == LEAVING and taint.effect == NO_SCHEDULE


def plan_of(taint: Taint) -> str:
    """The plan that put the taint there; empty if that cannot be read."""
    return taint.value.partition(".")[2]


def ends_at(taint: Taint) -> float:
    """When the taint ends unless it is renewed, seconds since the epoch; 0 if that cannot be read."""
    text = taint.value.partition(".")[0]
    return float(text) if text.isascii() and text.isdigit() else 0.0


def is_expired(taint: Taint, now: float) -> bool:
    """Whether nobody renews the taint any more; one whose value cannot be read is nobody's."""
    return now > ends_at(taint) + SLACK_SECONDS


def leaving_taints(cluster: Cluster) -> dict[str, Taint]:
    """Our taints by node."""
    return {node.name: taint for node in cluster.nodes for taint in node.taints if is_leaving_taint(taint)}


def without_leaving_taints(cluster: Cluster) -> Cluster:
    """The cluster as a plan sees it: what a plan keeps closed for itself is its own to use."""
    if not leaving_taints(cluster):
        return cluster
    return replace(cluster, nodes=tuple(_bare(node) for node in cluster.nodes))


def _bare(node: Node) -> Node:
    kept = tuple(taint for taint in node.taints if not is_leaving_taint(taint))
    return node if len(kept) == len(node.taints) else structs.replace(node, taints=kept)
