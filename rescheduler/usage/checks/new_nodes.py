"""A young node's measures show its start, not its work; with none but new pods it is predicted instead."""

from __future__ import annotations

import numpy as np

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.usage.predicted_use import MEMORY_SECONDS
from rescheduler.model.usage.trust import TrustState
from rescheduler.usage.checks.evidence import Evidence
from rescheduler.usage.checks.verdicts import Verdicts, verdicts


def is_young(evidence: Evidence) -> BoolArray:
    """Nodes younger than the policy's minimum age, bool[N]; a node of unknown age is not young."""
    found: BoolArray = evidence.now - evidence.exists_since < evidence.trust.minimum_node_age
    return found


def predicted_nodes(evidence: Evidence, _: float) -> Verdicts:
    """Young ready nodes all of whose pods were bound so recently that their use is predicted: load 0 and these."""
    if evidence.oldest_bound is None:
        return {}
    is_ready = np.fromiter((node.is_ready for node in evidence.nodes), np.bool_, count=len(evidence.nodes))
    found = is_young(evidence) & is_ready & (evidence.now - evidence.oldest_bound <= MEMORY_SECONDS)
    return verdicts(found, TrustState.PREDICTED, lambda _: "a new node; what it uses is predicted from its new pods")


def new_nodes(evidence: Evidence, _: float) -> Verdicts:
    """Young nodes."""
    ages = np.maximum(evidence.now - evidence.exists_since, 0.0)
    wanted = evidence.trust.minimum_node_age
    return verdicts(
        is_young(evidence), TrustState.NEW, lambda index: f"is {ages[index]:.0f}s old, younger than {wanted:.0f}s"
    )
