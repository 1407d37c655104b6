"""Which cluster this is, whatever address it has today."""

from __future__ import annotations

from typing import Final

import msgspec

from rescheduler.adapters.kubernetes.connection import Connection
from rescheduler.adapters.kubernetes.failures import ForbiddenError, NotServedError
from rescheduler.adapters.kubernetes.paths import namespace_path

LASTING_NAMESPACE: Final = "kube-system"
"""Every cluster has it from the first moment to the last, so its uid serves as the cluster's."""


def cluster_identity(connection: Connection) -> str:
    """The uid of the namespace kube-system; the server's address where we may not look. Raises ClusterError."""
    try:
        found = msgspec.json.decode(connection.get(namespace_path(LASTING_NAMESPACE)))
    except (ForbiddenError, NotServedError, msgspec.DecodeError):
        return connection.server
    return str(found.get("metadata", {}).get("uid") or connection.server)
