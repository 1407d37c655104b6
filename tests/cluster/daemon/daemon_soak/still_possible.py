"""What a round that did not do all it had planned left undone: planned again by the same policy as soon as it ends."""

from __future__ import annotations

from typing import Any, Final

from tests.cluster.daemon_process import DaemonProcess
from tests.cluster.tool import Tool

WHOLE: Final = "done"


class StillPossible:
    """Looks at rounds as they end. What came up after one counts against it too: nobody can tell it apart.

    ``left``: rounds that left something; ``untold``: those after which no plan could be made.
    """

    def __init__(self, tool: Tool, policy: str) -> None:
        self._tool = tool
        self._policy = policy
        self._seen = 0
        self.with_moves = 0
        self.left: list[dict[str, Any]] = []
        self.untold: list[dict[str, Any]] = []

    def look(self, process: DaemonProcess) -> None:
        """At those that have ended since the last look."""
        ended = process.events("round ended")
        for line in ended[self._seen :]:
            self.with_moves += line["planned"] > 0
            if line["planned"] > 0 and line["outcome"] != WHOLE:
                self._plan_again(line)
        self._seen = len(ended)

    def _plan_again(self, line: dict[str, Any]) -> None:
        answer = self._tool.run("plan", "-o", "json", "--policy", self._policy, code=None)
        if not answer.output.startswith("{"):
            self.untold.append({"round": line["round"], "code": answer.code, "said": answer.errors[-500:]})
            return
        moves = answer.document["moves"]
        if moves:
            what = {"round": line["round"], "outcome": line["outcome"], "reason": line.get("reason", "")}
            what |= {"attempts": line.get("attempts", 1), "seconds": line["seconds"]}
            self.left.append(
                {**what, "stillPossible": len(moves), "objectives": sorted({m["objective"] for m in moves})}
            )
