"""Many nodes with one and the same value are a broken query, not a balanced cluster."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import Final

import numpy as np

from rescheduler.model.usage.samples import NodeSamples
from rescheduler.usage.checks.evidence import JUDGED, carried
from rescheduler.usage.checks.verdicts import Freeze

_LARGEST_SHARE: Final = 0.5
_FEWEST: Final = 3
"""Nodes that must agree; in a smaller cluster all of them must."""


def all_equal(samples: NodeSamples, after: float = -inf) -> Iterator[Freeze]:
    """Times later than ``after`` at which more than half of the nodes with a value showed the same one."""
    for metric in JUDGED:
        if metric not in samples.values:
            continue
        for row, values in enumerate(carried(samples.values[metric])):
            known = values[np.isfinite(values)]
            if known.size < 2 or samples.times[row] <= after:
                continue
            distinct, counts = np.unique(known, return_counts=True)
            most = int(counts.max())
            if most > _LARGEST_SHARE * known.size and most >= min(_FEWEST, known.size):
                shared = 100 * distinct[int(counts.argmax())]
                reason = f"{most} of {known.size} nodes showed the same {metric} of {shared:.4g} %"
                yield Freeze(float(samples.times[row]), reason)
