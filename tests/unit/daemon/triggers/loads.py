"""Measured load for tests of triggers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.usage.trust import Assessment, Trust, TrustState
from rescheduler.model.usage.usage import Statistics, Usage, UsageWindows
from tests.builders import NOW


def load(
    at: float,
    cpu: Sequence[float],
    memory: Sequence[float] | None = None,
    *,
    states: Sequence[TrustState] | None = None,
    freeze: str = "",
    age: float = 0.0,
    deviation: float = 0.0,
    pressure: Sequence[float] | None = None,
) -> UsageWindows:
    """Load in percent over five and fifteen minutes, ``at`` seconds after NOW; the longer window says nothing."""
    count = len(cpu)
    trust = tuple(Trust(state) for state in states or [TrustState.TRUSTED] * count)
    assessment = Assessment(trust, freeze)

    def usage(seconds: float, values: dict[str, Sequence[float]]) -> Usage:
        return Usage(
            {name: _statistics(found, deviation) for name, found in values.items()},
            np.full(count, NOW + at - age),
            np.full(count, seconds),
            np.array([each.is_true for each in trust], dtype=np.bool_),
            assessment=assessment,
        )

    measured = {"cpu": cpu, "memory": memory or [10.0] * count}
    measured |= {} if pressure is None else {"cpuPressure": pressure}
    return UsageWindows({300.0: usage(300.0, measured), 900.0: usage(900.0, {"cpu": [0.0] * count})})


def _statistics(values: Sequence[float], deviation: float) -> Statistics:
    found = np.array(values, dtype=np.float64)
    return Statistics(found, np.full(len(found), deviation), found, found, found)
