"""Which labels a selector selects."""

from __future__ import annotations

from collections.abc import Mapping

from rescheduler.model.constraints import LabelSelector
from rescheduler.model.matching import holds


def selects(selector: LabelSelector | None, labels: Mapping[str, str]) -> bool:
    """True if every requirement holds; an empty selector selects everything, an absent one nothing."""
    return selector is not None and all(holds(rule, labels.get(rule.key)) for rule in selector.requirements)
