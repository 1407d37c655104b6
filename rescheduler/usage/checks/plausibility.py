"""Values that cannot be are dropped at the door and counted; what is missing stays missing and never becomes 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.samples import CPU_PRESSURE, DISK, NETWORK, MetricsSample, NodeSamples
from rescheduler.model.usage.usage import FloatArray
from rescheduler.usage.checks.evidence import JUDGED

CLOCK_SKEW_SECONDS: Final = 30.0
LARGEST_FRACTION: Final = 1.5
"""Of capacity; a little above 1 happens (bursts, rounding, a rate over a scrape that came late)."""
LARGEST_BYTES_PER_SECOND: Final = 1e12
LARGEST_DROPPED_SHARE: Final = 0.05
"""Of the nodes in one answer; a source of which more is dropped is not believed in the rest either."""
_LARGEST: Final = {CPU: LARGEST_FRACTION, MEMORY: LARGEST_FRACTION, DISK: LARGEST_FRACTION,
                   CPU_PRESSURE: LARGEST_FRACTION, NETWORK: LARGEST_BYTES_PER_SECOND}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Sifted:
    """Samples without what cannot be. ``reasons``: by node, what was found in the newest; ``given``, ``dropped``: nodes
    with any judged value at any time, and with one that cannot be, counted once a time."""

    samples: NodeSamples
    reasons: Mapping[str, str]
    given: int
    dropped: int

    @property
    def is_believable(self) -> bool:
        """Whether few enough values had to be dropped to believe the others."""
        return self.dropped <= LARGEST_DROPPED_SHARE * self.given


def sift(samples: NodeSamples, unusable: Mapping[str, str], clock_skew: float = CLOCK_SKEW_SECONDS) -> Sifted:
    """Drop what cannot be.

    ``unusable``: nodes of which the source itself gave nothing usable, with what was found. ``clock_skew``: seconds by
    which a sample may be ahead of the tick that brought it; what is further ahead has no time that could be believed.
    """
    lead = samples.measured_at - samples.times[:, None]
    with np.errstate(invalid="ignore"):
        is_timeless = ~np.isfinite(lead) | (lead > clock_skew)
    values = dict(samples.values)
    given = np.zeros(samples.measured_at.shape, dtype=np.bool_)
    dropped = np.zeros_like(given)
    reasons: dict[str, str] = {}
    for metric, found in samples.values.items():
        is_bad = _impossible(metric, samples) | (~np.isnan(found) & is_timeless)
        values[metric] = np.where(is_bad, np.nan, found)
        if metric in JUDGED:
            given |= ~np.isnan(found)
            dropped |= is_bad
            _explain(reasons, samples.nodes, metric, found, is_bad, lead)
    numbers = {name: number for number, name in enumerate(samples.nodes)}
    for name, reason in unusable.items():
        if name in numbers and len(given):
            given[-1, numbers[name]] = dropped[-1, numbers[name]] = True
            reasons[name] = reason
    measured_at = np.where(is_timeless, np.nan, samples.measured_at)
    kept = replace(samples, values=values, measured_at=measured_at)
    return Sifted(kept, reasons, int(given.sum()), int(dropped.sum()))


def sift_sample(sample: MetricsSample, clock_skew: float = CLOCK_SKEW_SECONDS) -> Sifted:
    """One answer of a provider, sifted."""
    return sift(sample.nodes, sample.unusable, clock_skew)


def _impossible(metric: str, samples: NodeSamples) -> BoolArray:
    """Values that are there and cannot be, bool[T, N].

    A running node always uses some memory, and cpu of exactly 0 without a positive amount of memory beside it is what
    a source says that has lost its data (the same rule as metrics-server's own).
    """
    values = samples.values[metric]
    with np.errstate(invalid="ignore"):
        is_bad = np.isinf(values) | (values < 0) | (values > _LARGEST.get(metric, np.inf))
        if metric == MEMORY:
            is_bad |= values == 0
        if metric == CPU:
            memory = samples.values.get(MEMORY)
            is_bad |= (values == 0) & (True if memory is None else ~(memory > 0))
    return is_bad


def _explain(
    reasons: dict[str, str], nodes: tuple[str, ...], metric: str, values: FloatArray, is_bad: BoolArray,
    lead: FloatArray,
) -> None:  # fmt: skip
    """Words for the newest answer."""
    if not len(is_bad):
        return
    for index in np.flatnonzero(is_bad[-1]).tolist():
        told = f"{metric} of {_told(float(values[-1, index]), float(lead[-1, index]))}"
        reasons[nodes[index]] = f"{reasons[nodes[index]]}, {told}" if nodes[index] in reasons else told


def _told(value: float, lead: float) -> str:
    if value == 0:
        return "exactly 0, which no running node uses"
    if not np.isfinite(value):
        return str(value)
    if value < 0:
        return f"{100 * value:.4g} % of capacity, less than nothing"
    if value > LARGEST_FRACTION:
        return f"{100 * value:.4g} % of capacity, above {100 * LARGEST_FRACTION:.0f} %"
    when = f"measured {lead:.0f}s in our future: the clocks differ" if np.isfinite(lead) else "without a time"
    return f"{100 * value:.4g} % of capacity {when}"
