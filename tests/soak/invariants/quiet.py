"""I11, I12 and I33: workloads that change, and those that may not come back, are left alone where the policy asks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import Workload
from rescheduler.policy.fields.policy import Permission
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.trace import Event, Request, Violation
from tests.soak.world.truth import Truth

SLACK_SECONDS = 5.0


class UnsettledChecker(Checker):
    """Looks at sends of processes whose policy denies unsettled workloads."""

    interests = (Request,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction as it is sent."""
        if not isinstance(event, Request) or not event.is_eviction:
            return ()
        send = self.history.send_of(event)
        policy = self.history.policies.get(event.process)
        if policy is None or send.pod is None or send.in_gap or policy.disruption.unsettled is not Permission.DENY:
            return ()
        self.bites()
        whys = self.reasons(send, send.pod, truth)
        return [found for why in whys for found in self.violated(send.t, f"{send.key} was sent though {why}")]

    def reasons(self, send: Send, pod: Pod, truth: Truth) -> Iterator[str]:
        """What speaks against it."""
        raise NotImplementedError


class QuietWorkload(UnsettledChecker):
    """I11. Reported where the truth is so and the newest snapshot showed it; a change of scale, where it was old enough
    to have been seen."""

    name = "I11"
    sentence = (
        "Not while generation != observedGeneration, updated < desired, two revisions alive, paused, owner deleting, "
        "desired = 0, or desired changed within disruption.quiet."
    )

    def reasons(self, send: Send, pod: Pod, truth: Truth) -> Iterator[str]:
        """Of the pod's owner and the one above."""
        snapshot = self.history.snapshots.get(send.request.process)
        shown = {} if snapshot is None else {workload.uid: workload for workload in snapshot.shown.workloads}
        now = set(unsettled(send.workload, truth.workloads))
        for why in sorted(now & set(unsettled(send.workload, shown))):
            yield f"its workload {why}"
        policy = self.history.policies[send.request.process]
        changed = self.history.losses.last_change(send.workload)
        if changed is None or snapshot is None or changed > snapshot.as_of - SLACK_SECONDS:
            return
        if send.t - changed < policy.disruption.quiet - SLACK_SECONDS:
            yield f"its workload was scaled {send.t - changed:.0f} s before; quiet is {policy.disruption.quiet:.0f} s"


class OrderedSets(UnsettledChecker):
    """I12."""

    name = "I12"
    sentence = "StatefulSet: <= 1 open debt, only with all ordinals Ready, highest ordinal of a plan first."

    def reasons(self, send: Send, pod: Pod, truth: Truth) -> Iterator[str]:
        """Only of pods of StatefulSets."""
        owner = pod.controller
        if owner is None or owner.kind != "StatefulSet":
            self.bites(-1)
            return
        debts = self.history.debts(send.workload)
        if len(debts) > 1:
            yield f"{len(debts)} pods of its StatefulSet are on the move"
        missing = truth.desired(send.workload) - truth.ready(send.workload)
        if missing > self.history.losses.since(send.workload, send.t - SLACK_SECONDS):
            yield f"{missing} ordinals of its StatefulSet are not ready"
        mine = [
            other for other in self.history.sends
            if other.workload == send.workload and other.request.plan == send.request.plan and other is not send
        ]  # fmt: skip
        if any(_ordinal(other.request.name) < _ordinal(pod.name) for other in mine):
            yield "a lower ordinal was moved before it by the same plan"


class CanBeRecreated(UnsettledChecker):
    """I33, as far as the truth tells of it by pods: a sibling that cannot start."""

    name = "I33"
    sentence = (
        "Owner has no ReplicaFailure/FailedCreate in the last 15 min; quota head-room >= the pod's request; no sibling "
        "of the same revision that crash-loops or cannot start."
    )

    def reasons(self, send: Send, pod: Pod, truth: Truth) -> Iterator[str]:
        """Siblings that were unready for longer than a snapshot may be old."""
        snapshot = self.history.snapshots.get(send.request.process)
        if snapshot is None:
            return
        for other in truth.members(send.workload):
            shown = snapshot.shown.pod_by_key.get(other.key)
            is_same = other.controller == pod.controller and shown is not None and shown.uid == other.uid
            if is_same and shown is not None and _cannot_start(other) and _cannot_start(shown):
                yield f"its sibling {other.key} restarted {other.restart_count} times and is not ready"


def unsettled(uid: str, workloads: Mapping[str, Workload]) -> Iterator[str]:
    """What is under way with a top workload, in words."""
    top = workloads.get(uid)
    if top is None:
        return
    children = [item for item in workloads.values() if item.owner is not None and item.owner.uid == uid]
    if top.observed_generation < top.generation:
        yield "has a generation that was not observed yet"
    if top.updated_replicas is not None and top.updated_replicas < (top.desired_replicas or 0):
        yield "is rolling out"
    if sum(bool(child.desired_replicas) for child in children) > 1:
        yield "has two revisions alive"
    if top.is_paused:
        yield "is paused"
    if top.is_terminating:
        yield "is being deleted"
    if top.desired_replicas == 0:
        yield "wants no replicas"


def _cannot_start(pod: Pod) -> bool:
    return pod.restart_count >= 2 and not pod.is_ready and not pod.is_terminating and not pod.is_finished


def _ordinal(name: str) -> int:
    tail = name.rpartition("-")[2]
    return int(tail) if tail.isdigit() else -1
