"""What all checkers know of a run so far: evictions sent and their debts, what was lost, policies, snapshots seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move
from rescheduler.policy.fields.policy import Policy
from tests.soak.invariants.debts import Send
from tests.soak.invariants.losses import Losses
from tests.soak.invariants.repayment import (
    desired_of,
    has_gone,
    is_whole_without,
    newcomers,
    replacements_of,
    zone_of,
)
from tests.soak.trace import (
    Answer,
    Effect,
    Event,
    GateEvent,
    LedgerWrite,
    LookEvent,
    NodeChanged,
    PodChanged,
    PolicyEvent,
    ProcessEvent,
    Request,
    Violation,
    WorldEvent,
)
from tests.soak.world.truth import Truth

PROVEN_SECONDS = 28.5
"""A replacement has to work for 30 s to close a debt; times in the API are whole seconds."""


class Snapshot:
    """The newest list of the whole cluster that a process was given: when it asked, and what it was shown.

    ``shown``: with what it was told by looks since.
    """

    def __init__(self, asked_at: float, as_of: float, shown: Cluster) -> None:
        self.asked_at = asked_at
        self.as_of = as_of
        self.shown = shown


class Verdict(NamedTuple):
    """What the gate said of one pod, the state that it was shown, and the newest look around that pod before."""

    t: float
    is_permit: bool
    shown: Cluster
    look: LookEvent | None


class History:
    """The first observer of a run; it judges nothing."""

    interests: tuple[type, ...] = (
        Request, Effect, Answer, PodChanged, NodeChanged, WorldEvent, ProcessEvent, PolicyEvent, LookEvent, GateEvent,
        LedgerWrite,
    )  # fmt: skip

    def __init__(self) -> None:
        self.guards: dict[str, int] = {}
        self.sends: list[Send] = []
        self.losses = Losses()
        self.policies: dict[str, Policy] = {}
        self.snapshots: dict[str, Snapshot] = {}
        self.live: dict[tuple[str, str], tuple[float, Pod | None]] = {}
        """The newest live read of a pod, by itself or in a look around it, by process and pod key; since when."""
        self.waves: dict[str, tuple[Move, ...]] = {}
        """What the gate was asked about together, by process; asked about one of them again they still are a wave."""
        self.verdicts: dict[tuple[str, str], Verdict] = {}
        """The newest answer of the gate about a pod, by process and the pod's uid: nobody else's counts for it."""
        self.looks: dict[tuple[str, str], LookEvent] = {}
        """The newest look around a pod, by process and uid."""
        self.moves: dict[tuple[str, str], Move] = {}
        """The newest permitted or refused move of a pod, by process and uid."""
        self.processes: dict[str, str] = {}
        """What is known of each process: the kind of its newest event."""
        self.ledger: Ledger = EMPTY_LEDGER
        """The ledger as it was committed last."""
        self.jumps: list[float] = []
        self.arrivals: defaultdict[str, list[float]] = defaultdict(list)
        """When pods were bound to each node."""
        self.node_changes: defaultdict[str, list[float]] = defaultdict(list)
        """When each node came, went, or changed."""
        self.turns: defaultdict[str, list[float]] = defaultdict(list)
        """When each node became Ready, or was no more."""
        self.world: list[WorldEvent] = []
        self._open: list[Send] = []
        self._works_since: dict[str, float] = {}
        self._grown_at: defaultdict[str, float] = defaultdict(float)
        """When a pod of each workload began to work, or ("") something else than a pod changed last."""
        self._by_request: dict[int, Send] = {}

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Remember what it means."""
        if isinstance(event, Request):
            self._sent(event, truth)
        elif isinstance(event, Effect):
            self._took_effect(event, truth)
            if event.request.is_last_step:
                self.losses.forgive(event.request.uid)
        elif isinstance(event, Answer):
            self._answered(event)
            self._settle(truth)
        elif isinstance(event, PodChanged):
            self._pod_changed(event, truth)
        elif isinstance(event, NodeChanged):
            self.losses.node(event, truth)
            node = event.new or event.old
            if node is not None:
                self.node_changes[node.name].append(event.t)
                if event.old is None or event.new is None or event.old.is_ready != event.new.is_ready:
                    self.turns[node.name].append(event.t)
            if event.new is None or not event.new.is_ready:
                for pod in [pod for pod in truth.pods.values() if node is not None and pod.node_name == node.name]:
                    self._works_since.pop(pod.uid, None)
            self._grown_at[""] = event.t
            self._settle(truth)
        elif isinstance(event, WorldEvent):
            self._grown_at[""] = event.t
            self.world.append(event)
            self.losses.look(truth)
            self._settle(truth)
        else:
            self._told(event)
        return ()

    def at_end(self, truth: Truth) -> Sequence[Violation]:
        """Nothing to judge."""
        return ()

    def debts(self, workload: str | None = None) -> list[Send]:
        """Evictions that are open, of one workload or all."""
        # How an answer is to be understood may be known a moment after it was given.
        for send in [send for send in self._open if send.is_refused]:
            self._close(send, send.request.answered_at or send.t, "refused")
        return [send for send in self._open if workload is None or send.workload == workload]

    def effective(self) -> Iterator[Send]:
        """Evictions that took place, in the order in which they were sent."""
        return (send for send in self.sends if send.took_effect)

    def has_changed(self, node: str, since: float) -> bool:
        """Whether pods came to a node, or it changed itself, since a time."""
        times = (*self.arrivals[node][-1:], *self.node_changes[node][-1:])
        return any(t >= since for t in times)

    def has_turned(self, node: str, since: float) -> bool:
        """Whether a node became Ready, or was no more, since a time."""
        return any(t >= since for t in self.turns[node][-1:])

    def send_of(self, request: Request) -> Send:
        """The record of an eviction."""
        return self._by_request[id(request)]

    def _pod_changed(self, event: PodChanged, truth: Truth) -> None:
        self.losses.pod(event, truth)
        old, new = event.old, event.new
        if new is not None and new.node_name and (old is None or old.node_name != new.node_name):
            self.arrivals[new.node_name].append(event.t)
        if new is not None and old is None:
            for send in self.debts(truth.workload_of(new)):
                send.came.add(new.uid)
        if new is not None and truth.works(new):
            if new.uid not in self._works_since:
                self._grown_at[truth.workload_of(new)] = event.t
            self._works_since.setdefault(new.uid, event.t)
        elif old is not None:
            self._works_since.pop(old.uid, None)
        self._settle(truth)

    def _sent(self, request: Request, truth: Truth) -> None:
        if not request.is_eviction:
            return
        pod = truth.pod_of_uid(request.namespace, request.name, request.uid)
        workload = "" if pod is None else truth.workload_of(pod)
        node = "" if pod is None else pod.node_name or ""
        move = self.moves.get((request.process, request.uid))
        send = Send(
            request=request,
            pod=pod,
            workload=workload,
            node=node,
            zone=zone_of(truth.nodes.get(node)),
            to_node="" if move is None else move.to_node,
            ready=truth.ready(workload) if workload else 0,
            desired=desired_of(truth, workload) if workload else 0,
            is_owner_known=workload in truth.workloads,
        )
        self.sends.append(send)
        self._open.append(send)
        self._by_request[id(request)] = send

    def _took_effect(self, effect: Effect, truth: Truth) -> None:
        send = self._by_request.get(id(effect.request))
        if send is None:
            return
        send.effect_at = effect.t
        send.pod = effect.pod if send.pod is None else send.pod
        if effect.workload in truth.workloads:
            send.workload, send.ready, send.desired = effect.workload, effect.ready, effect.desired
        if send.closed_by == "unharmed":  # seen unharmed too early: it is open still
            send.closed_at, send.closed_by = None, ""
            self._open.append(send)
        self.losses.forgive(send.request.uid)

    def _answered(self, answer: Answer) -> None:
        request = answer.request
        send = self._by_request.get(id(request))
        if send is not None:
            return
        if isinstance(answer.shown, Cluster):
            self.snapshots[request.process] = Snapshot(request.t, answer.as_of, answer.shown)
        elif request.verb == "get" and request.resource == "pods":
            shown = answer.shown if isinstance(answer.shown, Pod) else None
            self.live[request.process, f"{request.namespace}/{request.name}"] = answer.t, shown
        self._seen_unharmed(answer)

    def _seen_unharmed(self, answer: Answer) -> None:
        for send in [send for send in self._open if not send.took_effect and send.is_past_doubt(answer.as_of)]:
            if send.is_unharmed_in(_pod_in(answer, send)):
                self._close(send, answer.t, "unharmed")

    def _settle(self, truth: Truth) -> None:
        """Close what is repaid by now."""
        # A pod that went by other hands while nobody knew what became of our request is owed for all the same.
        for send in [send for send in self._open if send.took_effect or has_gone(send, truth)]:
            came = [pod for pod in replacements_of(send, truth) if self._has_proven(pod, truth.t)]
            if came:
                candidates = send.came | {pod.uid for pod in newcomers(send, truth)}
                send.landed = came[0] if len(candidates) == 1 else None
                self._close(send, self._repaid_at(send, came), "repaid")
            elif is_whole_without(send, truth):
                self._close(send, truth.t, "complete")

    def _repaid_at(self, send: Send, came: Sequence[Pod]) -> float:
        """When that became so, though nothing happened then that anybody could tell of."""
        proven_at = min(self._works_since[pod.uid] for pod in came) + PROVEN_SECONDS
        return max(proven_at, self._grown_at[send.workload], self._grown_at[""], send.t)

    def _has_proven(self, pod: Pod, t: float) -> bool:
        return t - self._works_since.setdefault(pod.uid, t) >= PROVEN_SECONDS

    def _close(self, send: Send, t: float, reason: str) -> None:
        send.close(t, reason)
        self._open.remove(send)

    def _looked(self, look: LookEvent) -> None:
        self.looks[look.process, look.move.pod.uid] = look
        key = look.move.pod.key
        pod = next((pod for pod in look.shown.pods if pod.key == key), None)
        self.live[look.process, key] = look.asked_at, pod
        snapshot = self.snapshots.get(look.process)
        if snapshot is not None:
            self.snapshots[look.process] = Snapshot(snapshot.asked_at, snapshot.as_of, told_by(look, snapshot.shown))

    def _told(self, event: Event) -> None:
        if isinstance(event, LookEvent):
            self._looked(event)
        elif isinstance(event, PolicyEvent):
            if event.detail != "rejected":
                self.policies[event.process] = event.policy
        elif isinstance(event, GateEvent):
            for move, verdict in zip(event.moves, event.verdicts, strict=True):
                whose = event.process, move.pod.uid
                is_permit = isinstance(verdict, Permit)
                self.verdicts[whose] = Verdict(event.t, is_permit, event.shown, self.looks.get(whose))
            if not set(event.moves) <= set(self.waves.get(event.process, ())):
                self.waves[event.process] = event.moves
            self.moves.update({(event.process, move.pod.uid): move for move in event.moves})
        elif isinstance(event, LedgerWrite):
            self.ledger = event.ledger if event.ok else self.ledger
        elif isinstance(event, ProcessEvent):
            if event.kind == "wall-clock":
                self.jumps.append(event.t)
            else:
                self.processes[event.process] = event.kind


