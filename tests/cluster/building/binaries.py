"""Where the control plane's binaries are: a folder named by the environment, or the cache, built when missing."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.cluster.building.builds import build
from tests.cluster.building.go_toolchain import BuildError, find_go
from tests.cluster.building.modules import ETCD, KWOK
from tests.cluster.building.versions import wanted_kubernetes

NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok")
ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"


@dataclass(frozen=True)
class Binaries:
    """The path of each binary, by its name, and the Kubernetes version they are of, such as `v1.36.3`."""

    paths: dict[str, Path]
    kubernetes_version: str

    def __getitem__(self, name: str) -> Path:
        return self.paths[name]


def locate() -> Binaries:
    """Return all binaries; without a folder named by KUBEBUILDER_ASSETS, build what the cache lacks."""
    if assets := os.environ.get(ASSETS_VARIABLE):
        return _from_folder(Path(assets))
    go = find_go()
    kubernetes = wanted_kubernetes(go)
    paths: dict[str, Path] = {}
    for module in (ETCD, KWOK, kubernetes):
        folder = build(module, go)
        paths.update({name: folder / name for name in module.tools})
    return Binaries(paths, kubernetes.version)


def _from_folder(folder: Path) -> Binaries:
    """Return the binaries of a ready-made folder, all of which must be there."""
    missing = [name for name in NAMES if not os.access(folder / name, os.X_OK)]
    if missing:
        raise BuildError(
            f"{ASSETS_VARIABLE}={folder}: no executable {', '.join(missing)}; wanted {', '.join(NAMES)}. "
            f"Unset {ASSETS_VARIABLE} to have all of them built."
        )
    answer = subprocess.run([folder / "kube-apiserver", "--version"], capture_output=True, text=True, check=True)
    return Binaries({name: folder / name for name in NAMES}, answer.stdout.split()[-1])
