"""The real kubernetes-sigs/descheduler, as a peer to compare with."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.building.builds import build
from tests.cluster.building.go_toolchain import find_go
from tests.cluster.building.modules import DESCHEDULER


def locate_descheduler() -> Path:
    """The binary, built if the cache lacks it, which takes minutes."""
    return build(DESCHEDULER, find_go()) / "descheduler"


def descheduler_command(binary: Path, kubeconfig: Path, policy: Path) -> list[str]:
    """One pass over the cluster with a DeschedulerPolicy, without the port on which it would serve its metrics."""
    return [
        str(binary),
        f"--client-connection-kubeconfig={kubeconfig}",
        f"--policy-config-file={policy}",
        "--descheduling-interval=0",
        "--secure-port=0",
        "--disable-metrics",
        "--v=1",
    ]


def as_in_a_pod(command: list[str], authority: Path, token: str) -> list[str]:
    """The same with a service account's files where a pod has them: only so has descheduler a client of Prometheus.

    They stand on a /run of its own, so nothing of this machine is written.
    """
    folder = "/run/secrets/kubernetes.io/serviceaccount"
    files = f'cp "$1" {folder}/ca.crt && printf %s "$2" >{folder}/token'
    script = f'mount -t tmpfs none /run && mkdir -p {folder} && {files} && shift 2 && exec "$@"'
    shell = ["unshare", "--map-root-user", "--mount", "sh", "-ec", script, "sh", str(authority), token]
    return [*shell, "env", "KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=443", *command]