def told_by(look: LookEvent, shown: Cluster) -> Cluster:
    """What a process knows of the cluster after a look: this in the place of what it was shown before."""
    around, here = look.shown, look.move.pod.namespace
    before = shown.pod_by_key.get(look.move.pod.key)
    owner = None if before is None else before.controller
    new = {pod.key: pod for pod in around.pods}
    gone = {
        pod.key for pod in shown.pods
        if pod.node_name == look.move.to_node or (owner is not None and pod.controller == owner)
        or pod.key == look.move.pod.key
    }  # fmt: skip
    nodes = {node.name: node for node in shown.nodes if node.name not in (look.move.from_node, look.move.to_node)}
    nodes |= {node.name: node for node in around.nodes}
    workloads = {item.uid: item for item in (*shown.workloads, *around.workloads)}
    return replace(
        shown,
        pods=(*(pod for pod in shown.pods if pod.key not in new and pod.key not in gone), *new.values()),
        budgets=(*(item for item in shown.budgets if item.namespace != here), *around.budgets),
        nodes=tuple(nodes.values()),
        workloads=tuple(workloads.values()),
    )


def _pod_in(answer: Answer, send: Send) -> Pod | None:
    shown = answer.shown
    if isinstance(shown, Cluster):
        return shown.pod_by_key.get(send.key)
    if isinstance(shown, Pod):
        return shown if shown.key == send.key else None
    if isinstance(shown, Sequence):
        return next((pod for pod in shown if isinstance(pod, Pod) and pod.key == send.key), None)
    return None
