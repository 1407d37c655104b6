"""Commands: `python -m tests.cluster build` makes the binaries, `python -m tests.cluster up` runs a cluster."""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path

from tests.cluster.building.binaries import locate
from tests.cluster.building.descheduler import locate_descheduler
from tests.cluster.building.go_toolchain import BuildError
from tests.cluster.cluster import Cluster
from tests.cluster.karpenter.lab import locate_karpenter
from tests.cluster.load.metrics_server import locate_metrics_server
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.plane.processes import ComponentError


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.cluster", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("build", help="build the binaries into the user's cache, once per machine")
    up = commands.add_parser("up", help="start a cluster and keep it until Ctrl-C")
    up.add_argument("--nodes", type=int, default=4, metavar="N", help="number of pretended nodes (default: 4)")
    up.add_argument("--cpu", default="4", help="CPU of each node (default: 4)")
    up.add_argument("--memory", default="16Gi", help="memory of each node (default: 16Gi)")
    up.add_argument("--root", type=Path, metavar="DIR", help="keep state and logs here (default: a temporary folder)")
    chosen = parser.parse_args(arguments)
    try:
        return _build() if chosen.command == "build" else _up(chosen)
    except (BuildError, ComponentError, TimeoutError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1


def _build() -> int:
    """Build what is missing and say where everything is."""
    for path in (*locate().paths.values(), locate_metrics_server(), locate_descheduler(), locate_karpenter()):
        print(path)
    return 0


def _up(chosen: argparse.Namespace) -> int:
    """Run a cluster until a signal asks for its end."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    plane = None
    try:
        plane = ControlPlane(chosen.root)
        plane.start()
        Cluster(plane).add_nodes(chosen.nodes, cpu=chosen.cpu, memory=chosen.memory)
        _tell(plane, chosen.nodes)
        signal.pause()
    except KeyboardInterrupt:
        print("stopping", file=sys.stderr)
    finally:
        if plane:
            plane.stop()
    return 0


def _interrupt(*_: object) -> None:
    """Unwind the program once; a second signal must not cut the clean end short."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


def _tell(plane: ControlPlane, nodes: int) -> None:
    """Say how to use the cluster."""
    print(f"Kubernetes {plane.version} with {nodes} pretended nodes is ready; logs are in {plane.root / 'logs'}")
    print(f"kubeconfig: {plane.kubeconfig}")
    print(f"try:        rescheduler plan --kubeconfig {plane.kubeconfig}")
    print("Ctrl-C stops it.", flush=True)


if __name__ == "__main__":
    sys.exit(main())
