"""Kubeconfig files: written for a client certificate or a token, and read back by the tests' own client."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.plane.certificates import Identity


@dataclass(frozen=True)
class Access:
    """What a client needs to reach the API server."""

    server: str
    authority: Path
    identity: Identity | None = None
    token: str | None = None


def write_kubeconfig(path: Path, access: Access, *, namespace: str = "default") -> Path:
    """Write a kubeconfig with one cluster, one user and one context; certificates stay in their files."""
    user: dict[str, Any] = {}
    if access.identity:
        user["client-certificate"] = str(access.identity.certificate)
        user["client-key"] = str(access.identity.key)
    if access.token:
        user["token"] = access.token
    cluster = {"server": access.server, "certificate-authority": str(access.authority)}
    context = {"cluster": "rescheduler-test", "user": path.stem, "namespace": namespace}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "rescheduler-test", "cluster": cluster}],
        "users": [{"name": path.stem, "user": user}],
        "contexts": [{"name": "rescheduler-test", "context": context}],
        "current-context": "rescheduler-test",
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


def read_kubeconfig(path: Path) -> Access:
    """Read a kubeconfig of the shape written above."""
    document = yaml.safe_load(path.read_text())
    cluster = document["clusters"][0]["cluster"]
    user = document["users"][0]["user"]
    identity = None
    if "client-certificate" in user:
        identity = Identity(Path(user["client-certificate"]), Path(user["client-key"]))
    return Access(cluster["server"], Path(cluster["certificate-authority"]), identity, user.get("token"))
