"""Each objective with what it reached, what is proven, and a bar of how near the bound that is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from rescheduler.model.plan.plan import ObjectiveResult, Plan, PlanResult, Status
from rescheduler.report.cells import number, percent
from rescheduler.report.plan.headline import beside, headlines, untold


class Nearness(NamedTuple):
    """How near the bound a value came, in words and as a share of a full bar."""

    words: str
    unit: str
    percent: float


class Card(NamedTuple):
    """What is shown of one objective.

    ``beside``: what descheduler itself would come to; ``certificate``: lines of indented JSON.
    """

    status: str
    sentence: str
    nearness: Nearness | None
    message: str
    beside: str
    certificate: Sequence[str]


def objectives(plan: Plan | PlanResult) -> list[Card]:
    """A card for each objective, in order."""
    told = [line for line in headlines(plan) if line[0]]
    return [
        Card(status, sentence, _nearness(objective), untold(objective), beside(objective), _certificate(objective))
        for objective, (status, sentence) in zip(plan.objectives, told, strict=True)
    ]


def _nearness(objective: ObjectiveResult) -> Nearness | None:
    """A bar that is full where nothing better is possible; none where not all was reached, or nothing is known."""
    if objective.status in (Status.INFEASIBLE, Status.UNKNOWN):
        return None
    value, bound = objective.value, objective.bound
    if value is None or bound is None or not (isfinite(value) and isfinite(bound)) or objective.wanted == 0:
        return None
    least, most = sorted((value, bound))
    share = 1.0 if least == most else max(0.0, least / most) if most > 0 else 0.0
    words = f"value {number(value)}, bound {number(bound)}"
    if objective.gap is not None:
        words += f", gap {percent(objective.gap)}"
    return Nearness(words, objective.unit, 100 * share)


def _certificate(objective: ObjectiveResult) -> list[str]:
    if not isinstance(objective.certificate, dict):
        return []
    return json.dumps(objective.certificate, indent=2, ensure_ascii=True, default=str).splitlines()
