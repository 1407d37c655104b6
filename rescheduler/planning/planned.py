"""Moves and places of an answer, by index."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PlannedMove:
    """A pod (index into ``Cluster.pods``) leaves its node in ``wave`` (from 1) and is expected on ``to_node``.

    ``evict_first``: all pods of its wave leave before any of them arrives.
    """

    pod: int
    to_node: int
    wave: int
    needs_guidance: bool
    reason: str
    evict_first: bool = False


@dataclass(frozen=True)
class PlannedPlace:
    """A pending pod gets a place that is free at the end of ``wave`` (0: at once)."""

    pod: int
    node: int
    wave: int
