"""One kind of pod as arrays: all that its verdicts and scores follow from, besides what is in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.scheduling.kernels.offers import FloatArray

REFUSED: Final = -(1 << 62)
"""In place of a total: the node is not feasible."""

# Strategies of the fit score, as numbers. The ratio looks the score up by the percentage in use.
LEAST, MOST, RATIO = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Kind:
    """Pods alike in requests, and in what static filters and scores look at.

    ``base``: int64[N], scores fixed for each node, REFUSED where a static filter refuses.
    ``checks``: int64[C, 2], row and request of each resource that must have room.
    ``fit``: int64[F, 3], weight, row and request (with defaults) of each resource of the fit score; a row from R on is
    one of cpu and memory with kube-scheduler's defaults. ``balance``: int64[B, 2], row and request; empty if the pod
    asks for none of them. ``points``: float64[101], score by percentage, for the ratio.
    ``shares``: raw score of each node, int64[N], its weight and whether reversed, of the scores that are shares of the
    largest raw score among feasible nodes.
    ``settings``: int64[4], strategy, weight of the fit score, weight of the balance score, whether that scores change.
    ``is_plain``: it asks for what the one-pass kernel computes: two resources each, offered by every node.
    ``requests``: int64[R + 2], what a pod holds where it goes, then cpu and memory with kube-scheduler's defaults.
    """

    number: int
    static: BoolArray
    base: IntArray
    checks: IntArray
    fit: IntArray
    balance: IntArray
    points: FloatArray
    shares: tuple[tuple[IntArray, int, bool], ...]
    settings: IntArray
    is_plain: bool
    requests: IntArray


def table(rows: list[tuple[int, ...]], width: int) -> IntArray:
    """Rows as int64[len(rows), width], also when there are none."""
    return np.array(rows, dtype=np.int64).reshape(len(rows), width)
