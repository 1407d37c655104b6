"""The yardstick: one pod against one node at a time, in plain Python, for pods that look at nodes only."""

from __future__ import annotations

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod


class PlainScheduler:
    """Kube-scheduler's filters and scores (1.36) for the pods of the synthetic cluster without ties."""

    def __init__(self, cluster: Cluster) -> None:
        """Add up what is in use."""
        self._nodes = cluster.nodes
        self._offers = [dict(node.allocatable) for node in cluster.nodes]
        self._used = [{"cpu": 0, "memory": 0, "pods": 0} for _ in cluster.nodes]
        index = {node.name: number for number, node in enumerate(cluster.nodes)}
        for pod in cluster.pods:
            if pod.node_name is not None:
                self.hold(pod, index[pod.node_name], 1)

    def hold(self, pod: Pod, node: int, sign: int) -> None:
        """A pod arrives (1) or leaves (-1)."""
        for name, amount in (*pod.spec.requests, ("pods", 1)):
            self._used[node][name] += sign * amount

    def best_nodes(self, pod: Pod) -> list[int]:
        """All feasible nodes that tie for the highest total."""
        best: list[int] = []
        highest = -1
        requests = dict(pod.spec.requests)
        for number, node in enumerate(self._nodes):
            if self._fits(pod, requests, number, node):
                total = self._score(requests, number)
                if total > highest:
                    best, highest = [], total
                if total == highest:
                    best.append(number)
        return best

    def _fits(self, pod: Pod, requests: dict[str, int], number: int, node: Node) -> bool:
        if any(node.labels.get(key) != value for key, value in pod.spec.node_selector):
            return False
        if any(not any(t.key == taint.key and t.value == taint.value for t in pod.spec.tolerations)
               for taint in node.taints):  # fmt: skip
            return False
        offered, used = self._offers[number], self._used[number]
        wanted = {**requests, "pods": 1}
        return all(offered[name] - used[name] >= amount for name, amount in wanted.items())

    def _score(self, requests: dict[str, int], number: int) -> int:
        offered, used = self._offers[number], self._used[number]
        after = {name: used[name] + requests[name] for name in ("cpu", "memory")}
        least = sum((offered[name] - amount) * 100 // offered[name] for name, amount in after.items()) // 2
        gain = 50 + _even(after, offered) - _even(used, offered)
        return least + 50 + gain // 2


def _even(used: dict[str, int], offered: dict[str, int]) -> int:
    cpu, memory = (min(used[name] / offered[name], 1.0) for name in ("cpu", "memory"))
    return int((1 - abs(cpu - memory) / 2) * 100)
