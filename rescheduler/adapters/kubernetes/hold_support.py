"""Whether placeholders work on a cluster: its version, and what we may do there."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.failures import NotServedError
from rescheduler.adapters.kubernetes.paths import namespace_path
from rescheduler.adapters.kubernetes.rights import Right, may, missing
from rescheduler.extension_points import ClusterError

FIRST_MINOR: Final = 27
"""Scheduling gates are on by default since Kubernetes 1.27."""

NEEDED_FOR_HOLDS: Final = (
    *(Right(verb, "jobs", "batch") for verb in ("create", "get", "list", "patch", "delete")),
    Right("list", "pods"),
    Right("patch", "pods", subresource="status", is_local=False),
)
"""What ``deploy/rbac.yaml`` grants for holds."""


def why_no_holds(connection: Connection, namespace: str) -> str | None:
    """The reason why placeholders cannot be used, None if they can. Raises ClusterError if that cannot be found out."""
    version = msgspec.json.decode(connection.get("/version"))
    minor = re.match(r"\d+", str(version.get("minor", "")))
    if version.get("major") == "1" and minor and int(minor.group()) < FIRST_MINOR:
        return f"Kubernetes {version.get('gitVersion')} has no scheduling gates; 1.{FIRST_MINOR} or newer is needed"
    lacking = [right.text for right in missing(connection, NEEDED_FOR_HOLDS, namespace)]
    if lacking:
        return f"we may not {', '.join(lacking)} (namespace {namespace}); deploy/rbac.yaml grants it"
    if not _exists(connection, namespace) and not may(connection, Right("create", "namespaces", is_local=False), ""):
        return f"there is no namespace {namespace} and we may not make it; deploy/rbac.yaml brings it"
    return None


def _exists(connection: Connection, namespace: str) -> bool:
    try:
        connection.get(namespace_path(namespace))
    except NotServedError:
        return False
    except ClusterError:
        return True  # not ours to read; making placeholders there will tell
    return True
