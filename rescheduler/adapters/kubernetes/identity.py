"""Which cluster this is, whatever address it has today, and which pod of it this process, if it is one."""

from __future__ import annotations

import os
import socket
from importlib import import_module
from pathlib import Path
from typing import Any, Final, NamedTuple

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.credentials import kubeconfig_location
from rescheduler.adapters.kubernetes.client.decoded_answers import NamedObject, decoded
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, NotServedError
from rescheduler.adapters.kubernetes.client.paths import namespace_path
from rescheduler.extension_points import ClusterError
from rescheduler.model.plan.disruption import OwnIdentity
from rescheduler.model.printable import shortened

# Which cluster a command is about to act on, where a kubeconfig names several of them and nobody said which.


class KubeconfigContext(NamedTuple):
    """A context of a kubeconfig, the cluster it leads to, and how many contexts it was taken from."""

    context: str
    cluster: str
    contexts: int

    @property
    def text(self) -> str:
        """For people."""
        return f"context {shortened(self.context)} (cluster {shortened(self.cluster)})"


def current_context(kubeconfig: str | None) -> KubeconfigContext | None:
    """The current context of the kubeconfig, as kubectl finds it; None without a usable one, in a pod for example."""
    location = kubeconfig_location(kubeconfig)
    if not any(Path(part).expanduser().exists() for part in location.split(os.pathsep) if part):
        return None
    try:
        contexts, current = _contexts(location)
    except ClusterError:
        return None
    if not current:
        return None
    return KubeconfigContext(str(current["name"]), str(current["context"].get("cluster", "")), len(contexts))


def context_names(kubeconfig: str | None) -> tuple[str, ...]:
    """All contexts of the kubeconfig, sorted. Raises ClusterError where there is none that can be read."""
    contexts, _ = _contexts(kubeconfig_location(kubeconfig))
    return tuple(sorted(str(one["name"]) for one in contexts))


def _contexts(location: str) -> tuple[list[Any], Any]:
    """All contexts, and the current one. Raises ClusterError."""
    library = import_module("kubernetes.config")
    try:
        contexts, current = library.list_kube_config_contexts(location)
    except (library.ConfigException, OSError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise ClusterError(f"{shortened(location)}: no kubeconfig that can be read: {error}") from error
    return contexts, current


LASTING_NAMESPACE: Final = "kube-system"
"""Every cluster has it from the first moment to the last, so its uid serves as the cluster's."""


def cluster_identity(connection: Connection) -> str:
    """The uid of the namespace kube-system; the server's address where we may not look. Raises ClusterError."""
    path = namespace_path(LASTING_NAMESPACE)
    try:
        body = connection.get(path)
    except (ForbiddenError, NotServedError):
        return connection.server
    return decoded(connection, f"GET {path}", body, NamedObject).metadata.uid or connection.server


NAMESPACE_FILE: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount/namespace")
"""The kubelet writes it into every pod that has a service account's token."""


def own_identity(namespace_file: Path = NAMESPACE_FILE) -> OwnIdentity:
    """The namespace of the pod that this process is, and its name, which is that of the machine; else the defaults."""
    try:
        namespace = namespace_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return OwnIdentity()
    return OwnIdentity(namespace, socket.gethostname().partition(".")[0]) if namespace else OwnIdentity()
