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
from tests.soak.truth import Truth

CRITICAL = 2_000_000_000
CLOCK_SECONDS = 35.0
"""A clock may be wrong by the 30 s that the policy's health tolerates, and a little."""
DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?")


class Eligibility(Checker):
    """I10. The pod itself is judged as it stood right before the eviction: its resource version is a precondition."""

    name = "I10"
    sentence = (
        "Never evicted: mirror, DaemonSet, Job, ownerless, pending, finished, terminating pods; priority >= "
        "system-cluster-critical; protected or excluded namespaces; ourselves; single replicas, local storage and "
        "claims unless allowed; unknown schedulers, predicates that are not modelled; pods with any known mark. Marks "
        "and the policy's scope can only narrow."
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
        reasons = [*_kind(event.pod), *_marks(event.pod, truth), *_permissions(event.pod, policy)]
        reasons += [*_scope(event.pod, policy, truth), *self._single(send, policy)]
        return [found for why in reasons for found in self.violated(event.t, f"{send.key} was evicted though it {why}")]

    def _single(self, send: Send, policy: Policy) -> Iterator[str]:
        earlier = self.history.losses.earlier_desired(send.workload, send.t - SNAPSHOT_SECONDS)
        if (
            send.workload
            and max([send.desired, *earlier]) == 1
            and policy.disruption.single_replicas is Permission.DENY
        ):
            yield "is a single replica"


def _kind(pod: Pod) -> Iterator[str]:
    controllers = [owner for owner in pod.owners if owner.is_controller]
    if any(key.startswith("kubernetes.io/config.mirror") for key in pod.annotations):
        yield "is a mirror pod"
    for owner in pod.owners:
        if owner.kind in ("DaemonSet", "Job", "Node"):
            yield f"belongs to a {owner.kind}"
    if len(controllers) > 1:
        yield "has several controllers"
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
    if pod.spec.unmodelled:
        yield f"has predicates that are not modelled: {pod.spec.unmodelled}"


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
    if rules.persistent_volumes is Permission.DENY and kinds & {"PersistentVolumeClaim", "Ephemeral"}:
        yield "has a persistent volume"
    if not policy.schedulers and pod.spec.scheduler_name != "default-scheduler":
        yield f"belongs to scheduler {pod.spec.scheduler_name}"


def _scope(pod: Pod, policy: Policy, truth: Truth) -> Iterator[str]:
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
