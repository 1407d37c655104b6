"""Pods to place one after another, and their kinds, packed into arrays for one compiled loop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.scheduling.kernels.kind import Kind, table
from rescheduler.scheduling.kernels.offers import FloatArray

_MOST_SLOT_NUMBERS: Final = 8_000_000
"""Totals that are kept, over all kinds: 64 MB."""


class Batch(NamedTuple):
    """The arguments of ``batch_kernel.place_all`` after those of the placement; see there."""

    pods: IntArray
    numbers: IntArray
    bases: IntArray
    checks: IntArray
    fits: IntArray
    balances: IntArray
    points: FloatArray
    settings: IntArray
    raws: IntArray
    shares: IntArray
    requests: IntArray
    pairs: IntArray
    withouts: FloatArray
    slots: IntArray


class _Distinct:
    """Items numbered in the order of their first appearance."""

    def __init__(self) -> None:
        self.items: list[IntArray | FloatArray] = []
        self._numbers: dict[object, int] = {}

    def number(self, key: object, item: IntArray | FloatArray) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.items)
            self.items.append(item)
        return self._numbers[key]


def pack(kinds: Sequence[Kind], origins: Sequence[int], width: int) -> Batch:
    """``kinds`` and ``origins`` (-1: none): of each pod in turn; ``width``: number of nodes."""
    distinct = {kind.number: kind for kind in kinds}
    index = {number: place for place, number in enumerate(distinct)}
    of_kinds = list(distinct.values())
    slots = _slots(Counter(kind.number for kind in kinds), width)
    bases, points, raws, pairs = _Distinct(), _Distinct(), _Distinct(), _Distinct()
    numbers, shares = [], []
    for kind in of_kinds:
        shares.append(table([(raws.number(id(raw), raw), weight, int(is_reversed))
                             for raw, weight, is_reversed in kind.shares], 3))  # fmt: skip
        numbers.append(
            (
                bases.number(id(kind.base), kind.base),
                len(kind.checks),
                len(kind.fit),
                len(kind.balance),
                points.number(kind.points.tobytes(), kind.points),
                len(kind.shares),
                pairs.number(tuple(kind.balance[:, 0]), kind.balance[:, 0]) if kind.is_plain else -1,
                slots.get(kind.number, 0),
            )
        )
    return Batch(
        pods=np.stack((np.array([index[kind.number] for kind in kinds]), np.array(origins, dtype=np.int64)), axis=1),
        numbers=np.array(numbers, dtype=np.int64),
        bases=np.array(bases.items),
        checks=_padded(of_kinds, lambda kind: kind.checks),
        fits=_padded(of_kinds, lambda kind: kind.fit),
        balances=_padded(of_kinds, lambda kind: kind.balance),
        points=np.array(points.items),
        settings=np.array([kind.settings for kind in of_kinds]),
        raws=np.array(raws.items, dtype=np.int64).reshape(len(raws.items), width),
        shares=_stacked(shares),
        requests=np.array([kind.requests for kind in of_kinds]),
        pairs=np.array(pairs.items, dtype=np.int64).reshape(len(pairs.items), 2),
        withouts=np.empty((len(pairs.items), width)),
        slots=np.empty((1 + len(slots), width), dtype=np.int64),
    )


def _slots(counts: Counter[int], width: int) -> dict[int, int]:
    """A slot for each kind of several pods, the most frequent first, as far as memory goes."""
    frequent = [number for number, count in counts.most_common(_MOST_SLOT_NUMBERS // max(width, 1)) if count > 1]
    return {number: 1 + place for place, number in enumerate(frequent)}


def _padded(kinds: Iterable[Kind], part: Callable[[Kind], IntArray]) -> IntArray:
    return _stacked([part(kind) for kind in kinds])


def _stacked(tables: Sequence[IntArray]) -> IntArray:
    """Tables of unequal length as one array, filled up with zeros."""
    longest = max(len(rows) for rows in tables)
    stacked = np.zeros((len(tables), longest, tables[0].shape[1]), dtype=np.int64)
    for place, rows in enumerate(tables):
        stacked[place, : len(rows)] = rows
    return stacked
