"""Asks the daemon's REST API with a service account's token."""

from __future__ import annotations

import http.client
import json
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from tests.cluster.cluster import Cluster


class Answer(NamedTuple):
    """Status and document."""

    status: int
    document: Any


def ask(url: str, target: str, token: str, method: str = "GET", body: Any = None) -> Answer:
    """One request; a POST without a body sends an empty document."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=30)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        connection.request(method, target, json.dumps(body or {}) if method == "POST" else None, headers)
        answer = connection.getresponse()
        return Answer(answer.status, json.loads(answer.read()))
    finally:
        connection.close()


def token_of(cluster: Cluster, account: str, namespace: str, audience: str | None = "rescheduler") -> str:
    """A token of ten minutes, the shortest that there is; ``audience`` None: for the API server itself."""
    spec: dict[str, Any] = {"expirationSeconds": 600, **({} if audience is None else {"audiences": [audience]})}
    request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": spec}
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token"
    found: str = cluster.api.request("POST", path, request)["status"]["token"]
    return found


def bind(cluster: Cluster, role: str, account: str, account_namespace: str, *, namespace: str | None = None) -> None:
    """Bind a ClusterRole to a service account, everywhere or in one namespace."""
    kind = "ClusterRoleBinding" if namespace is None else "RoleBinding"
    where = {} if namespace is None else {"namespace": namespace}
    cluster.api.apply(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": kind,
            "metadata": {"name": f"test-{account}", **where},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": account_namespace}],
        }
    )
