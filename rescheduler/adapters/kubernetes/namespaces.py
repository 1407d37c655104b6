"""The one namespace that we write in, made where it is missing."""

from __future__ import annotations

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.failures import NotServedError, refusal
from rescheduler.adapters.kubernetes.paths import namespace_path
from rescheduler.model.annotations import MANAGED_BY, OURS


def ensure_namespace(connection: Connection, name: str) -> None:
    """Make a namespace if it is missing: ``deploy/rbac.yaml`` brings it, a first try does not. Raises ClusterError."""
    try:
        connection.get(namespace_path(name))
    except NotServedError:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {MANAGED_BY: OURS}}}
        answer = connection.send("POST", namespace_path(), body)
        if answer.status >= 300 and answer.status != 409:
            raise refusal(connection.server, "", "POST", namespace_path(), answer.status, answer.body) from None
