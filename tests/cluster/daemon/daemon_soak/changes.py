"""Changes of a cluster, one at a time, drawn from a seed: what people, controllers and autoscalers do all day."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from typing import Final

from tests.cluster.api import ApiError
from tests.cluster.cluster import Cluster
from tests.cluster.load.metrics_server import RESOURCE_METRICS_PATH
from tests.cluster.plane.kwok import USED_CPU, USED_MEMORY, resource_metrics_path
from tests.cluster.shapes import deployment, node

NODE_CPU: Final = 8
FEWEST_NODES, MOST_NODES = 8, 12
MOST_CORES: Final = 0.95
"""Share of the nodes' cpu that is asked for at most: above it arrivals wait for completions."""
NAMESPACE: Final = "default"


class Changes:
    """Keeps no state but the names it gave; ``counts``: how often each kind of change was made."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.counts: Counter[str] = Counter()
        self._cluster = cluster
        self._random = random.Random(seed)
        self._number = 0
        self._kinds: tuple[tuple[Callable[[], bool], float], ...] = (
            (self.arrive, 5), (self.complete, 2), (self.scale, 2), (self.roll_out, 1),
            (self.add_node, 0.6), (self.remove_node, 0.4), (self.report_antagonists, 0.7),
            (self.ask_by_annotation, 0.3),
        )  # fmt: skip

    def begin(self) -> None:
        """Nodes, and workloads on two thirds of them."""
        for _ in range(FEWEST_NODES + 2):
            self.add_node()
        self._cluster.wait_nodes_ready()
        while self._requested() < 0.66:
            self.arrive()

    def step(self) -> str:
        """Make one change that can be made now; its name."""
        kinds, weights = zip(*self._kinds, strict=True)
        for _ in range(20):
            change = self._random.choices(kinds, weights)[0]
            try:
                if change():
                    name = str(change.__name__)
                    self.counts[name] += 1
                    return name
            except ApiError as error:
                if error.code not in (404, 409):  # somebody else was faster
                    raise
        return "nothing"

    def arrive(self) -> bool:
        """A new workload; now and then one of large pods, which need room made."""
        if self._requested() > MOST_CORES:
            return False
        self._number += 1
        is_large = self._random.random() < 0.3
        cpu = self._random.choice((4, 5)) if is_large else self._random.choice((0.5, 1, 1.5, 2))
        replicas = 1 if is_large else self._random.randint(2, 5)
        used = str(round(cpu * self._random.choice((0.2, 0.6, 1.6)), 2))
        name = f"app-{self._number}"
        self._cluster.create(
            deployment(name, replicas, NAMESPACE, cpu=str(cpu), annotations={USED_CPU: used, USED_MEMORY: "100Mi"})
        )
        return True

    def complete(self) -> bool:
        """A workload ends."""
        name = self._a_workload()
        if name is None:
            return False
        self._cluster.api.delete("deployments", name, NAMESPACE)
        return True

    def scale(self) -> bool:
        """A workload grows or shrinks."""
        name = self._a_workload()
        if name is None:
            return False
        replicas = self._random.randint(1, 5)
        self._cluster.api.patch("deployments", name, {"spec": {"replicas": replicas}}, NAMESPACE)
        return True

    def roll_out(self) -> bool:
        """A workload gets another revision."""
        name = self._a_workload()
        if name is None:
            return False
        template = {"metadata": {"annotations": {"revision": str(self._random.random())}}}
        self._cluster.api.patch("deployments", name, {"spec": {"template": template}}, NAMESPACE)
        return True

    def add_node(self) -> bool:
        """A node comes."""
        if len(self._nodes()) >= MOST_NODES:
            return False
        self._number += 1
        name = f"node-{self._number}"
        annotations = {RESOURCE_METRICS_PATH: resource_metrics_path(name)}
        self._cluster.create(node(name, cpu=str(NODE_CPU), annotations=annotations))
        return True

    def remove_node(self) -> bool:
        """A node goes, with all that runs on it."""
        names = self._nodes()
        if len(names) <= FEWEST_NODES:
            return False
        self._cluster.api.delete("nodes", self._random.choice(names))
        return True

    def report_antagonists(self) -> bool:
        """Somebody finds that the pods of one workload disturb each other."""
        pods = self._cluster.api.list("pods", NAMESPACE)
        shared = Counter((pod["metadata"]["labels"]["app"], pod["spec"].get("nodeName")) for pod in pods)
        apps = sorted({app for (app, host), count in shared.items() if count > 1 and host})
        if not apps:
            return False
        app = self._random.choice(apps)
        for pod in pods:
            if pod["metadata"]["labels"]["app"] == app:
                labels = {"metadata": {"labels": {"rescheduler.dev/antagonists": f"set-{app}"}}}
                self._cluster.api.patch("pods", pod["metadata"]["name"], labels, NAMESPACE)
        return True

    def ask_by_annotation(self) -> bool:
        """Somebody asks for a round by an annotation on the namespace."""
        value = {"metadata": {"annotations": {"rescheduler.dev/reschedule": str(self._random.random())}}}
        self._cluster.api.patch("namespaces", NAMESPACE, value)
        return True

    def _a_workload(self) -> str | None:
        names = sorted(item["metadata"]["name"] for item in self._cluster.api.list("deployments", NAMESPACE))
        return self._random.choice(names) if names else None

    def _nodes(self) -> list[str]:
        return sorted(item["metadata"]["name"] for item in self._cluster.api.list("nodes"))

    def _requested(self) -> float:
        """Share of the nodes' cpu that workloads ask for."""
        asked = 0.0
        for item in self._cluster.api.list("deployments", NAMESPACE):
            container = item["spec"]["template"]["spec"]["containers"][0]
            cpu = container["resources"]["requests"]["cpu"]
            each = float(cpu.removesuffix("m")) / 1000 if cpu.endswith("m") else float(cpu)
            asked += each * item["spec"]["replicas"]
        return asked / (NODE_CPU * max(1, len(self._nodes())))
