"""Makes the same cluster again for each contender: pods stand where the stock scheduler put them the first time."""

from __future__ import annotations

from typing import Any, TypeAlias

import yaml

from benchmarks.side_by_side.scenes import Scene
from benchmarks.side_by_side.settling import settle
from benchmarks.side_by_side.state import NAMESPACE
from tests.cluster.api import Manifest
from tests.cluster.cluster import Cluster
from tests.cluster.plane.clean_slate import CleanSlate
from tests.cluster.plane.control_plane import ControlPlane
from tests.cluster.resources import resource_path
from tests.cluster.waiting import wait_until

SCHEDULER, KUBELETS = "kube-scheduler", "kwok"

Picture: TypeAlias = dict[str, list[str]]
"""Nodes of each workload's pods in order of the pods' names, by the label ``app``."""


class Stage:
    """One control plane, on which scenes are set one after another."""

    def __init__(self, plane: ControlPlane) -> None:
        self.cluster = Cluster(plane)
        self._plane = plane
        self._slate = CleanSlate(plane.api)
        self._configuration = plane.root / f"{SCHEDULER}.yaml"
        self._stock = self._configuration.read_text()

    def first(self, scene: Scene) -> Picture:
        """Clear the stage, let the stock scheduler place the standing pods, and return where it put them."""
        self._clear()
        self._schedule_with({})
        self._add_nodes(scene.nodes)
        self.cluster.create(*scene.standing)
        settle(self.cluster.api)
        return self._picture()

    def again(self, scene: Scene, picture: Picture, scheduler: dict[str, Any]) -> None:
        """Set the scene with its standing pods where the picture has them; ``scheduler`` is its configuration."""
        self._clear()
        self._plane.kill(SCHEDULER)
        self._add_nodes(scene.nodes)
        self.cluster.create(*scene.standing)
        for app, nodes in picture.items():
            self._bind(app, nodes)
        self._schedule_with(scheduler)
        settle(self.cluster.api)
        if self._picture() != picture:
            raise RuntimeError("the pods do not stand where they stood before")
        self._add_nodes(scene.new_nodes)
        self.cluster.create(*scene.waiting)
        settle(self.cluster.api)

    def _clear(self) -> None:
        """Remove everything; kwok starts anew, as it stops renewing leases of nodes that come back by their name."""
        self._plane.settle()
        self._slate.restore()
        self._plane.restart(KUBELETS)

    def _add_nodes(self, nodes: tuple[Manifest, ...]) -> None:
        self.cluster.create(*nodes)
        self.cluster.wait_nodes_ready([node["metadata"]["name"] for node in nodes])

    def _bind(self, app: str, nodes: list[str]) -> None:
        """Put the pods of a workload on these nodes, as the scheduler would; it is not running."""
        names: list[str] = []

        def are_there() -> bool:
            names[:] = sorted(
                pod["metadata"]["name"] for pod in self.cluster.api.list("pods", NAMESPACE, labels=f"app={app}")
            )
            return len(names) == len(nodes)

        wait_until(are_there, f"{len(nodes)} pods of {app}")
        for name, node in zip(names, nodes, strict=True):
            body = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name, "namespace": NAMESPACE},
                    "target": {"apiVersion": "v1", "kind": "Node", "name": node}}  # fmt: skip
            self.cluster.api.request("POST", resource_path("pods", NAMESPACE, name, "binding"), body)

    def _picture(self) -> Picture:
        """Where the pods of each workload are, but for the DaemonSets', which go everywhere."""
        found: Picture = {}
        for pod in sorted(self.cluster.api.list("pods", NAMESPACE), key=lambda pod: str(pod["metadata"]["name"])):
            if any(owner["kind"] != "DaemonSet" for owner in pod["metadata"]["ownerReferences"]):
                found.setdefault(pod["metadata"]["labels"]["app"], []).append(pod["spec"].get("nodeName", ""))
        return found

    def _schedule_with(self, configuration: dict[str, Any]) -> None:
        """Restart the scheduler, so that nothing it remembers goes on to the next contender."""
        self._plane.kill(SCHEDULER)
        self._configuration.write_text(yaml.safe_dump({**yaml.safe_load(self._stock), **configuration}))
        self._plane.restart(SCHEDULER)
