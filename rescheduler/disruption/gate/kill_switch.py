"""The kill switch as it is marked in the cluster itself."""

from __future__ import annotations

from rescheduler.model.objects.annotations import STOP
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy import Policy


def stop_mark(cluster: Cluster, policy: Policy) -> str | None:
    """Why nothing may be evicted: the annotation on the namespace of our own objects; None: it is not there."""
    name = policy.hold.namespace
    for namespace in cluster.namespaces:
        if namespace.name == name and STOP in namespace.annotations:
            reason = printable(namespace.annotations[STOP], 200) or "no reason given"
            return f"{reason} (annotation {STOP} on namespace {name})"
    return None
