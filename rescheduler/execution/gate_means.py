"""Whether replacements can be held at a gate; without one, Guide goes on as Hold, and no pods change places."""

from __future__ import annotations

from typing import Final

from rescheduler.execution.means import Means
from rescheduler.execution.outcomes import Outcomes
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.plan import Plan

GUIDE: Final = "Guide"


def with_gates(means: Means, guidance: str, rest: Plan, target: ExecutionTarget, outcomes: Outcomes) -> Means:
    """The means, with the gate where the policy asks for it and it works; a warning tells where it does not.

    Raises PlanStoppedError if pods of the rest leave before they arrive, and nothing could hold their successors back.
    """
    if not rest.moves:
        return means
    missing = _what_is_missing(means, guidance, target)
    if missing is not None:
        return without_gates(means, guidance, rest, missing, outcomes)
    return means._replace(has_gates=True)


def without_gates(means: Means, guidance: str, rest: Plan, missing: str, outcomes: Outcomes) -> Means:
    """The means without a gate, told as a warning where the policy asks for one. Raises PlanStoppedError as above."""
    exchanged = [move.pod.key for move in rest.moves if move.evict_first]
    if exchanged:
        raise PlanStoppedError(
            f"{' and '.join(exchanged[:2])} are to leave before they arrive, which needs guidance: Guide, and "
            f"{missing}; nothing was moved"
        )
    if guidance == GUIDE and means.has_placeholders:
        outcomes.warnings.append(
            f"replacements cannot be held at a gate here ({missing}): carried out as with guidance: Hold, where other "
            "nodes are shut while pods that need guidance move"
        )
    return means._replace(has_gates=False)


def _what_is_missing(means: Means, guidance: str, target: ExecutionTarget) -> str | None:
    if guidance != GUIDE:
        return f"the policy has guidance: {guidance}"
    reason = target.can_gate()
    if reason is not None:
        return reason
    return None if means.has_placeholders else "placeholders, which it needs besides, cannot be used here"
