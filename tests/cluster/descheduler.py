"""The real kubernetes-sigs/descheduler, as a peer to compare with."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.builds import build
from tests.cluster.go_toolchain import find_go
from tests.cluster.modules import DESCHEDULER


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
