"""Use of nodes as descheduler's collector keeps it from sample to sample."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor
from typing import Final, TypeAlias

NodeUse: TypeAlias = Mapping[str, Mapping[str, int]]
"""Millicores and bytes, by node."""

EVERY_SECONDS: Final = 5.0
_KEPT: Final = 0.9


def smoothed(kept: NodeUse, samples: NodeUse) -> NodeUse:
    """What is kept after one more sample of each node: nine tenths of what was, one of what is.

    A node's first sample counts as it is; what was kept of a node that is not sampled stays.
    """
    found = {**samples, **kept}
    for name in kept.keys() & samples.keys():
        found[name] = {of: _between(kept[name].get(of, amount), amount) for of, amount in samples[name].items()}
    return found


def _between(before: int, now: int) -> int:
    """To the nearest whole one as Go rounds: halves go up, where Python's ``round`` takes the even one."""
    return floor(_KEPT * before + (1 - _KEPT) * now + 0.5)
