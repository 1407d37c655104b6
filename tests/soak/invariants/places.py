"""I6: every pod that we evict has a place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.resources import PODS
from rescheduler.model.plan.plan import Move
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.repayment import newcomers
from tests.soak.invariants.workload_floor import SNAPSHOT_SECONDS
from tests.soak.trace import Event, Request, Violation
from tests.soak.world.truth import Truth


class JointProof(Checker):
    """I6, by a count of our own: requests, readiness, taints and selectors; other predicates are left out."""

    name = "I6"
    sentence = (
        "Before each send there is a simultaneous placement, on nodes existing and Ready now, of this pod at its "
        "predicted node and of every open debt anywhere, in room that is free already, without preemption; debts that "
        "find no place without this pod either, or found none before its wave began to change places, are left out."
    )
    interests = (Request,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction as it is sent; what changed at its destination in the last 10 s is not a violation.

        Nor is what an API server that answers with an older state did not show.
        """
        if not isinstance(event, Request) or not event.is_eviction:
            return ()
        send = self.history.send_of(event)
        move = self.history.moves.get((event.process, event.uid))
        if send.pod is None or move is None or send.in_gap or not truth.run.has_proof:  # type: ignore[attr-defined]
            return ()  # without a checker of plans the gate promises nothing about places
        snapshot = self.history.snapshots.get(event.process)
        seen = send.t - SNAPSHOT_SECONDS if snapshot is None else min(send.t - SNAPSHOT_SECONDS, snapshot.as_of)
        if self.history.has_changed(move.to_node, seen):
            return ()
        self.bites()
        why = self._objection(send, send.pod, move, truth)
        return self.violated(send.t, f"{send.key} was sent, but {why}") if why else ()

    def _objection(self, send: Send, pod: Pod, move: Move, truth: Truth) -> str | None:
        node = truth.nodes.get(move.to_node)
        if node is None:
            return f"has no place on {move.to_node}: it is not there"
        refused = refuses(node, pod)
        if refused:
            return f"has no place on {node.name}: {refused}"
        leaving = self._leaving_first(send, move)
        free = {name: free_room(item, truth, without=leaving) for name, item in truth.nodes.items()}
        short = lacking(pod, free[node.name])
        if short:
            return f"has no place on {node.name}: {short}"
        others = [
            debt.pod for debt in self.history.debts()
            if debt is not send and debt.pod is not None and _is_on_its_way(debt, truth)
        ]  # fmt: skip
        # One that found no place before this send either does not lose it by the send; the others keep theirs.
        others = _without(self._without_place_before(send, others, leaving, truth), others)
        housed = _without(_homeless(others, free, truth), others)
        take(pod, free[node.name])
        if _have_places(housed, free, truth):
            return None
        names = " or ".join(other.key for other in housed)
        return f"would take the last place of {names}, evicted before and waiting for one"

    def _without_place_before(self, send: Send, others: Sequence[Pod], leaving: set[str], truth: Truth) -> list[Pod]:
        """Evicted before this wave, and without a place as long as nobody of it has left.

        Pods that change places make room for each other alone: what one of them frees was nobody's place before. Those
        of the wave that were sent already are to have theirs all the same: it was proven with it.
        """
        if not leaving:
            return []
        wave = {other.pod.uid for other in self.history.waves.get(send.request.process, ())}
        room = {name: free_room(item, truth, without=set()) for name, item in truth.nodes.items()}
        return _homeless([other for other in others if other.uid not in wave], room, truth)

    def _leaving_first(self, send: Send, move: Move) -> set[str]:
        """Pods that leave before anybody of the wave arrives, this one among them."""
        if not move.evict_first:
            return set()
        return {other.pod.uid for other in self.history.waves.get(send.request.process, ()) if other.evict_first}


def _without(some: Sequence[Pod], pods: Sequence[Pod]) -> list[Pod]:
    return [pod for pod in pods if all(pod is not item for item in some)]


def _homeless(
    pods: Sequence[Pod], room: Mapping[str, Counter[str]], truth: Truth, *, emptiest_first: bool = True
) -> list[Pod]:
    """Pods that find no node beside those before them, one after the other."""
    free = {name: Counter(amounts) for name, amounts in room.items()}
    lost = []
    for pod in sorted(pods, key=lambda item: -max((amount for _, amount in item.spec.requests), default=0)):
        homes = [
            name for name, item in truth.nodes.items()
            if refuses(item, pod) is None and not lacking(pod, free[name])
        ]  # fmt: skip
        if homes:
            choose = max if emptiest_first else min
            take(pod, free[choose(homes, key=lambda name: free[name]["cpu"])])
        else:
            lost.append(pod)
    return lost


def _have_places(pods: Sequence[Pod], room: Mapping[str, Counter[str]], truth: Truth) -> bool:
    """Whether all of them find a node together: by taking the emptiest or the fullest, or else by trying all."""
    if not _homeless(pods, room, truth) or not _homeless(pods, room, truth, emptiest_first=False):
        return True
    first, *rest = sorted(pods, key=lambda item: -max((amount for _, amount in item.spec.requests), default=0))
    tried = []
    for name, node in truth.nodes.items():
        if refuses(node, first) is not None or lacking(first, room[name]) or room[name] in tried:
            continue
        tried.append(room[name])
        left = {**room, name: Counter(room[name])}
        take(first, left[name])
        if _have_places(rest, left, truth):
            return True
    return False


def refuses(node: Node, pod: Pod) -> str | None:
    """What keeps a pod off a node besides room; None: nothing that is looked at here."""
    if not node.is_ready:
        return "it is not Ready"
    if node.is_unschedulable:
        return "it is cordoned"
    if node.deletion_at is not None:
        return "it is being deleted"
    for taint in node.taints:
        is_ban = taint.effect in ("NoSchedule", "NoExecute") and not taint.key.startswith("rescheduler.dev/")
        if is_ban and not any(
            item.key in ("", taint.key) and item.operator in ("Exists", "Equal") for item in pod.spec.tolerations
        ):
            return f"taint {taint.key} keeps it off"
    if any(node.labels.get(key) != value for key, value in pod.spec.node_selector):
        return "the labels are not those it selects"
    return None


def free_room(node: Node, truth: Truth, without: set[str]) -> Counter[str]:
    """What is free on a node now; pods count until they are gone."""
    free: Counter[str] = Counter(dict(node.allocatable))
    for pod in truth.pods.values():
        if pod.node_name == node.name and not pod.is_finished and pod.uid not in without:
            free.subtract(dict(pod.spec.requests if pod.held is None else pod.held))
            free[PODS] -= 1
    return free


def lacking(pod: Pod, free: Counter[str]) -> str | None:
    """What there is too little of for a pod; None: it fits."""
    for name, amount in (*pod.spec.requests, (PODS, 1)):
        if free[name] < amount:
            return f"too little {name} is free: {free[name]} of {amount}"
    return None


def take(pod: Pod, free: Counter[str]) -> None:
    """Let a pod have its room."""
    free.subtract(dict(pod.spec.requests))
    free[PODS] -= 1


def _is_on_its_way(debt: Send, truth: Truth) -> bool:
    """Whether the replacement of an evicted pod has no node yet."""
    return not any(pod.node_name for pod in newcomers(debt, truth))
