"""The Go modules from which the control plane is built, one per upstream project."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

GO_FOLDER = Path(__file__).parent / "go"
COMPILE_FLAGS = ("-trimpath", "-buildvcs=false")


@dataclass(frozen=True)
class Module:
    """A Go module whose tools are binaries of the control plane."""

    name: str
    folder: Path
    upstream: str
    tools: dict[str, str]
    """Binary name to Go package."""
    version_variables: tuple[str, ...] = ()
    """Go variables that take the version, such as `v1.36.3`."""

    @property
    def version(self) -> str:
        """The upstream's version that the module file asks for."""
        text = (self.folder / "go.mod").read_text()
        found = re.search(rf"^(?:require )?\s*{re.escape(self.upstream)} (v\S+)", text, re.MULTILINE)
        if not found:
            raise ValueError(f"{self.folder / 'go.mod'}: no version of {self.upstream}")
        return found[1]

    @property
    def link_flags(self) -> str:
        """What the linker is told: no debug tables, and the version stamps."""
        stamps = [f"-X {variable}={self.version}" for variable in self.version_variables]
        if self.name == "kubernetes":
            major, minor, _ = self.version.removeprefix("v").split(".", 2)
            stamps += [
                f"-X k8s.io/component-base/version.{name}={value}"
                for name, value in (("gitMajor", major), ("gitMinor", minor), ("gitTreeState", "clean"))
            ]
        return " ".join(["-s -w", *stamps])

    def fingerprint(self, go: str) -> str:
        """Return a name for the build's outcome: same sources, flags and Go version, same name."""
        parts = [(self.folder / name).read_text() for name in ("go.mod", "go.sum")]
        parts += [go, *COMPILE_FLAGS, self.link_flags, *self.tools.values()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


ETCD = Module("etcd", GO_FOLDER / "etcd", "go.etcd.io/etcd/server/v3", {"etcd": "go.etcd.io/etcd/server/v3"})
KWOK = Module(
    "kwok", GO_FOLDER / "kwok", "sigs.k8s.io/kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"},
    ("sigs.k8s.io/kwok/pkg/consts.Version",),
)  # fmt: skip
METRICS_SERVER = Module(
    "metrics-server", GO_FOLDER / "metrics-server", "sigs.k8s.io/metrics-server",
    {"metrics-server": "sigs.k8s.io/metrics-server/cmd/metrics-server"},
)  # fmt: skip
"""No part of every control plane: built for the tests that need it."""
DESCHEDULER = Module(
    "descheduler", GO_FOLDER / "descheduler", "sigs.k8s.io/descheduler",
    {"descheduler": "sigs.k8s.io/descheduler/cmd/descheduler"},
    ("sigs.k8s.io/descheduler/pkg/version.version",),
)  # fmt: skip
"""A peer to compare with, likewise built only where it is needed."""

KARPENTER = Module(
    "karpenter", GO_FOLDER / "karpenter", "sigs.k8s.io/karpenter", {"karpenter-kwok": "sigs.k8s.io/karpenter/kwok"}
)
"""With its own test cloud; a real autoscaler to stand beside, likewise built only where it is needed."""


def kubernetes(folder: Path = GO_FOLDER / "kubernetes") -> Module:
    """Return the module of the three Kubernetes servers; `folder` holds its go.mod and go.sum."""
    servers = ("kube-apiserver", "kube-controller-manager", "kube-scheduler")
    return Module(
        "kubernetes",
        folder,
        "k8s.io/kubernetes",
        {server: f"k8s.io/kubernetes/cmd/{server}" for server in servers},
        ("k8s.io/component-base/version.gitVersion", "k8s.io/client-go/pkg/version.gitVersion"),
    )
