"""I32: nodes that an autoscaler is about to take are left alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.model.objects.node import Node
from tests.soak.invariants.checker import Checker
from tests.soak.trace import Event, Request, Violation
from tests.soak.world.truth import Truth

MARKS = (
    "ToBeDeletedByClusterAutoscaler", "DeletionCandidateOfClusterAutoscaler", "karpenter.sh/disrupted",
    "karpenter.sh/disruption",
)  # fmt: skip


class AutoscalerPeace(Checker):
    """I32, of destinations; reported where the truth is so and the newest snapshot showed it."""

    name = "I32"
    sentence = (
        "No eviction leads to a node that carries ToBeDeletedByClusterAutoscaler, DeletionCandidate..., "
        "karpenter.sh/disrupted, or a deletion mark."
    )
    interests = (Request,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction as it is sent."""
        if not isinstance(event, Request) or not event.is_eviction:
            return ()
        send = self.history.send_of(event)
        snapshot = self.history.snapshots.get(event.process)
        if send.in_gap or snapshot is None or not send.to_node:
            return ()
        now, shown = truth.nodes.get(send.to_node), snapshot.shown.node_by_name.get(send.to_node)
        if now is None or shown is None:
            return ()
        marks = set(marks_of(now)) & set(marks_of(shown))
        self.bites(any(marks_of(node) for node in snapshot.shown.nodes))
        return [
            found
            for mark in sorted(marks)
            for found in self.violated(send.t, f"{send.key} was sent towards {send.to_node}, which carries {mark}")
        ]


def marks_of(node: Node) -> list[str]:
    """What says that a node will go."""
    return list(_marks(node))


def _marks(node: Node) -> Iterator[str]:
    for taint in node.taints:
        if taint.key in MARKS:
            yield taint.key
    if node.deletion_at is not None:
        yield "a deletion mark"
