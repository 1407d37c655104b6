"""I10: pods that are never sent for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.policy import Permission, Policy
from tests.soak.invariants.allowances import in_scope, matches
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.debts import Send
from tests.soak.invariants.workload_floor import SNAPSHOT_SECONDS
from tests.soak.trace import Effect, Event, Violation
from tests.soak.world.truth import Truth

CRITICAL = 2_000_000_000
SYSTEM = ("kube-system", "kube-public", "kube-node-lease", "rescheduler-system")
CLOCK_SECONDS = 35.0
"""A clock may be wrong by the 30 s that the policy's health tolerates, and a little."""
DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")
OWN = ("ReplicaSet", "StatefulSet", "ReplicationController")
"""Kinds of Kubernetes' own whose controller replaces pods."""


class Eligibility(Checker):
    """I10. The pod itself is judged as it stood right before the eviction: its resource version is a precondition."""

    name = "I10"
    sentence = (
        "Never evicted: mirror, DaemonSet, Job, ownerless, pending, finished, terminating pods, those that run to "
        "their end, those that are not Ready or on a node that is not; pods that neither a ReplicaSet, StatefulSet or "
        "ReplicationController replaces nor a kind of controller that the policy names, or that only claim to have "
        "such an owner, or name one of Kubernetes' own that is not there; priority >= system-cluster-critical; system "
        "or excluded namespaces; ourselves; single replicas, local storage and claims unless allowed; pods that no "
        "PodDisruptionBudget covers where that is denied; unknown schedulers, predicates that are not modelled; pods "
        "with any known mark. Marks and the policy's scope can only narrow."
    )
    interests = (Effect,)

    def on_event(self, event: Event, truth: Truth) -> Sequence[Violation]:
        """Each eviction that took effect."""
        if not isinstance(event, Effect) or not event.request.is_eviction or event.pod is None:
            return ()
        send = self.history.send_of(event.request)
        policy = self.history.policies.get(event.request.process)
        if policy is None:
            return ()
        self.bites()
        pod = event.pod
        reasons = [*_kind(pod), *_owners(pod, policy, truth), *_marks(pod, truth), *_permissions(pod, policy)]
        reasons += [*_scope(pod, policy, truth), *self._single(send, policy), *self._node(send, pod, policy, truth)]
        reasons += [*self._uncovered(send, pod, policy, truth), *self._orphaned(send, pod, truth)]
        return [found for why in reasons for found in self.violated(event.t, f"{send.key} was evicted though it {why}")]

    def _single(self, send: Send, policy: Policy) -> Iterator[str]:
        earlier = self.history.losses.earlier_desired(send.workload, send.t - SNAPSHOT_SECONDS)
        if (
            send.workload
            and max([send.desired, *earlier]) == 1
            and policy.disruption.single_replicas is Permission.DENY
        ):
            yield "is a single replica"

    def _uncovered(self, send: Send, pod: Pod, policy: Policy, truth: Truth) -> Iterator[str]:
        """A budget that the snapshot still showed is no reason."""
        if policy.disruption.without_budget is Permission.ALLOW or send.in_gap or truth.budgets_of(pod):
            return
        snapshot = self.history.snapshots.get(send.request.process)
        if snapshot is None or not any(item.namespace == pod.namespace for item in snapshot.shown.budgets):
            yield "is covered by no PodDisruptionBudget"

    def _orphaned(self, send: Send, pod: Pod, truth: Truth) -> Iterator[str]:
        """An owner that the snapshot still showed is no reason."""
        owner, snapshot = pod.controller, self.history.snapshots.get(send.request.process)
        if owner is None or owner.group is not None or owner.kind not in OWN or owner.uid in truth.workloads:
            return
        if snapshot is None or all(item.uid != owner.uid for item in snapshot.shown.workloads):
            yield f"names {owner.kind} {owner.name}, which is not there"

    def _node(self, send: Send, pod: Pod, policy: Policy, truth: Truth) -> Iterator[str]:
        """A node of which the snapshot could not show yet that it is not Ready is no reason, nor is one seen late."""
        node = truth.nodes.get(pod.node_name or "")
        if node is None or node.is_ready or policy.disruption.not_ready is Permission.ALLOW or send.in_gap:
            return
        snapshot = self.history.snapshots.get(send.request.process)
        shown = send.t - SNAPSHOT_SECONDS if snapshot is None else min(send.t - SNAPSHOT_SECONDS, snapshot.as_of)
        if not self.history.has_turned(node.name, shown):
            yield f"is on node {node.name}, which is not Ready"


