"""Prices of nodes as whole numbers for solvers, never below the real ones, so that bounds stay bounds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rescheduler.model.arrays import IntArray
from rescheduler.model.usage import FloatArray

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
