"""What the nodes offer, prepared for division in floating point."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from rescheduler.model.columns.columns import Columns

FloatArray: TypeAlias = npt.NDArray[np.float64]

LARGEST_DIVIDED: Final = 1 << 46
"""Up to this amount the whole part of 100 * part / amount is exact in float64, for parts up to the amount.

Products stay below 2**53, and a quotient of at most 100 that is no whole number differs from the next one by at least
2**-46, more than half a unit in its last place, so it cannot be rounded up to it.
"""

LARGEST_MULTIPLIED: Final = 1 << 42
"""Up to this amount, floor((100 * part + 0.5) * (1 / amount)) is that whole part as well.

The half keeps the quotient 2**-43 away from whole numbers, two roundings carry it by less than 2**-45.
"""


class Offers:
    """``divisor``: float64[R, N], allocatable amounts, 1 where nothing is offered; ``inverse``: 1 / divisor."""

    def __init__(self, columns: Columns) -> None:
        """O(R*N)."""
        self.divisor: FloatArray = np.maximum(columns.allocatable, 1).astype(np.float64)
        self.inverse: FloatArray = 1.0 / self.divisor
        least, largest = columns.allocatable.min(initial=1), columns.allocatable.max(initial=1)
        self.is_exact = int(least) >= 0 and int(largest) <= LARGEST_DIVIDED
        self._is_plain = [bool(row.min(initial=1) > 0 and row.max(initial=1) <= LARGEST_MULTIPLIED)
                          for row in columns.allocatable]  # fmt: skip

    def are_plain(self, rows: list[int]) -> bool:
        """Whether every node offers all these resources, in amounts that may be divided by multiplication."""
        return all(self._is_plain[row] for row in rows)
