"""I7: no eviction is sent on what was true a while ago."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.disruption_budgets import selects
from tests.soak.trace import Event, LookEvent, Request, Violation
from tests.soak.world.truth import Truth

SNAPSHOT_SECONDS = 10.0
LIVE_SECONDS = 2.0
VERDICT_SECONDS = 1.0
STATE_SECONDS = 1.0
ROUNDING_SECONDS = 0.01


class Freshness(Checker):
    """I7. Ages are counted from when we asked, since the answer may be as old as the question."""

    name = "I7"
    sentence = (
        "At send: snapshot <= 10 s old; a live read <= 2 s old equals the plan in UID, node, Ready and has no deletion "
        "mark; the target node in the snapshot is Ready and schedulable; the eviction carries uid and resourceVersion "
        "of that read; the gate's verdict about this very pod to socket write <= 1 s, and given on "
        "its owner's pods, budgets, node and destination as read <= 1 s before."
    )
    interests = (Request,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction as it is sent."""
        if not isinstance(event, Request) or not event.is_eviction:
            return ()
        send = self.history.send_of(event)
        if send.in_gap:
            return ()
        self.bites()
        whys = [*self._snapshot(send), *self._live(send), *self._verdict(send)]
        return [found for why in whys for found in self.violated(send.t, f"{send.key} was sent {why}")]

    def _snapshot(self, send: Send) -> Iterator[str]:
        snapshot = self.history.snapshots.get(send.request.process)
        if snapshot is None:
            yield "without a snapshot"
            return
        age = send.t - snapshot.asked_at
        if age > SNAPSHOT_SECONDS + ROUNDING_SECONDS:
            yield f"on a snapshot that was asked for {age:.1f} s before"
        node = snapshot.shown.node_by_name.get(send.to_node)
        if send.to_node and (node is None or not node.is_ready or node.is_unschedulable):
            yield f"to {send.to_node}, which the snapshot shows as gone, not Ready or cordoned"

    def _live(self, send: Send) -> Iterator[str]:
        read_at, live = self.history.live.get((send.request.process, send.key), (None, None))
        if read_at is None:
            yield "without a live read of the pod"
            return
        if send.t - read_at > LIVE_SECONDS + ROUNDING_SECONDS:
            yield f"{send.t - read_at:.1f} s after the last live read of the pod"
        if live is None or live.uid != send.request.uid:
            yield "though the live read showed another pod, or none"
            return
        move = self.history.moves.get((send.request.process, send.request.uid))
        if live.is_terminating:
            yield "though the live read showed it as terminating"
        if not live.is_ready and self._was_ready(send):
            yield "as Ready, though the live read showed it as not Ready"
        if move is not None and live.node_name != move.from_node:
            yield f"though the live read showed it on {live.node_name}, not on {move.from_node}"
        if not send.request.uid or send.request.resource_version != live.resource_version:
            yield "without the uid and resourceVersion of the live read as preconditions"

    def _was_ready(self, send: Send) -> bool:
        """Whether the plan takes the pod for Ready: one that is not may be moved, and takes nothing away."""
        snapshot = self.history.snapshots.get(send.request.process)
        shown = None if snapshot is None else snapshot.shown.pod_by_key.get(send.key)
        return shown is None or shown.is_ready

    def _verdict(self, send: Send) -> Iterator[str]:
        """The gate's own answer about this very pod: one about another says nothing of it."""
        verdict = self.history.verdicts.get((send.request.process, send.request.uid))
        if verdict is None:
            yield "though the gate was never asked about it"
        elif not verdict.is_permit:
            yield "though the gate refused it"
        elif send.t - verdict.t > VERDICT_SECONDS + ROUNDING_SECONDS:
            yield f"{send.t - verdict.t:.1f} s after the gate's verdict about it"
        elif verdict.look is None:
            yield "though what it depends on was never looked at"
        elif verdict.t - verdict.look.asked_at > STATE_SECONDS + ROUNDING_SECONDS:
            yield f"on a verdict about what was read {verdict.t - verdict.look.asked_at:.1f} s before"
        else:
            for what in unseen(verdict.look, verdict.shown):
                yield f"on a verdict that did not see {what} as it was read last"


def unseen(look: LookEvent, shown: Cluster) -> Iterator[str]:
    """What a gate was shown otherwise than the last look around a pod has it."""
    around = look.shown
    here = look.move.pod.namespace
    found = {
        pod.key: _state(pod) for pod in around.pods if pod.labels.get("app.kubernetes.io/managed-by") != "rescheduler"
    }
    yield from (key for key, state in found.items() if _state(shown.pod_by_key.get(key)) != state)
    pod = shown.pod_by_key.get(look.move.pod.key)
    owner = None if pod is None else pod.controller
    if pod is not None and owner is not None:
        selectors = [item.selector for item in shown.workloads if item.uid == owner.uid]
        yield from (
            other.key
            for other in shown.pods
            if other.controller == owner
            and other.key not in found
            and other.namespace == pod.namespace
            # A pod that only says that it is the owner's, and has other labels, is none of its replicas.
            and all(selects(selector, other.labels) for selector in selectors)
        )
    if {item.name: item for item in shown.budgets if item.namespace == here} != {
        item.name: item for item in around.budgets
    }:
        yield f"the budgets of {here}"
    for name in (look.move.from_node, look.move.to_node):
        read = next((node for node in around.nodes if node.name == name), None)
        told = shown.node_by_name.get(name)
        if (read is None) != (told is None) or (
            read is not None and told is not None
            and (read.is_ready, read.is_unschedulable) != (told.is_ready, told.is_unschedulable)
        ):  # fmt: skip
            yield f"node {name}"


def _state(pod: Pod | None) -> tuple[object, ...] | None:
    return None if pod is None else (pod.uid, pod.node_name, pod.is_ready, pod.is_terminating, pod.phase)
