"""How load over a window becomes one number: the mean, the mean with a margin, or a percentile."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

import numpy as np

from rescheduler.model.usage.usage import FloatArray, Usage, possible_percent

_FORM: Final = re.compile(r"(?P<mean>mean(\+(?P<times>\d+(\.\d+)?)\*std)?)|(?P<percentile>p(50|90|95|99))")
_NORMAL: Final = {"p50": 0.0, "p90": 1.2816, "p95": 1.6449, "p99": 2.3263}
"""Standard deviations above the mean of a normal distribution, for sources that tell no percentiles."""


@dataclass(frozen=True)
class LoadStatistic:
    """``mean`` plus ``deviations`` times the standard deviation, or the percentile of that name."""

    deviations: float = 0.0
    percentile: str | None = None

    @classmethod
    def of(cls, text: str) -> LoadStatistic:
        """Read ``mean``, ``mean+2*std`` or ``p95``. Raises ValueError for anything else."""
        found = _FORM.fullmatch(text.replace(" ", ""))
        if found is None:
            raise ValueError(f"statistic: found {text!r}, wanted mean, mean+K*std, p50, p90, p95 or p99")
        if found["percentile"]:
            return cls(_NORMAL[found["percentile"]], found["percentile"])
        return cls(float(found["times"] or 0.0))

    def percent(self, usage: Usage, resource: str) -> FloatArray:
        """Load of each node in percent of its capacity, float64[N], NaN where unknown; with a margin perhaps above 100.

        Where a percentile is not known, mean and standard deviation stand in as of a normal distribution, within the
        largest value of the window if that is known.
        """
        estimate = usage.percent(resource) + self.deviations * usage.deviation(resource)
        if self.percentile is None or resource not in usage.statistics:
            return estimate
        statistics = usage.statistics[resource]
        exact = possible_percent(getattr(statistics, self.percentile))
        largest = possible_percent(statistics.maximum)
        return np.where(np.isnan(exact), np.fmin(np.minimum(estimate, 100.0), largest), exact)

    def is_estimated(self, usage: Usage, resource: str) -> bool:
        """Whether some node's percentile, or every node's margin, has no measurement behind it."""
        statistics = usage.statistics.get(resource)
        if statistics is None:
            return False
        has_load = ~np.isnan(usage.percent(resource))
        if self.percentile is not None:
            return bool((np.isnan(possible_percent(getattr(statistics, self.percentile))) & has_load).any())
        return self.deviations > 0 and bool(has_load.any()) and bool(np.isnan(statistics.deviation[has_load]).all())
