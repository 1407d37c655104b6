"""How a plan may be guided on a cluster: what the policy asks for, and what can be used there."""

from __future__ import annotations

from typing import Final, NamedTuple

from rescheduler.execution.landing.emptied import empties_nodes
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ExecutionTarget
from rescheduler.model.plan.plan import Plan

PREDICT: Final = "Predict"
TAINT: Final = "Taint"


class GuidanceSupport(NamedTuple):
    """``has_placeholders``: room can be kept and pods be nominated; ``has_taints``: nodes are closed by our taint.

    ``has_gates``: replacements can be held at a gate until they are led to their nodes.
    """

    has_placeholders: bool = False
    has_taints: bool = False
    has_gates: bool = False

    @property
    def is_any(self) -> bool:
        """Whether anything is written besides evictions."""
        return self.has_placeholders or self.has_taints


PLACEHOLDERS: Final = GuidanceSupport(has_placeholders=True)


def usable_guidance(
    guidance: str, plan: Plan, rest: Plan, target: ExecutionTarget, outcomes: Outcomes
) -> GuidanceSupport:
    """What can be used of what the policy asks for; what cannot is told as a warning.

    Raises PlanStoppedError where nodes are to be emptied and nothing can keep them closed.
    """
    if guidance == PREDICT or not plan.moves:
        return GuidanceSupport()
    no_taints = target.can_taint() if guidance == TAINT else None
    has_taints = guidance == TAINT and no_taints is None
    no_placeholders = target.can_hold()
    if no_taints is not None:
        outcomes.warnings.append(
            f"nodes cannot be tainted here ({no_taints}): carried out as with guidance: Hold, where placeholders keep "
            "them closed"
        )
    if no_placeholders is not None and not has_taints and empties_nodes(rest.moves):
        raise PlanStoppedError(
            f"nodes cannot be kept empty here, since placeholders cannot be used ({no_placeholders}); plan again with "
            "guidance: Predict"
        )
    if no_placeholders is not None and not has_taints:
        outcomes.warnings.append(
            f"placeholders cannot be used here ({no_placeholders}): carried out as with guidance: Predict, where the "
            "replacements of moved pods may take the room that is made"
        )
    if no_placeholders is not None and has_taints and _wants_room(rest):
        outcomes.warnings.append(
            f"placeholders cannot be used here ({no_placeholders}): taints close the nodes that pods leave, but "
            "nothing keeps the room that pods are to come to"
        )
    return GuidanceSupport(no_placeholders is None, has_taints)


def _wants_room(rest: Plan) -> bool:
    """Whether the plan rests on room that others could take, or on destinations the scheduler would not choose."""
    return any(item.wave > 0 for item in rest.placements) or any(move.needs_guidance for move in rest.moves)


# Whether replacements can be held at a gate; without one, Guide goes on as Hold, and no pods change places.

GUIDE: Final = "Guide"


def with_gates(
    support: GuidanceSupport, guidance: str, rest: Plan, target: ExecutionTarget, outcomes: Outcomes
) -> GuidanceSupport:
    """The support, with the gate where the policy asks for it and it works; a warning tells where it does not.

    Raises PlanStoppedError if pods of the rest leave before they arrive, and nothing could hold their successors back.
    """
    if not rest.moves:
        return support
    missing = _what_is_missing(support, guidance, target)
    if missing is not None:
        return without_gates(support, guidance, rest, missing, outcomes)
    return support._replace(has_gates=True)


def without_gates(
    support: GuidanceSupport, guidance: str, rest: Plan, missing: str, outcomes: Outcomes
) -> GuidanceSupport:
    """The support without a gate, told as a warning where the policy asks for one. Raises PlanStoppedError as above."""
    exchanged = [move.pod.key for move in rest.moves if move.evict_first]
    if exchanged:
        raise PlanStoppedError(
            f"{' and '.join(exchanged[:2])} are to leave before they arrive, which needs guidance: Guide, and "
            f"{missing}; nothing was moved"
        )
    if guidance == GUIDE and support.has_placeholders:
        outcomes.warnings.append(
            f"replacements cannot be held at a gate here ({missing}): carried out as with guidance: Hold, where other "
            "nodes are shut while pods that need guidance move"
        )
    return support._replace(has_gates=False)


def _what_is_missing(support: GuidanceSupport, guidance: str, target: ExecutionTarget) -> str | None:
    if guidance != GUIDE:
        return f"the policy has guidance: {guidance}"
    reason = target.can_gate()
    if reason is not None:
        return reason
    return None if support.has_placeholders else "placeholders, which it needs besides, cannot be used here"
