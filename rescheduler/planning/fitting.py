"""Whether a request fits into the room of nodes."""

from __future__ import annotations

import numpy as np

from rescheduler.model.arrays import BoolArray, IntArray


def fits(request: IntArray, room: IntArray) -> BoolArray:
    """Nodes whose ``room`` (int64[R, N]) covers a request (int64[R]), bool[N]; what is not asked for is not checked."""
    asked = np.flatnonzero(request)
    return np.asarray((room[asked] >= request[asked, None]).all(axis=0))
