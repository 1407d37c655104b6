"""A cluster in which each victim is told of by an Event under the plugin's name, as descheduler tells of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from rescheduler.extension_points import EvictionAnswer, ExecutionTarget
from rescheduler.model.plan.plan import Move, PodReference

ACTION: Final = "Descheduled"
FAILED: Final = "EvictionFailed"


class AnnouncingTarget:
    """Everything but evictions goes on to the cluster as it is.

    ``moves``: of the plan at hand, by pod. ``tells_failures``: a Warning on each pod that could not be evicted, once.
    """

    def __init__(self, target: ExecutionTarget, *, tells_failures: bool) -> None:
        self.moves: Mapping[PodReference, Move] = {}
        self._target = target
        self._tells_failures = tells_failures
        self._told: set[PodReference] = set()

    def __getattr__(self, name: str) -> Any:
        """What is not told of."""
        return getattr(self._target, name)

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Ask for one eviction; see ``ExecutionTarget.evict``."""
        answer = self._target.evict(pod, resource_version, dry_run=dry_run)
        move = self.moves.get(pod)
        if move is None:
            return answer
        if answer.kind == "Accepted" and not dry_run:
            note = f"evicted from node {move.from_node}: {move.reason}"
            self._target.record(pod, move.objective, note, action=ACTION)
        elif answer.kind not in ("Accepted", "Gone") and self._tells_failures and pod not in self._told:
            self._told.add(pod)
            note = f"could not be evicted from node {move.from_node}: {answer.kind}: {answer.message}"
            self._target.record(pod, FAILED, note, action=ACTION, is_warning=True)
        return answer
