"""For what a budget of the policy counts: which pods it covers, and in which group each falls."""

from __future__ import annotations

from rescheduler.model.objects.pod import Pod
from rescheduler.policy.fields.budgets import Budget, Per
from tests.soak.invariants.allowances import matches
from tests.soak.invariants.debts import Send
from tests.soak.invariants.repayment import zone_of
from tests.soak.world.truth import Truth


def covers(budget: Budget, pod: Pod) -> bool:
    """Whether a budget of the policy covers a pod; one without selector and namespaces covers all."""
    if budget.namespaces is not None and pod.namespace not in budget.namespaces:
        return False
    selector = budget.label_selector
    return selector is None or matches(pod.labels, selector)


def group_of(budget: Budget, send: Send) -> str:
    """What the eviction counts for: its node, zone, namespace or workload, or the whole cluster."""
    return _group(budget, send.node, send.zone, send.request.namespace, send.workload)


def group_of_pod(budget: Budget, pod: Pod, truth: Truth) -> str:
    """What a pod counts for as it stands."""
    zone = zone_of(truth.nodes.get(pod.node_name or ""))
    return _group(budget, pod.node_name or "", zone, pod.namespace, truth.workload_of(pod))


def members_of(budget: Budget, group: str, truth: Truth) -> list[Pod]:
    """Pods of a group that a budget covers, finished ones left out."""
    return [
        pod
        for pod in truth.pods.values()
        if covers(budget, pod) and not pod.is_finished and group_of_pod(budget, pod, truth) == group
    ]


def named(budget: Budget, number: int) -> str:
    """What messages call it."""
    return budget.name or f"budgets[{number}]"


def _group(budget: Budget, node: str, zone: str, namespace: str, workload: str) -> str:
    return {
        Per.CLUSTER: "the cluster",
        Per.NODE: f"node {node}",
        Per.ZONE: f"zone {zone}",
        Per.NAMESPACE: f"namespace {namespace}",
        Per.WORKLOAD: workload_or_namespace(workload, namespace),
    }[budget.per]


def workload_or_namespace(workload: str, namespace: str) -> str:
    """Pods that have no workload count together, those of each namespace for themselves."""
    return f"workload {workload}" if workload else f"the pods of {namespace} without a workload"