def _kind(pod: Pod) -> Iterator[str]:
    if any(key.startswith("kubernetes.io/config.mirror") for key in pod.annotations):
        yield "is a mirror pod"
    for owner in pod.owners:
        if owner.kind in ("DaemonSet", "Job", "Node"):
            yield f"belongs to a {owner.kind}"
    if pod.spec.restart_policy != "Always":
        yield f"runs to its end (restartPolicy {pod.spec.restart_policy})"
    if pod.phase in ("Succeeded", "Failed"):
        yield f"has ended ({pod.phase})"
    if pod.node_name is None:
        yield "is on no node"
    if pod.deletion_at is not None:
        yield "is terminating already"
    if pod.spec.priority >= CRITICAL:
        yield f"has priority {pod.spec.priority}"
    if pod.labels.get("app.kubernetes.io/managed-by") == "rescheduler":
        yield "is one of our own"
    if "rescheduler" in (pod.labels.get("app.kubernetes.io/name"), pod.labels.get("app.kubernetes.io/part-of")):
        yield "is one of our own"
    if pod.spec.unmodelled:
        yield f"has predicates that are not modelled: {pod.spec.unmodelled}"


def _owners(pod: Pod, policy: Policy, truth: Truth) -> Iterator[str]:
    """Whether somebody is known to replace the pod, and truly its owner."""
    controllers = [owner for owner in pod.owners if owner.is_controller]
    listed = {(found.group, found.kind) for found in policy.disruption.owner_kinds}
    if len(controllers) > 1:
        yield "has several controllers"
    for owner in controllers:
        is_known = owner.group is None and owner.kind in OWN
        if not is_known and (owner.group, owner.kind) not in listed:
            yield f"belongs to a {owner.kind} of {owner.group}, which may not replace it"
    if truth.forged(pod):
        yield "only claims to have an owner"


def _marks(pod: Pod, truth: Truth) -> Iterator[str]:
    marks = pod.annotations
    if marks.get("cluster-autoscaler.kubernetes.io/safe-to-evict") == "false":
        yield "is marked safe-to-evict: false"
    if "descheduler.alpha.kubernetes.io/prefer-no-eviction" in marks:
        yield "is marked prefer-no-eviction"
    if marks.get("rescheduler.dev/do-not-evict") == "true":
        yield "is marked do-not-evict"
    karpenter = marks.get("karpenter.sh/do-not-disrupt", "false")
    if karpenter != "false":
        found = DURATION.fullmatch(karpenter)
        hours, minutes, seconds = (int(part or 0) for part in found.groups()) if found else (0, 0, 0)
        until = (pod.started_at or float("inf")) + 3600 * hours + 60 * minutes + seconds
        if found is None or not karpenter or truth.epoch() < until - CLOCK_SECONDS:
            yield f"is marked do-not-disrupt: {karpenter}"


def _permissions(pod: Pod, policy: Policy) -> Iterator[str]:
    rules = policy.disruption
    kinds = {volume.kind for volume in pod.volumes}
    is_safe = pod.annotations.get("cluster-autoscaler.kubernetes.io/safe-to-evict") == "true"
    if rules.ownerless is Permission.DENY and pod.controller is None:
        yield "has no owner"
    if rules.local_storage is Permission.DENY and not is_safe and kinds & {"EmptyDir", "HostPath"}:
        yield "has local storage"
    if rules.persistent_volumes.storage_classes is not None and kinds & {"PersistentVolumeClaim", "Ephemeral"}:
        yield "has a persistent volume"  # of a class that nobody knows: there are no claims in these worlds
    if rules.not_ready is Permission.DENY and not pod.is_ready:
        yield "is not Ready"
    if not policy.schedulers and pod.spec.scheduler_name != "default-scheduler":
        yield f"belongs to scheduler {pod.spec.scheduler_name}"


def _scope(pod: Pod, policy: Policy, truth: Truth) -> Iterator[str]:
    if pod.namespace in SYSTEM and policy.scope.system_namespaces is Permission.DENY:
        yield f"is in {pod.namespace}"
    if not in_scope(pod, policy):
        yield "is out of the policy's scope"
    node = truth.nodes.get(pod.node_name or "")
    if node is not None and not matches(node.labels, policy.scope.node_selector):
        yield f"is on {node.name}, which is out of the policy's scope"
    if node is not None and node.labels.get("type") == "virtual-kubelet":
        yield "is on a virtual node"
    began = pod.created_at if pod.started_at is None else pod.started_at
    least = policy.scope.minimum_age
    if least and (began is None or truth.epoch() - began < least - CLOCK_SECONDS):
        yield f"is younger than {least:.0f} s"
