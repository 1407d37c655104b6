"""When a pod can be moved by surge: its replacement may stand beside it, and it may be evicted once that is Ready."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from rescheduler.disruption.pod_kinds import counts_as_ready
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod, PodSpec
from rescheduler.model.objects.surge_mark import TEMPLATE_HASH
from rescheduler.model.objects.workload import Workload

if TYPE_CHECKING:
    from rescheduler.disruption.eligibility_context import EligibilityContext

USUAL_SURGE: Final = "25%"
"""A Deployment's maxSurge where it says nothing."""
_SHARED: Final = frozenset({"ReadOnlyMany", "ReadWriteMany"})
_DISKS: Final = frozenset({"GCEPersistentDisk", "AWSElasticBlockStore", "ISCSI", "RBD"})


def surge_obstacle(pod: Pod, context: EligibilityContext) -> str | None:
    """Why a pod cannot be moved by surge now, as a sentence; None: nothing is known that speaks against it."""
    return next(_obstacles(pod, context), None)


def surge_allowance(workload: Workload) -> int:
    """How many pods of a workload may be on their way by surge at once: its own maxSurge, and at least 1."""
    return max(1, _most_surplus(workload))


def _most_surplus(workload: Workload) -> int:
    """Pods that a Deployment may have beyond what it wants; a share is rounded up, as Kubernetes does."""
    written = USUAL_SURGE if workload.max_surge is None else workload.max_surge
    text = str(written)
    number = text.removesuffix("%")
    if not number.isdecimal():
        return 0
    if not text.endswith("%"):
        return int(number)
    return -(-(workload.desired_replicas or 0) * int(number) // 100)


def _obstacles(pod: Pod, context: EligibilityContext) -> Iterator[str]:
    owner, workload = context.cluster.owner_of(pod), context.cluster.workload_of(pod)
    if owner is None or workload is None:
        yield "it has no controller that would make a second pod"
        return
    if pod.controller is None or pod.controller.group is not None or owner.kind != "ReplicaSet":
        yield f"it belongs to {owner.key}, and a {owner.kind} does not make a second pod beside it"
        return
    yield from _of_owners(owner, workload)
    yield from _of_label(pod, owner, context)
    yield from _of_volumes(pod, context)
    if not counts_as_ready(pod):
        yield "it is not Ready"
    for item in (workload, owner) if owner.uid != workload.uid else (workload,):
        yield from _rolling(item)
    if context.revisions.alive(workload.uid) > 1:
        yield f"{workload.key} is rolling out: two revisions are alive"
    full = None if context.is_own_surge(pod) else context.quotas.objection(pod)
    if full is not None:
        yield f"the quota has no room for one pod more: {full}"
    yield from _of_budgets(pod, context)


def _of_owners(owner: Workload, workload: Workload) -> Iterator[str]:
    """What is known of the ReplicaSet, and what its Deployment says of two revisions side by side."""
    if owner.is_inferred:
        yield f"{owner.key} is not in the snapshot, so its selector, and who owns it, is not known"
    elif workload.uid == owner.uid and owner.owner is not None:
        yield f"{owner.key} belongs to {owner.owner.written}, of which nothing is known"
    elif workload.kind == "Deployment" and workload.strategy == "Recreate":
        yield f"the strategy of {workload.key} is Recreate: two of its pods must not run at once"
    elif workload.kind == "Deployment" and _most_surplus(workload) == 0:
        yield f"maxSurge of {workload.key} is 0: it must never have more pods than it wants"


def _rolling(workload: Workload) -> Iterator[str]:
    desired, updated, current = workload.desired_replicas, workload.updated_replicas, workload.current_replicas
    if workload.is_terminating:
        yield f"{workload.key} is being deleted"
    elif workload.observed_generation < workload.generation:
        yield f"{workload.key} was changed, and may be rolling out"
    elif desired is not None and updated is not None and updated < desired:
        yield f"{workload.key} is rolling out: {updated} of {desired} replicas are up to date"
    elif desired is not None and current is not None and current > desired:
        yield f"{workload.key} has {current} replicas and wants {desired}: it is rolling out, or being scaled"


# The label by which a pod is taken out of its ReplicaSet: nobody else may go by it.


def _of_label(pod: Pod, owner: Workload, context: EligibilityContext) -> Iterator[str]:
    asked = () if owner.selector is None else owner.selector.requirements
    value = pod.labels.get(TEMPLATE_HASH)
    if value is None or not any(rule.key == TEMPLATE_HASH and rule.operator == "In" for rule in asked):
        yield f"the selector of {owner.key} has no label {TEMPLATE_HASH}, by which one pod could be taken out of it"
        return
    others = context.users_of_template_hash
    user = others.of_namespace(pod.namespace) or others.of_pods(owner.uid)
    if user is not None:
        yield f"{user} goes by the label {TEMPLATE_HASH}, and would lose sight of the pod"


class LabelUsers:
    """Who goes by the label ``pod-template-hash`` besides the ReplicaSets themselves; found once for a snapshot."""

    def __init__(self, context: EligibilityContext) -> None:
        """Look at selectors of namespaces, and at the hard terms of all pods."""
        self._of_namespace: dict[str, str] = {}
        self._of_owner: dict[str, str] = {}
        cluster = context.cluster
        for service in cluster.services:
            if TEMPLATE_HASH in service.selector:
                self._of_namespace.setdefault(service.namespace, f"Service {service.namespace}/{service.name}")
        for budget in cluster.budgets:
            if budget.selector is not None and _names_it(budget.selector):
                self._of_namespace.setdefault(budget.namespace, f"PodDisruptionBudget {budget.key}")
        for policy in cluster.network_policies or ():
            if any(map(_names_it, policy.selectors)):
                self._of_namespace.setdefault(policy.namespace, f"NetworkPolicy {policy.namespace}/{policy.name}")
        specs: dict[int, bool] = {}
        for pod in context.kinds.examples:
            if pod.spec.affinity or pod.spec.anti_affinity or pod.spec.topology_spread:
                known = specs.get(id(pod.spec))
                if known is None:
                    known = specs[id(pod.spec)] = any(map(_names_it, _hard_selectors(pod.spec)))
                if known and not pod.is_finished:
                    self._of_owner.setdefault("" if pod.controller is None else pod.controller.uid, f"pod {pod.key}")

    def of_namespace(self, namespace: str) -> str | None:
        """A Service, PodDisruptionBudget or NetworkPolicy of a namespace."""
        return self._of_namespace.get(namespace)

    def of_pods(self, owner: str) -> str | None:
        """A pod that another ReplicaSet owns, with a required affinity or spread."""
        return next((text for uid, text in self._of_owner.items() if uid != owner), None)


def _hard_selectors(spec: PodSpec) -> Iterator[LabelSelector]:
    terms = (term.selector for term in (*spec.affinity, *spec.anti_affinity))
    spread = (item.selector for item in spec.topology_spread if item.when_unsatisfiable == "DoNotSchedule")
    yield from (item for item in (*terms, *spread) if item is not None)


def _names_it(selector: LabelSelector) -> bool:
    return any(rule.key == TEMPLATE_HASH for rule in selector.requirements)


# Volumes that two pods may use at once, and budgets that let the old one go once the new one is Ready.


def _of_volumes(pod: Pod, context: EligibilityContext) -> Iterator[str]:
    for volume in pod.volumes:
        if volume.kind in ("PersistentVolumeClaim", "Ephemeral"):
            claim = context.cluster.claim_by_key.get((pod.namespace, volume.claim))
            if claim is None:
                yield f"its claim {volume.claim} is not in the snapshot, so who may use it at once is not known"
            elif not claim.access_modes or not _SHARED.issuperset(claim.access_modes):
                modes = ", ".join(claim.access_modes) or "of no access mode"
                yield f"its claim {volume.claim} is {modes}: two pods on two nodes cannot use it at once"
        elif volume.kind in _DISKS and not volume.is_read_only:
            yield f"its disk {volume.identity} ({volume.kind}) is no claim that two pods may use at once"


def _of_budgets(pod: Pod, context: EligibilityContext) -> Iterator[str]:
    statuses = context.budgets.of(pod)
    if len(statuses) > 1:
        names = ", ".join(status.budget.key for status in statuses)
        yield f"{len(statuses)} PodDisruptionBudgets cover it ({names}); the Eviction API refuses such pods"
        return
    for status in statuses:
        budget = status.budget
        if budget.current_healthy + 1 <= budget.desired_healthy:
            yield (
                f"PodDisruptionBudget {budget.key} wants {budget.desired_healthy} healthy pods, and with one more "
                f"there would be {budget.current_healthy + 1}: it would never let the old one go"
            )
