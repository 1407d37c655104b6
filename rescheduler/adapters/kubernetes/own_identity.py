"""Where this process runs, when it is a pod itself."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Final

from rescheduler.model.plan.disruption import OwnIdentity

NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""The kubelet writes it into every pod that has a service account's token."""


def own_identity(namespace_file: Path = NAMESPACE_FILE) -> OwnIdentity:
    """The namespace of the pod that this process is, and its name, which is that of the machine; else the defaults."""
    try:
        namespace = namespace_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return OwnIdentity()
    return OwnIdentity(namespace, socket.gethostname().partition(".")[0]) if namespace else OwnIdentity()
