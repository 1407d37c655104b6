"""Where each resource of the Kubernetes API is found."""

from __future__ import annotations

_GROUPS = {
    "v1": (
        "configmaps endpoints events limitranges namespaces nodes persistentvolumeclaims persistentvolumes pods "
        "podtemplates replicationcontrollers resourcequotas secrets serviceaccounts services"
    ),
    "admissionregistration.k8s.io/v1": (
        "mutatingadmissionpolicies mutatingadmissionpolicybindings mutatingwebhookconfigurations "
        "validatingadmissionpolicies validatingadmissionpolicybindings validatingwebhookconfigurations"
    ),
    "apps/v1": "controllerrevisions daemonsets deployments replicasets statefulsets",
    "autoscaling/v2": "horizontalpodautoscalers",
    "batch/v1": "cronjobs jobs",
    "coordination.k8s.io/v1": "leases",
    "networking.k8s.io/v1": "networkpolicies",
    "policy/v1": "poddisruptionbudgets",
    "rbac.authorization.k8s.io/v1": "clusterrolebindings clusterroles rolebindings roles",
    "resource.k8s.io/v1": "deviceclasses resourceclaims resourceclaimtemplates resourceslices",
    "scheduling.k8s.io/v1": "priorityclasses",
    "storage.k8s.io/v1": "csinodes storageclasses",
}

PREFIXES = {
    plural: f"/apis/{version}" if "/" in version else f"/api/{version}"
    for version, plurals in _GROUPS.items()
    for plural in plurals.split()
}
"""Path prefix of each resource known by its short name."""


def resource_path(resource: str, namespace: str | None = None, name: str = "", subresource: str = "") -> str:
    """Return the path of a collection, an object or a subresource.

    `resource` is a plural known above, or `group/version/plural`.
    """
    if resource in PREFIXES:
        prefix, plural = PREFIXES[resource], resource
    elif resource.count("/") in (1, 2):
        version, plural = resource.rsplit("/", 1)
        prefix = f"/apis/{version}" if "/" in version else f"/api/{version}"
    else:
        raise ValueError(f'no resource "{resource}" known by this name; write it as group/version/plural')
    inside = f"/namespaces/{namespace}" if namespace else ""
    return "/".join(part for part in (f"{prefix}{inside}/{plural}", name, subresource) if part)
