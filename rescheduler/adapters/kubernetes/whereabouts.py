"""Which cluster a command is about to act on, where a kubeconfig names several of them and nobody said which."""

from __future__ import annotations

import os
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from rescheduler.model.printable import shortened


class Whereabouts(NamedTuple):
    """A context of a kubeconfig, the cluster it leads to, and how many contexts it was taken from."""

    context: str
    cluster: str
    contexts: int

    @property
    def text(self) -> str:
        """For people."""
        return f"context {shortened(self.context)} (cluster {shortened(self.cluster)})"


def whereabouts(kubeconfig: str | None) -> Whereabouts | None:
    """The current context of the kubeconfig, as kubectl finds it; None without a usable one, in a pod for example."""
    location = kubeconfig or os.environ.get("KUBECONFIG") or "~/.kube/config"
    if not any(Path(part).expanduser().exists() for part in location.split(os.pathsep) if part):
        return None
    library = import_module("kubernetes.config")
    try:
        contexts, current = library.list_kube_config_contexts(location)
    except (library.ConfigException, OSError, KeyError, TypeError, AttributeError, ValueError):
        return None
    if not current:
        return None
    return Whereabouts(str(current["name"]), str(current["context"].get("cluster", "")), len(contexts))
