"""The kinds that a snapshot is made of: where they are listed and how they are decoded."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.objects import storage_fields as storage
from rescheduler.adapters.kubernetes.objects import workload
from rescheduler.adapters.kubernetes.objects.node import NodeObject
from rescheduler.adapters.kubernetes.objects.node_claim import ClaimedNodeObject
from rescheduler.adapters.kubernetes.objects.node_pool import NodePoolObject
from rescheduler.adapters.kubernetes.objects.pod_autoscaler import PodAutoscalerObject
from rescheduler.adapters.kubernetes.objects.pods.pod_fields import PodObject
from rescheduler.adapters.kubernetes.objects.quota import ResourceQuotaObject


class ObjectKind(NamedTuple):
    """One kind of object; ``path`` is where all of its kind in the cluster are listed."""

    name: str
    path: str
    decoded: type[Any]

    @property
    def api_version(self) -> str:
        """``v1``, ``apps/v1``."""
        parts = self.path.split("/")
        return parts[2] if parts[1] == "api" else "/".join(parts[2:4])

    def is_of(self, api_version: str) -> bool:
        """Whether an object's ``apiVersion`` is of this kind's group; other groups have kinds of the same name."""
        return api_version.rpartition("/")[0] == self.api_version.rpartition("/")[0]


KINDS: Final = (
    ObjectKind("Pod", "/api/v1/pods", PodObject),
    ObjectKind("Node", "/api/v1/nodes", NodeObject),
    ObjectKind("Namespace", "/api/v1/namespaces", workload.NamespaceObject),
    ObjectKind("Service", "/api/v1/services", workload.ServiceObject),
    ObjectKind("ReplicationController", "/api/v1/replicationcontrollers", workload.WorkloadObject),
    ObjectKind("ReplicaSet", "/apis/apps/v1/replicasets", workload.WorkloadObject),
    ObjectKind("Deployment", "/apis/apps/v1/deployments", workload.WorkloadObject),
    ObjectKind("StatefulSet", "/apis/apps/v1/statefulsets", workload.WorkloadObject),
    ObjectKind("DaemonSet", "/apis/apps/v1/daemonsets", workload.WorkloadObject),
    ObjectKind("Job", "/apis/batch/v1/jobs", workload.WorkloadObject),
    ObjectKind("PodDisruptionBudget", "/apis/policy/v1/poddisruptionbudgets", workload.DisruptionBudgetObject),
    ObjectKind("ResourceQuota", "/api/v1/resourcequotas", ResourceQuotaObject),
    ObjectKind("HorizontalPodAutoscaler", "/apis/autoscaling/v2/horizontalpodautoscalers", PodAutoscalerObject),
    ObjectKind("PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses", workload.PriorityClassObject),
    ObjectKind("PersistentVolumeClaim", "/api/v1/persistentvolumeclaims", storage.ClaimObject),
    ObjectKind("PersistentVolume", "/api/v1/persistentvolumes", storage.VolumeObject),
    ObjectKind("StorageClass", "/apis/storage.k8s.io/v1/storageclasses", storage.StorageClassObject),
    ObjectKind("CSINode", "/apis/storage.k8s.io/v1/csinodes", storage.CsiNodeObject),
    ObjectKind("CSIDriver", "/apis/storage.k8s.io/v1/csidrivers", storage.CsiDriverObject),
    ObjectKind("CSIStorageCapacity", "/apis/storage.k8s.io/v1/csistoragecapacities", storage.CsiStorageCapacityObject),
    ObjectKind("VolumeAttachment", "/apis/storage.k8s.io/v1/volumeattachments", storage.VolumeAttachmentObject),
    ObjectKind("NodePool", "/apis/karpenter.sh/v1/nodepools", NodePoolObject),
    ObjectKind("NodeClaim", "/apis/karpenter.sh/v1/nodeclaims", ClaimedNodeObject),
)
"""Pods come first, so that whatever a pod refers to is at least as new as the pod."""

REQUIRED: Final = ("Pod", "Node")
"""Kinds that every API server has; others may not be served."""
DISPENSABLE: Final = {
    "ResourceQuota": "whether quotas leave room for replacements is not known",
    "HorizontalPodAutoscaler": "which workloads are being scaled by an autoscaler is not known",
    "NodePool": "which nodes Karpenter consolidates itself is not known",
    "NodeClaim": "which nodes a NodeClaim forbids Karpenter to take is not known",
}
"""Kinds that an account may be denied, with what is then not known."""
SELDOM_SERVED: Final = frozenset({"NodePool", "NodeClaim"})
"""An account without the right is denied these where nobody serves them, too: absence is told where it matters."""
KIND_BY_NAME: Final = {kind.name: kind for kind in KINDS}
NETWORK_POLICY: Final = ObjectKind(
    "NetworkPolicy", "/apis/networking.k8s.io/v1/networkpolicies", workload.NetworkPolicyObject
)
"""Read where a recording holds it, and of a live cluster by ``network_policies.py`` alone, for moves by surge."""
RECORDED_KINDS: Final = {**KIND_BY_NAME, NETWORK_POLICY.name: NETWORK_POLICY}
"""What is read of a recording, by name."""
WORKLOAD_KINDS: Final = ("ReplicationController", "ReplicaSet", "Deployment", "StatefulSet", "DaemonSet", "Job")
