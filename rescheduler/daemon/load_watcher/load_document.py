"""The document that GET /watcher answers with, field by field as the original load watcher writes it."""

from __future__ import annotations

from typing import Any, Final

import msgspec

Number = float | msgspec.Raw
"""A float, or its text where the encoder would write an exponent."""


class Metric(msgspec.Struct, gc=False):
    """One value; every field is always present.

    ``type``: CPU, Memory, Bandwidth or Storage; ``operator``: AVG, STD or Latest, and MAX, MIN and P50 to P99 on
    request; ``rollup``: the window, such as 15m; ``value``: percent, for Bandwidth bytes per second.
    """

    name: str
    type: str
    operator: str
    rollup: str
    value: Any


class NodeRegion(msgspec.Struct, rename={"data_center": "dataCenter"}):
    """Where a node stands; never filled in."""

    data_center: str = ""


class LoadOf(msgspec.Struct, gc=False):
    """Load of one node or pod."""

    metrics: list[Metric]
    tags: dict[str, str] = msgspec.field(default_factory=dict)
    metadata: NodeRegion = msgspec.field(default_factory=NodeRegion)


class LoadWindow(msgspec.Struct):
    """The time that the values cover: a duration such as 15m, and seconds since the epoch."""

    duration: str
    start: int
    end: int


class LoadData(msgspec.Struct, rename={"nodes": "NodeMetricsMap", "pods": "PodMetricsMap"}, omit_defaults=True):
    """Load by node, and on request by ``NAMESPACE/NAME`` of pods (an extension that other clients pass over)."""

    nodes: dict[str, LoadOf]
    pods: dict[str, LoadOf] | msgspec.UnsetType = msgspec.UNSET


class LoadDocument(msgspec.Struct):
    """The whole answer; ``timestamp`` in seconds since the epoch."""

    timestamp: int
    window: LoadWindow
    source: str
    data: LoadData


_SMALLEST_PLAIN: Final = 1e-5
_LARGEST_PLAIN: Final = 1e16


def plain_number(value: float) -> Number:
    """A finite value as JSON without an exponent."""
    if value == 0:
        return 0.0  # and never -0.0
    if _SMALLEST_PLAIN <= abs(value) < _LARGEST_PLAIN:
        return value
    import numpy as np

    return msgspec.Raw(np.format_float_positional(value, trim="0").encode())
