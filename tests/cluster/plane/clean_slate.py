"""Brings the cluster back to how it was when it started, quickly enough to do it around every test."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from tests.cluster.api import Api, ApiError, Manifest
from tests.cluster.resources import resource_path
from tests.cluster.waiting import wait_until

# What makes pods comes before the pods, and nodes after them.
# fmt: off
SWEPT = (
    "cronjobs", "jobs", "deployments", "statefulsets", "daemonsets", "replicationcontrollers", "replicasets",
    "horizontalpodautoscalers", "poddisruptionbudgets", "pods", "podtemplates", "controllerrevisions", "resourcequotas",
    "limitranges", "networkpolicies", "services", "endpoints", "configmaps", "secrets", "persistentvolumeclaims",
    "persistentvolumes", "storageclasses", "csinodes", "resourceclaims", "resourceclaimtemplates", "resourceslices",
    "deviceclasses", "nodes", "leases", "priorityclasses", "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings",
    "mutatingwebhookconfigurations", "validatingwebhookconfigurations", "rolebindings", "roles", "clusterrolebindings",
    "clusterroles",
    "serviceaccounts", "namespaces",
)
# fmt: on

SYSTEM_NAMESPACES = ("default", "kube-system", "kube-public", "kube-node-lease")
MADE_BY_CONTROLLERS = {("configmaps", "kube-root-ca.crt"), ("serviceaccounts", "default"), ("services", "kubernetes")}
"""Objects that appear by themselves in every namespace, or (the service) in the first one."""
KEPT_IN_KUBE_SYSTEM = ("configmaps", "secrets", "serviceaccounts", "roles", "rolebindings")
"""What controllers make in kube-system when they first need it, and rely on from then on."""
READ_ONCE = "rescheduler-guide"
"""An admission policy with parameters: once the last one is deleted, an API server sees no parameters of a new one
until it is started again (1.36.3). So it stays between two tests, and gates nothing."""
OWN_LEASES = "apiserver-"
"""How the names of the API server's own leases begin: each restart makes one."""

CROWD = 20

Key = tuple[str, str, str]


class CleanSlate:
    """Remembers what the cluster holds by itself, and removes everything else."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._kept: set[Key] = set()
        with ThreadPoolExecutor(8) as pool:
            for resource, items in pool.map(self._list, SWEPT):
                self._kept.update(_key(resource, item) for item in items)

    def restore(self, *, timeout_seconds: float = 60.0) -> None:
        """Delete what tests have made, until nothing is left; raises where something stays."""
        left: list[Key] = []

        def is_clean() -> bool:
            left[:] = self._sweep()
            return not left

        wait_until(is_clean, lambda: f"a clean cluster; left are {left[:20]}", timeout_seconds=timeout_seconds)
        for namespace in ("default", "kube-system"):
            self._api.request("DELETE", f"/api/v1/namespaces/{namespace}/events")

    def _sweep(self) -> list[Key]:
        """Delete everything that is not kept, and return what there was."""
        with ThreadPoolExecutor(8) as pool:
            found = [
                (resource, item)
                for resource, items in pool.map(self._list, SWEPT)
                for item in items
                if not self._is_kept(resource, item)
            ]
            crowds = _crowded_namespaces(found)
            for resource in SWEPT:
                if resource == "pods":
                    list(pool.map(self._delete_pods, crowds))
                singly = [pair for pair in found if pair[0] == resource and not _is_in_crowd(*pair, crowds)]
                list(pool.map(lambda pair: self._delete(*pair), singly))
        return [_key(resource, item) for resource, item in found]

    def _list(self, resource: str) -> tuple[str, list[Manifest]]:
        """List a resource in all namespaces; one that this Kubernetes does not know has no objects."""
        try:
            return resource, self._api.list(resource)
        except ApiError as error:
            if error.code == 404:
                return resource, []
            raise

    def _is_kept(self, resource: str, item: Manifest) -> bool:
        """Whether an object was there from the start or is made by the control plane itself."""
        _, namespace, name = key = _key(resource, item)
        if resource == "namespaces":
            return name in SYSTEM_NAMESPACES
        if namespace == "kube-system" and resource in KEPT_IN_KUBE_SYSTEM:
            return True
        if resource == "leases" and name.startswith(OWN_LEASES):
            return True
        if resource.startswith("mutatingadmissionpolic") and name == READ_ONCE:
            return True
        return (resource, name) in MADE_BY_CONTROLLERS or key in self._kept

    def _delete(self, resource: str, item: Manifest) -> None:
        """Delete an object at once, whatever holds it back."""
        name, namespace = item["metadata"]["name"], item["metadata"].get("namespace")
        try:
            if item["metadata"].get("finalizers"):
                self._api.patch(resource, name, {"metadata": {"finalizers": None}}, namespace)
            self._api.delete(resource, name, namespace, grace_seconds=0)
            if resource == "namespaces":
                self._finish_namespace(item)
        except ApiError as error:
            if error.code not in (404, 409):
                raise

    def _delete_pods(self, namespace: str) -> None:
        """Delete all pods of a namespace by one request."""
        path = resource_path("pods", namespace)
        self._api.request("DELETE", path, {"gracePeriodSeconds": 0, "propagationPolicy": "Background"})

    def _finish_namespace(self, item: Manifest) -> None:
        """Let an emptied namespace go now; its controller would wait some seconds first."""
        body = {**item, "apiVersion": "v1", "kind": "Namespace", "spec": {"finalizers": []}}
        body["metadata"] = {"name": item["metadata"]["name"]}
        self._api.request("PUT", f"/api/v1/namespaces/{item['metadata']['name']}/finalize", body)


def _key(resource: str, item: Manifest) -> Key:
    """Return what an object is known by."""
    return resource, item["metadata"].get("namespace", ""), item["metadata"]["name"]


def _crowded_namespaces(found: Iterable[tuple[str, Manifest]]) -> list[str]:
    """Return the namespaces with so many pods that one request for all beats one for each."""
    pods = Counter(item["metadata"]["namespace"] for resource, item in found if resource == "pods")
    return [namespace for namespace, count in pods.items() if count > CROWD]


def _is_in_crowd(resource: str, item: Manifest, crowds: list[str]) -> bool:
    """Whether a pod goes by one request with its whole namespace; finalizers have to be taken off one by one."""
    metadata = item["metadata"]
    return resource == "pods" and metadata["namespace"] in crowds and not metadata.get("finalizers")
