"""Each objective with what it reached, what is proven, and a bar of how near the bound that is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite

from rescheduler.model.plan.plan import ObjectiveResult, Plan, PlanResult
from rescheduler.model.printable import printable
from rescheduler.report.cells import number, percent
from rescheduler.report.headline import headlines
from rescheduler.report.html.markup import folded, text


def objectives(plan: Plan | PlanResult) -> Iterator[str]:
    """A card for each objective, in order."""
    cards = [card for card in headlines(plan) if card[0]]
    for objective, (status, sentence) in zip(plan.objectives, cards, strict=True):
        yield '<div class="card">'
        badge = f'<span class="badge {status.lower()}">{status}</span>'
        yield f'<p class="headline">{badge} {text(sentence)}</p>'
        yield from _nearness(objective)
        if objective.message:
            yield f"<p>{text(objective.message)}</p>"
        yield from _certificate(objective)
        yield "</div>"


def _nearness(objective: ObjectiveResult) -> Iterator[str]:
    """A bar that is full where nothing better is possible."""
    value, bound = objective.value, objective.bound
    if value is None or bound is None or not (isfinite(value) and isfinite(bound)) or objective.wanted == 0:
        return
    least, most = sorted((value, bound))
    share = 1.0 if least == most else max(0.0, least / most) if most > 0 else 0.0
    words = f"value {number(value)}, bound {number(bound)}"
    if objective.gap is not None:
        words += f", gap {percent(objective.gap)}"
    yield f'<div class="near" title="{words}"><i style="width:{100 * share:.4g}%"></i></div>'
    yield f'<p class="quiet">{words} ({text(objective.unit)})</p>'


def _certificate(objective: ObjectiveResult) -> Iterator[str]:
    if isinstance(objective.certificate, dict):
        data = json.dumps(objective.certificate, indent=2, ensure_ascii=True, default=str)
        lines = (text(printable(line)) for line in data.splitlines())
        yield from folded("Certificate", ["<pre>", *lines, "</pre>"])
