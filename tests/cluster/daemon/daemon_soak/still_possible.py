"""What a round that did not do all it had planned left undone: planned again on the cluster as soon as it ends."""

from __future__ import annotations

import math
import time
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from tests.cluster.daemon_process import DaemonProcess
from tests.cluster.tool import Tool

WHOLE: Final = "done"
MOST_EVICTIONS: Final = 3
ANY_AGE: Final = "minimumAge: 0s"
ANY_WORKLOAD: Final = "singleReplicas: Allow"


class StillPossible:
    """Looks at rounds as they end. What came up after one counts against it too: nobody can tell it apart.

    ``left``: rounds that left what `run` may move; ``beyond``: those after which only `plan` names moves, which does
    not know what binds `run`: workloads that are scaled or rolled out stay, and so do pods that were made since a round
    began, and what a round has evicted counts against its limit. ``untold``: rounds after which no plan could be made.
    """

    def __init__(self, tool: Tool, policy: str) -> None:
        """``policy``: the file by which `run` goes; it is only read."""
        self._tool = tool
        self._policy = Path(policy).read_text()
        self._bound = Path(policy).with_name("what-binds-run.yaml")
        self._path = policy
        self._seen = 0
        self.with_moves = 0
        self.left: list[dict[str, Any]] = []
        self.beyond: list[dict[str, Any]] = []
        self.untold: list[dict[str, Any]] = []

    def look(self, process: DaemonProcess) -> None:
        """At those that have ended since the last look."""
        ended = process.events("round ended")
        for line in ended[self._seen :]:
            self.with_moves += line["planned"] > 0
            if line["planned"] > 0 and line["outcome"] != WHOLE:
                sent = sum(began_at(line) <= _at(other) <= _at(line) for other in process.events("eviction sent"))
                self._plan_again(line, MOST_EVICTIONS - sent)
        self._seen = len(ended)

    def _plan_again(self, line: dict[str, Any], evictions_left: int) -> None:
        found = self._moves(line, self._path)
        if found:
            by_rules = []
            if evictions_left > 0:
                self._bound.write_text(as_binds_run(self._policy, line, evictions_left))
                by_rules = self._moves(line, str(self._bound))
            (self.left if by_rules else self.beyond).append(_told(line, by_rules or found))

    def _moves(self, line: dict[str, Any], policy: str) -> list[dict[str, Any]]:
        """What would be moved by this policy now."""
        answer = self._tool.run("plan", "-o", "json", "--policy", policy, code=None)
        if not answer.output.startswith("{"):
            self.untold.append({"round": line["round"], "code": answer.code, "said": answer.errors[-500:]})
            return []
        moves: list[dict[str, Any]] = answer.document["moves"]
        return moves


def as_binds_run(policy: str, line: dict[str, Any], evictions_left: int) -> str:
    """The same policy with what binds the round: unsettled workloads stay, and pods made since it began; so many go."""
    age = max(1, math.ceil(time.time() - began_at(line)))
    for written, bound in (
        (ANY_AGE, f"minimumAge: {age}s"),
        (ANY_WORKLOAD, f"{ANY_WORKLOAD}\n  unsettled: Deny"),
        (f"maxEvictions: {MOST_EVICTIONS}", f"maxEvictions: {evictions_left}"),
    ):
        assert written in policy, f"{written} is what the soak's policy says; what binds run cannot be put in its place"
        policy = policy.replace(written, bound)
    return policy


def began_at(line: dict[str, Any]) -> float:
    """When the round of such a line began, in seconds since the epoch."""
    return _at(line) - float(line["seconds"])


def _at(line: dict[str, Any]) -> float:
    return datetime.fromisoformat(line["timestamp"]).timestamp()


def _told(line: dict[str, Any], moves: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "round": line["round"],
        "outcome": line["outcome"],
        "reason": line.get("reason", ""),
        "attempts": line.get("attempts", 1),
        "seconds": line["seconds"],
        "stillPossible": len(moves),
        "objectives": sorted({move["objective"] for move in moves}),
    }
