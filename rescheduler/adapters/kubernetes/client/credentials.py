"""Where the API server is and how to prove who we are: kubeconfig, or the service account of the pod we run in."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import yaml

from rescheduler.adapters.kubernetes.client.transport_failures import telling_vain_connects
from rescheduler.extension_points import ClusterError
from rescheduler.model.printable import shortened

MOST_CONNECTIONS: Final = 64
"""How many are kept for the next request; each watch needs one as long as it lasts."""
_UNREADABLE = (yaml.YAMLError, OSError, KeyError, TypeError, AttributeError, ValueError, IndexError)


@dataclass(frozen=True)
class Endpoint:
    """An API server and the official client's transport to it (TLS, proxy, client certificates).

    ``name`` is what people call it: the context, or the server's address inside a pod.
    """

    server: str
    name: str
    configuration: Any
    pool: Any

    def authorization(self) -> str | None:
        """The Authorization header, refreshed by the official client where it knows how; never shown to anybody."""
        value: str | None = self.configuration.get_api_key_with_prefix("authorization", alias="BearerToken")
        return value


def load_endpoint(kubeconfig: str | None, context: str | None) -> Endpoint:
    """Read the kubeconfig (as kubectl finds it) or the pod's service account. Raises ClusterError.

    The official client is imported here, because that takes a second.
    """
    library, rest = import_module("kubernetes"), import_module("kubernetes.client.rest")
    configuration = library.client.Configuration(host="")
    try:
        name = _configure(configuration, kubeconfig, context)
    except library.config.ConfigException as error:
        # The client's message may go on with a whole user entry, token and all.
        reason = shortened(str(error).split("{")[0], 300)
        raise ClusterError(f"kubeconfig {kubeconfig_location(kubeconfig)}: {reason}") from error
    except _UNREADABLE as error:
        reason = shortened(f"{type(error).__name__}: {error}".split("{")[0], 300)
        raise ClusterError(f"{kubeconfig_location(kubeconfig)} cannot be used as a kubeconfig ({reason})") from error
    if not configuration.host:
        raise ClusterError(
            f"kubeconfig {kubeconfig_location(kubeconfig)}: the cluster of context {name!r} names no server"
        )
    try:
        configuration.connection_pool_maxsize = MOST_CONNECTIONS
        pool = telling_vain_connects(rest.RESTClientObject(configuration).pool_manager)
    except _UNREADABLE as error:
        reason = shortened(str(error), 300)
        raise ClusterError(f"context {name!r}: its certificates or proxy cannot be used: {reason}") from error
    return Endpoint(configuration.host, name, configuration, pool)


def _configure(configuration: Any, kubeconfig: str | None, context: str | None) -> str:
    """Fill the client's configuration; the answer is the context's name."""
    library = import_module("kubernetes.config")
    location = kubeconfig_location(kubeconfig)
    if any(Path(part).expanduser().exists() for part in location.split(os.pathsep) if part):
        chosen = _context(location, context)
        library.load_kube_config(location, context=chosen, client_configuration=configuration, persist_config=False)
        return chosen
    if kubeconfig is None and context is None and os.environ.get("KUBERNETES_SERVICE_HOST"):
        library.load_incluster_config(client_configuration=configuration)
        return str(configuration.host)
    raise ClusterError(
        f"no cluster to talk to: there is no kubeconfig at {shortened(location)}; name one with --kubeconfig or the "
        "variable KUBECONFIG; commands that only look also read a recording, as plan -f FILE does"
    )


def kubeconfig_location(kubeconfig: str | None) -> str:
    """As kubectl: the option, else KUBECONFIG (may list several files), else ``~/.kube/config``."""
    return kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"


def _context(location: str, wanted: str | None) -> str:
    merged = import_module("kubernetes.config.kube_config").KubeConfigMerger(location).config
    content = getattr(merged, "value", None)
    if not isinstance(content, dict):
        raise ClusterError(f"kubeconfig {shortened(location)} is empty or no mapping; kubectl config view shows one")
    names = sorted(str(entry.value["name"]) for entry in content["contexts"])
    choices = ", ".join(shortened(name) for name in names) or "none at all"
    if wanted is None and not content.get("current-context"):
        raise ClusterError(
            f"kubeconfig {shortened(location)} sets no current-context; choose one with --context: {choices}"
        )
    chosen = wanted if wanted is not None else str(content["current-context"])
    if chosen not in names:
        raise ClusterError(f"kubeconfig {shortened(location)}: no context {chosen!r}; there are: {choices}")
    return chosen
