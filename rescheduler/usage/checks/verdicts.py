"""The form in which a check answers: the nodes that it objects to, with state and reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.usage.trust import Trust, TrustState
from rescheduler.usage.checks.evidence import Evidence

# Why nothing may move by usage for one window.


class Freeze(NamedTuple):
    """What was found, and when; it holds for one window from then."""

    at: float
    reason: str


Verdicts: TypeAlias = Mapping[int, Trust]
"""By the node's index; nodes that are not named pass."""
Check: TypeAlias = Callable[[Evidence, float], Verdicts]
"""Evidence and the window's seconds in, objections out."""


def verdicts(found: BoolArray, state: TrustState, reason: Callable[[int], str]) -> Verdicts:
    """One state for all nodes found, each with its own reason."""
    return {index: Trust(state, reason(index)) for index in np.flatnonzero(found).tolist()}
