"""How many evictions a plan needs at the least that empties so many nodes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.emptied_share import fewest_to_empty

# Prices of nodes as whole numbers for solvers, never below the real ones, so that bounds stay bounds.

_LARGEST = 10**6


class WholePrices(NamedTuple):
    """``price`` int64[N] is what was given times ``scale``, rounded up. ``is_exact``: nothing was rounded."""

    price: IntArray
    scale: float
    is_exact: bool

    def real(self, value: float) -> float:
        """A sum of whole prices in real ones."""
        return value / self.scale


def whole_prices(price: FloatArray) -> WholePrices:
    """Whole numbers stay as they are; other prices are scaled so that the highest is large."""
    highest = float(price.max(initial=0.0))
    if highest <= _LARGEST and (price == np.floor(price)).all():
        return WholePrices(price.astype(np.int64), 1.0, is_exact=True)
    for scale in (10.0, 100.0, 1000.0):
        scaled = price * scale
        if highest * scale <= _LARGEST and (np.abs(scaled - np.round(scaled)) < 1e-6).all():
            return WholePrices(np.round(scaled).astype(np.int64), scale, is_exact=True)
    scale = _LARGEST / highest
    return WholePrices(np.ceil(price * scale).astype(np.int64), scale, is_exact=False)


class LeastEvictions:
    """Proven least numbers, each worked out once."""

    def __init__(self, situation: EmptyingSituation) -> None:
        """Know nothing yet."""
        self._situation = situation
        self._known: dict[int, int] = {}

    def for_value(self, value: float, deadline: Deadline) -> int:
        """Least evictions of a plan of this value; 0 where nodes differ in price, or nothing is proven."""
        situation = self._situation
        price = situation.price[situation.candidates]
        if not len(price) or price.min() < price.max():
            return 0
        number = round(value / float(price[0]))
        if number not in self._known:
            room = np.maximum(0, situation.problem.free)
            self._known[number] = fewest_to_empty(
                situation.pods_on,
                situation.load,
                room,
                situation.could_be_emptied,
                situation.is_empty,
                number,
                deadline,
            )
        return self._known[number]
