"""Kinds of objects that a recording should hold for the rules to be believed, and does not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node_pool import POOL_LABEL
from rescheduler.model.objects.pod import PodSpec
from rescheduler.model.plan.plan import EMPTY_NODES
from rescheduler.policy.fields.policy import Permission, Policy, may_surge

_UNKNOWN: Final[Mapping[str, str]] = {
    "PodDisruptionBudget": "which evictions they forbid",
    "ReplicaSet": "how many replicas they want, and whether they make new ones",
    "StatefulSet": "how many replicas they want, and whether they make new ones",
    "ReplicationController": "how many replicas they want, and whether they make new ones",
    "Deployment": "how many replicas they want, and whether they roll out",
    "ResourceQuota": "whether they leave room for replacements",
    "HorizontalPodAutoscaler": "which workloads they are scaling",
    "Service": "which labels they go by",
    "Namespace": "which labels they have",
    "PersistentVolumeClaim": "which volumes pods use",
    "PersistentVolume": "which nodes they bind pods to",
    "StorageClass": "where new volumes may be made",
    "NodePool": "which nodes Karpenter consolidates itself, and which it never takes",
    "NodeClaim": "which nodes they forbid Karpenter to take",
}
"""What is then not known of them."""


def absent_kinds(cluster: Cluster, policy: Policy) -> Iterator[str]:
    """One sentence for each kind that a rule would have asked about; a list that is empty says that there are none."""
    for kind, unknown in _UNKNOWN.items():
        if kind in cluster.absent_kinds and _is_asked_about(kind, cluster, policy):
            yield (
                f"{cluster.source} holds no {kind}, so it is not known {unknown}: record them too, as rescheduler "
                f"snapshot does, or add an empty {kind}List where the cluster has none"
            )
    if cluster.network_policies is None and may_surge(policy):
        yield (
            "NetworkPolicies were not read, so it is not known whether one goes by the label pod-template-hash, "
            "by which pods are moved by surge (policy: disruption.moveBy)"
        )


def _is_asked_about(kind: str, cluster: Cluster, policy: Policy) -> bool:
    if kind == "PodDisruptionBudget":
        return True
    if kind == "Service":
        return may_surge(policy)
    if kind in ("ResourceQuota", "HorizontalPodAutoscaler"):
        is_counted = kind == "ResourceQuota" and may_surge(policy)
        return is_counted or policy.disruption.unsettled is Permission.DENY
    if kind in ("NodePool", "NodeClaim"):
        return policy.has_objective(EMPTY_NODES) and any(POOL_LABEL in node.labels for node in cluster.nodes)
    if kind == "Namespace":
        asked = policy.scope.namespace_selector
        specs = {id(pod.spec): pod.spec for pod in cluster.pods}.values()
        return bool(asked.match_labels or asked.match_expressions) or any(map(_looks_at_namespaces, specs))
    if kind == "PersistentVolumeClaim":
        return any(volume.claim for pod in cluster.pods for volume in pod.volumes)
    if kind == "PersistentVolume":
        return any(claim.volume_name for claim in cluster.claims)
    if kind == "StorageClass":
        return any(claim.storage_class and not claim.is_bound for claim in cluster.claims)
    owners = [pod.controller for pod in cluster.pods] + [workload.owner for workload in cluster.workloads]
    return any(owner is not None and owner.kind == kind and owner.group is None for owner in owners)


def _looks_at_namespaces(spec: PodSpec) -> bool:
    """Whether affinity selects namespaces by their labels."""
    preferred = (wish.term for wish in (*spec.preferred_affinity, *spec.preferred_anti_affinity))
    terms = (*spec.affinity, *spec.anti_affinity, *preferred)
    return any(term.namespace_selector is not None and term.namespace_selector.requirements for term in terms)
