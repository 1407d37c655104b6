"""Many pods placed one after another with numpy: totals are kept by kind, and only changed nodes worked out anew."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.scheduling.kernels.array_kernel import Use, totals, with_shares
from rescheduler.scheduling.kernels.kind import REFUSED, Kind

_MOST_KEPT: Final = 8_000_000
"""Totals that are kept, over all kinds: 64 MB."""


def place_all(kinds: Sequence[Kind], origins: Sequence[int], use: Use) -> IntArray:
    """The node of each pod, int64[n], -1 where none is feasible. Each leaves its origin (-1: none) first."""
    kept = _Kept(use._replace(used=use.used.copy(), scored_used=use.scored_used.copy()), len(kinds))
    found = np.full(len(kinds), -1, dtype=np.int64)
    for number, (kind, origin) in enumerate(zip(kinds, origins, strict=True)):
        if origin >= 0:
            kept.hold(kind, origin, -1)
        total = with_shares(kind, kept.totals(kind))
        node = int(total.argmax()) if len(total) else -1
        if node >= 0 and total[node] != REFUSED:
            kept.hold(kind, node, 1)
            found[number] = node
    return found


class _Kept:
    """Totals by kind, each with the place in the log of changed nodes up to which it is true."""

    def __init__(self, use: Use, count: int) -> None:
        self._use = use
        self._log = np.empty(2 * count, dtype=np.int64)
        self._logged = 0
        self._totals: OrderedDict[int, tuple[IntArray, int]] = OrderedDict()
        self._most = max(1, _MOST_KEPT // max(use.used.shape[1], 1))

    def hold(self, kind: Kind, node: int, sign: int) -> None:
        """A pod of the kind arrives (1) or leaves (-1)."""
        self._use.used[:, node] += sign * kind.requests[:-2]
        self._use.scored_used[:, node] += sign * kind.requests[-2:]
        self._log[self._logged] = node
        self._logged += 1

    def totals(self, kind: Kind) -> IntArray:
        """Totals of all nodes, up to date; not to be written to."""
        found, seen = self._totals.pop(kind.number, (None, 0))
        changed = self._log[seen : self._logged]
        if found is None or len(changed) * 16 > len(found):
            found = totals(kind, self._use, kind.base)
        elif len(changed):
            found[changed] = totals(kind, self._use.at(changed), kind.base[changed])
        self._totals[kind.number] = found, self._logged
        if len(self._totals) > self._most:
            self._totals.popitem(last=False)
        return found
