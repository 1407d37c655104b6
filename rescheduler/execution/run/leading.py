"""Leads replacements to their places while the old pods stand: gates or shut nodes, placeholders, nominations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rescheduler.execution.guidance.gates import Gates, is_gated
from rescheduler.execution.guidance.guiding import Guide
from rescheduler.execution.guidance.hold_maker import HeldRoom
from rescheduler.execution.landing.departures import selector_of
from rescheduler.execution.run.segment_run import Tools
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, reference_to

OWN_WAY_SECONDS: Final = 0.15
"""How long a new pod is given to find its node by itself, where nothing holds it back."""


class ReplacementGuide:
    """Of pods that are replaced before they leave. ``gates``, ``guide``: by what they are led; None: not that way."""

    def __init__(self, tools: Tools, gates: Gates | None = None, guide: Guide | None = None) -> None:
        self._tools = tools
        self._gates = gates
        self._guide = guide if gates is None else None

    def begin(self, pods: Sequence[Pod], cluster: Cluster) -> None:
        """Hold back what comes for these pods. Raises ClusterError."""
        if self._gates is not None:
            self._gates.close((pod, selector_of(pod, cluster)) for pod in pods)
        elif self._guide is not None and self._guide.too_many(pods, cluster):
            self._guide = None
        elif self._guide is not None:
            self._guide.shut(pods, cluster)

    def end(self) -> None:
        """Hold nobody back any more. Raises ClusterError."""
        if self._gates is not None:
            self._gates.open()
        self.open_nodes()

    def open_nodes(self) -> None:
        """Open all nodes; a gate stays as it is."""
        if self._guide is not None:
            self._guide.end()

    def make_way(self, move: Move, pod: Pod, cluster: Cluster) -> list[HeldRoom]:
        """Let go of placeholders of others that leave the replacement no room, and open its node; those are told."""
        holds = self._tools.holds
        standing = [hold for hold in holds.in_the_way(pod, move.to_node, cluster) if holds.stands(hold)]
        holds.remove(standing)
        if self._guide is not None:
            self._guide.open(move.to_node)
        return standing

    def shut(self, move: Move) -> None:
        """Keep others off the node again, once the replacement is there."""
        if self._guide is not None:
            self._guide.shut_again(move.to_node)

    def keep(self, back: Sequence[HeldRoom]) -> None:
        """Keep others' room again that made way."""
        holds = self._tools.holds
        holds.set([hold for hold in back if not holds.stands(hold)])

    def lead(self, move: Move, new: Pod, *, is_first: bool, is_free: bool) -> bool:
        """Bring a replacement without a node nearer to it; whether it is free to go there.

        Nominated first: a pod with a nomination keeps its room itself, so the placeholder may go, and the gate.
        """
        tools = self._tools
        if not is_gated(new):
            waited = OWN_WAY_SECONDS if is_first and not is_free else 0.0
            tools.nominator.lead(reference_to(new), move.to_node, move.pod, after_seconds=waited)
            return is_free
        if self._gates is None or is_free:
            return is_free
        if tools.nominator.nominate(reference_to(new), move.to_node):
            tools.holds.release([move.pod])
            return self._gates.let_go(new)
        return False
