"""Whether an eviction has been made good, by the truth, and what workloads and nodes say about it."""

from __future__ import annotations

from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from tests.soak.invariants.debts import Send
from tests.soak.world.truth import Truth

ZONE = "topology.kubernetes.io/zone"


def replacements_of(send: Send, truth: Truth) -> list[Pod]:
    """Pods that came after the eviction and work, once the workload has as many ready pods as it had, or wants."""
    if truth.ready(send.workload) < min(send.ready, desired_of(truth, send.workload)):
        return []
    return [pod for pod in newcomers(send, truth) if truth.works(pod)]


def newcomers(send: Send, truth: Truth) -> list[Pod]:
    """Pods of the workload that came after the eviction; a single one has beyond doubt taken the place."""
    since = truth.epoch(send.t) - 1.0  # times of creation are whole seconds
    return [
        pod for pod in truth.members(send.workload)
        if (pod.created_at or 0.0) >= since and pod.uid != send.request.uid
    ]  # fmt: skip


def has_gone(send: Send, truth: Truth) -> bool:
    """Whether the pod is no more, by whatever hand."""
    return truth.pod_of_uid(send.request.namespace, send.request.name, send.request.uid) is None


def is_whole_without(send: Send, truth: Truth) -> bool:
    """Whether nobody is missing any more though no new pod came: fewer are wanted, or the owner is gone.

    Or there never was one: such a pod, which a policy may let go, is never replaced.
    """
    wanted = desired_of(truth, send.workload)
    victim = truth.pod_of_uid(send.request.namespace, send.request.name, send.request.uid)
    is_gone = victim is None or not truth.works(victim)
    if send.workload not in truth.workloads:
        is_nobodys = not send.workload and send.pod is not None and not send.pod.owners
        return is_gone and (send.is_owner_known or is_nobodys)
    return is_gone and wanted < send.desired and truth.ready(send.workload) >= wanted


def desired_of(truth: Truth, workload: str) -> int:
    """Replicas that are wanted; of an owner that is known by its pods alone, as many as there are."""
    if workload in truth.workloads:
        return truth.desired(workload)
    return sum(not pod.is_finished and not pod.is_terminating for pod in truth.members(workload))


def zone_of(node: Node | None) -> str:
    """The zone of a node ("" without one)."""
    return "" if node is None else node.labels.get(ZONE, "")
