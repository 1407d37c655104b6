"""Checks that waves whose pods leave before they arrive are allowed at all, and marked as such throughout."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from rescheduler.model.disruption import Eligibility
from rescheduler.model.plan import Plan
from rescheduler.proof.violation import Violation

RULE = "EvictFirst"


def evict_first_waves(plan: Plan) -> frozenset[int]:
    """Waves of which some move says that its pod leaves before any arrives."""
    return frozenset(move.wave for move in plan.moves if move.evict_first)


def check_evict_first(plan: Plan, eligibility: Eligibility) -> Iterator[Violation]:
    """Such waves need replacements that can be held back; all moves of one are marked, and so is the wave itself."""
    marks: dict[int, set[bool]] = defaultdict(set)
    for move in plan.moves:
        marks[move.wave].add(bool(move.evict_first))
        if move.evict_first and not move.needs_guidance:
            yield Violation(RULE, f"{move.pod.key} leaves before it arrives, and yet is said to need no guidance")
    listed = {item.wave for item in plan.waves or () if item.evict_first}
    for wave, marked in sorted(marks.items()):
        if len(marked) > 1:
            yield Violation(RULE, f"only some pods of wave {wave} are to leave before they arrive")
        if any(marked) and not eligibility.may_evict_first:
            yield Violation(RULE, f"the pods of wave {wave} leave before they arrive, which guidance: Guide alone does")
    if listed != evict_first_waves(plan):
        told = ", ".join(map(str, sorted(listed ^ evict_first_waves(plan))))
        yield Violation(RULE, f"moves and list of waves disagree about who leaves first: wave {told}")
