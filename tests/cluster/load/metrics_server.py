"""A real metrics-server beside the control plane, registered as the cluster's resource metrics API."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.building.builds import build
from tests.cluster.building.go_toolchain import find_go
from tests.cluster.building.modules import METRICS_SERVER
from tests.cluster.plane.certificates import Authority
from tests.cluster.plane.control_plane import ADMINISTRATORS, ControlPlane
from tests.cluster.plane.ports import free_port
from tests.cluster.plane.processes import Component
from tests.cluster.plane.readiness import healthy

RESOURCE_METRICS_PATH = "metrics.k8s.io/resource-metrics-path"
"""Annotation of a node: where its kubelet serves its resource metrics."""
GROUP = "metrics.k8s.io"


def locate_metrics_server() -> Path:
    """The binary, built if the cache lacks it, which takes minutes."""
    return build(METRICS_SERVER, find_go()) / "metrics-server"


@contextmanager
def metrics_server(plane: ControlPlane) -> Iterator[Component]:
    """Run metrics-server until the block ends; it scrapes the kubelets that kwok plays, every ten seconds."""
    binary = locate_metrics_server()
    kubeconfig = plane.user_kubeconfig("metrics-server", (ADMINISTRATORS,))
    folder, port = plane.root / "metrics-server", free_port()
    authority = Authority("metrics-server-ca", folder)
    identity = authority.serving("metrics-server")
    command = [
        str(binary),
        *(f"--{flag}={kubeconfig}" for flag in ("kubeconfig", "authentication-kubeconfig", "authorization-kubeconfig")),
        "--bind-address=127.0.0.1",
        f"--secure-port={port}",
        f"--tls-cert-file={identity.certificate}",
        f"--tls-private-key-file={identity.key}",
        "--deprecated-kubelet-completely-insecure=true",  # kwok speaks plain HTTP
        "--kubelet-preferred-address-types=InternalIP",
        f"--kubelet-port={plane.kubelet_port}",
        "--metric-resolution=10s",
        "--kubelet-request-timeout=5s",
    ]
    ready = healthy(f"https://127.0.0.1:{port}/livez", authority.certificate)
    server = Component("metrics-server", command, folder / "metrics-server.log", ready)
    server.start()
    try:
        with registered_metrics(plane, port):
            yield server
    finally:
        server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def registered_metrics(plane: ControlPlane, port: int) -> Iterator[None]:
    """Let the API server pass the group on until the block ends, however it does."""
    try:
        _register(plane, port)
        yield
    finally:
        plane.api.delete("apiregistration.k8s.io/v1/apiservices", f"v1beta1.{GROUP}")
        plane.api.delete("services", "metrics-server", "kube-system")


def _register(plane: ControlPlane, port: int) -> None:
    """Only a Service of an external name may lead to loopback."""
    plane.api.create(
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "metrics-server", "namespace": "kube-system"},
            "spec": {"type": "ExternalName", "externalName": "localhost", "ports": [{"port": port}]},
        }
    )
    plane.api.create(
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": f"v1beta1.{GROUP}"},
            "spec": {
                "group": GROUP,
                "version": "v1beta1",
                "service": {"name": "metrics-server", "namespace": "kube-system", "port": port},
                "insecureSkipTLSVerify": True,
                "groupPriorityMinimum": 100,
                "versionPriority": 100,
            },
        }
    )
