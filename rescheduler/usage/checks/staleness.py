"""A sample says something about now for three scrapes, and for five minutes at the very most."""

from __future__ import annotations

from typing import Final

import numpy as np

from rescheduler.model.usage.trust import TrustState
from rescheduler.model.usage.usage import FRESH_SECONDS
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts, verdicts

SCRAPES: Final = 3


def largest_age(evidence: Evidence) -> float:
    """Seconds for which a sample is good, by the source's own time."""
    return min(evidence.trust.maximum_age, FRESH_SECONDS, SCRAPES * evidence.cadence)


def stale(evidence: Evidence, _: float) -> Verdicts:
    """Nodes whose newest sample is too old; those without any are not meant."""
    bound = largest_age(evidence)
    ages = evidence.now - evidence.measured_at
    with np.errstate(invalid="ignore"):
        found = ages > bound
    return verdicts(
        found, TrustState.STALE, lambda index: f"newest sample is {ages[index]:.0f}s old, more than {bound:.0f}s"
    )
