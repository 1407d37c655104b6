"""Closes nodes to arrivals, as the placeholders do that hold them."""

from __future__ import annotations

from collections.abc import Iterable

from rescheduler.model.columns.placement import Placement

FULL = 2**50


def close(placement: Placement, nodes: Iterable[int]) -> None:
    """Leave no room on these nodes."""
    placement.used[:, list(nodes)] += FULL
