"""NodesAdded: new nodes have come, and have stayed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Final

from pydantic import Field

from rescheduler.daemon.triggers.node_arrivals import identity, is_usable
from rescheduler.daemon.triggers.setting import Setting, listed
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.model.objects.node import STARTING_PREFIXES, STARTING_TAINTS, Node
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import DurationSeconds, format_duration

LONGEST_ARRIVAL: Final = 6
"""Nodes that come one after the other without end are waited for so many times ``settle``."""


class NodesAddedArgs(PolicyModel):
    """When new nodes have come."""

    settle: DurationSeconds = 60.0
    """How long the last of them has been ready."""
    at_least: Annotated[int, Field(ge=1, le=100_000)] = 1
    """Fewer new nodes than this ask for nothing."""


class NodesAdded(Trigger):
    """Asks once for each node that was not there at the start, for all that come at about the same time together."""

    name = "NodesAdded"
    arguments = NodesAddedArgs

    def __init__(self, args: NodesAddedArgs, setting: Setting) -> None:  # noqa: ARG002 - one signature for all
        self._settle = args.settle
        self._at_least = args.at_least
        self._known: set[str] | None = None
        self._usable_since: dict[str, float] = {}

    @classmethod
    def sentence(cls, args: NodesAddedArgs) -> str:
        """How many, and after how long."""
        what = "new nodes" if args.at_least == 1 else f"{args.at_least} new nodes or more"
        return f"when {what} have been ready for {format_duration(args.settle)}"

    def look(self, sight: Sight) -> Occasion | None:
        """Whether new nodes have been usable for long enough."""
        now = sight.cluster.taken_at
        fresh = self._fresh(sight.cluster.nodes)
        before = self._usable_since
        self._usable_since = {key: min(before.get(key, now), now) for key in fresh}
        due = self._due()
        if due is None or now < due:
            return None
        settled = [key for key, since in self._usable_since.items() if since + self._settle <= now]
        for key in settled:
            del self._usable_since[key]
        assert self._known is not None
        self._known.update(settled)
        names = tuple(sorted(fresh[key].name for key in settled))
        what = "node was added" if len(names) == 1 else "nodes were added"
        return Occasion(self.name, f"{len(names)} {what}: {listed(names)}", now, nodes=names)

    def wake_at(self, now: float) -> float | None:  # noqa: ARG002
        """When the last of the new nodes will have been usable for long enough."""
        return self._due()

    def answered(self, report: RoundReport) -> None:
        """A node is new once, whatever comes of the round."""

    def _fresh(self, nodes: Iterable[Node]) -> dict[str, Node]:
        """Usable nodes that were not known before; at the first look all are known but those that still start."""
        present = {identity(node): node for node in nodes}
        if self._known is None:
            self._known = {key for key, node in present.items() if not _is_starting(node)}
        self._known &= present.keys()
        return {key: node for key, node in present.items() if key not in self._known and is_usable(node)}

    def _due(self) -> float | None:
        times = sorted(self._usable_since.values())
        if len(times) < self._at_least:
            return None
        ends = min(times[-1] + self._settle, times[0] + LONGEST_ARRIVAL * self._settle)
        return max(ends, times[self._at_least - 1] + self._settle)


def _is_starting(node: Node) -> bool:
    return any(taint.key in STARTING_TAINTS or taint.key.startswith(STARTING_PREFIXES) for taint in node.taints)
