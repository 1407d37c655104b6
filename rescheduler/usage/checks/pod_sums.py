"""A node cannot use much less than its pods use together."""

from __future__ import annotations

from typing import Final

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts, verdicts

SMALLEST_SHARE: Final = 0.1
_WORTH_COMPARING: Final = 0.02
"""Of capacity: below it rounding and the time between the two measurements decide."""


def pod_sums(evidence: Evidence, _: float) -> Verdicts:
    """Nodes that use less than a tenth of what their pods use."""
    if evidence.pod_totals is None:
        return {}
    found = np.zeros(len(evidence.nodes), dtype=np.bool_)
    offered = evidence.capacities
    shares = np.divide(evidence.pod_totals, offered, out=np.full(offered.shape, np.nan), where=offered > 0)
    for row, metric in enumerate((CPU, MEMORY)):
        if metric in evidence.newest:
            found |= _contradicts(evidence.newest[metric], shares[row])

    def reason(index: int) -> str:
        told = [
            f"{metric} {100 * evidence.newest[metric][index]:.3g} % against {100 * shares[row][index]:.3g} %"
            for row, metric in enumerate((CPU, MEMORY))
            if metric in evidence.newest and _contradicts(evidence.newest[metric], shares[row])[index]
        ]
        return f"uses less than a tenth of what its pods use together: {', '.join(told)} of capacity"

    return verdicts(found, TrustState.IMPLAUSIBLE, reason)


def _contradicts(node: np.ndarray, pods: np.ndarray) -> BoolArray:
    with np.errstate(invalid="ignore"):
        found: BoolArray = (pods > _WORTH_COMPARING) & (node < SMALLEST_SHARE * pods)
    return found
