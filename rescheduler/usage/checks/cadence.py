"""How often a source really has something new, told from its own samples."""

from __future__ import annotations

from typing import Final

import numpy as np

from rescheduler.model.resources import CPU, MEMORY
from rescheduler.model.samples import NodeSamples
from rescheduler.usage.checks.steps import steps

USUAL_SECONDS: Final = 60.0
"""Between two scrapes, where the samples do not tell: what Prometheus and metrics-server are installed with."""
LONGEST_SECONDS: Final = 100.0
"""A source slower than this is not waited for: three scrapes must fit into the five minutes that a sample is good."""
_RECENT_ROWS: Final = 40


def cadence(samples: NodeSamples, interval: float) -> float:
    """Median seconds between the source's own times of consecutive samples; never below our own interval."""
    found = steps(samples.measured_at[-_RECENT_ROWS:])
    with np.errstate(invalid="ignore"):
        found = found[np.isfinite(found) & (found > 0)]
    seconds = float(np.median(found)) if found.size else USUAL_SECONDS
    return max(interval, min(seconds, LONGEST_SECONDS))


def seconds_between_changes(samples: NodeSamples, cadence_seconds: float) -> float:
    """Mean seconds in which a node's values change, over nodes that change at all; at least the cadence.

    A source may stamp one scrape with several times (a rate evaluated at each of our ticks): such repeats say nothing.
    """
    spent = steps(samples.measured_at[-_RECENT_ROWS:])
    changed = np.zeros(spent.shape, dtype=np.bool_)
    for metric in (CPU, MEMORY):
        if metric in samples.values:
            found = steps(samples.values[metric][-_RECENT_ROWS:])
            changed |= np.isfinite(found) & (found != 0)
    moving = changed.any(axis=0)
    changes = int(changed[:, moving].sum())
    total = float(np.nansum(np.where(spent > 0, spent, 0.0)[:, moving])) if changes else 0.0
    return max(cadence_seconds, min(total / changes if changes else 0.0, LONGEST_SECONDS))
