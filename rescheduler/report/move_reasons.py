"""Why a pod moves, with what is special about how: one sentence for every form of report."""

from __future__ import annotations

from rescheduler.model.plan import Move

LEAVES_FIRST = "leaves before it arrives"


def why(move: Move) -> str:
    """The reason of a move, and in brackets what it takes."""
    takes = ["needs guidance"] if move.needs_guidance else []
    if move.evict_first:
        takes.append(f"{LEAVES_FIRST}, like all pods of its wave")
    return f"{move.reason} ({'; '.join(takes)})" if takes else move.reason
