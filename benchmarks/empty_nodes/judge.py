"""Judges plans that empty nodes of a synthetic cluster: every step, from the cluster alone.

It shares no code with the planner and knows what the families hold: room, zones, pools, replicas that keep apart on
nodes or spread over zones, budgets.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Eligibility

ZONE = "topology.kubernetes.io/zone"
Wave = Sequence[tuple[int, int]]


@dataclass
class EmptyingJudgement:
    """What a plan reaches, and what is wrong with it. ``fewest_waves``: no order keeps the budgets in fewer."""

    emptied: frozenset[int] = frozenset()
    evictions: int = 0
    fewest_waves: int = 0
    faults: list[str] = field(default_factory=list)


def judge_emptying(cluster: Cluster, eligibility: Eligibility, waves: Sequence[Wave]) -> EmptyingJudgement:
    """Replay the waves: in each, pods count at both ends until it is over."""
    replayed = _Replay(cluster)
    verdict = EmptyingJudgement(evictions=sum(map(len, waves)), faults=replayed.faults)
    before = {node for node in replayed.node_of if node is not None}
    movable, moved = set(eligibility.movable), set[int]()
    for number, wave in enumerate(waves, start=1):
        for pod, node in wave:
            if pod in moved or pod not in movable:
                replayed.faults.append(f"pod {pod} moves twice, or must not move")
            moved.add(pod)
            replayed.arrive(pod, node)
        leaving = {pod for pod, _ in wave}
        for group in eligibility.groups:
            if len(leaving.intersection(group.pods)) > group.allowed_per_wave:
                replayed.faults.append(f"wave {number}: more of {group.name} than {group.allowed_per_wave}")
        replayed.settle()
    after = {node for node in replayed.node_of if node is not None}
    verdict.emptied = frozenset(before - after)
    if after - before:
        replayed.faults.append(f"{len(after - before)} nodes that were empty are used")
    verdict.fewest_waves = max(
        (-(-len(moved.intersection(group.pods)) // group.allowed_per_wave) for group in eligibility.groups),
        default=int(bool(moved)),
    )
    return verdict


class _Replay:
    """Room and replicas by node while waves run."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.faults: list[str] = []
        index = {node.name: number for number, node in enumerate(cluster.nodes)}
        self.node_of: list[int | None] = [index[pod.node_name] if pod.node_name else None for pod in cluster.pods]
        self.free = [Counter(dict(node.allocatable)) for node in cluster.nodes]
        self.on_node: Counter[tuple[int, str]] = Counter()
        self.in_zone: dict[str, Counter[str]] = defaultdict(Counter)
        self.leaving: list[tuple[int, int]] = []
        for pod, node in enumerate(self.node_of):
            if node is not None:
                self._hold(pod, node, 1)

    def arrive(self, pod: int, node: int) -> None:
        """Check one arrival and let it happen."""
        subject, origin = self.cluster.pods[pod], self.node_of[pod]
        if origin is None or origin == node:
            self.faults.append(f"{subject.name} is not elsewhere than on its goal")
            return
        if any(asked and self.free[node][name] < asked for name, asked in _amounts(subject).items()):
            self.faults.append(f"{subject.name} finds no room on {self.cluster.nodes[node].name}")
        if not self._is_open(subject, node) or not self._may_join(subject, origin, node):
            self.faults.append(f"{subject.name} may not be on {self.cluster.nodes[node].name}")
        self._hold(pod, node, 1)
        self.node_of[pod] = node
        self.leaving.append((pod, origin))

    def settle(self) -> None:
        """The wave is over."""
        for pod, origin in self.leaving:
            self._hold(pod, origin, -1)
        self.leaving = []

    def _hold(self, pod: int, node: int, sign: int) -> None:
        subject = self.cluster.pods[pod]
        for name, amount in _amounts(subject).items():
            self.free[node][name] -= sign * amount
        self.on_node[node, subject.labels["app"]] += sign
        self.in_zone[subject.labels["app"]][self.cluster.nodes[node].labels[ZONE]] += sign

    def _is_open(self, pod: Pod, node: int) -> bool:
        offered = self.cluster.nodes[node]
        tolerated = {toleration.value for toleration in pod.spec.tolerations}
        return all(offered.labels.get(key) == value for key, value in pod.spec.node_selector) and all(
            taint.value in tolerated for taint in offered.taints
        )

    def _may_join(self, pod: Pod, origin: int, node: int) -> bool:
        app = pod.labels["app"]
        if pod.spec.anti_affinity and self.on_node[node, app] > 0:
            return False
        if pod.spec.topology_spread:
            zones, zone = self.in_zone[app].copy(), self.cluster.nodes[node].labels[ZONE]
            zones[self.cluster.nodes[origin].labels[ZONE]] -= 1
            return zones[zone] + 1 - min(zones[name] for name in "abc") <= 1
        return True


def _amounts(pod: Pod) -> dict[str, int]:
    return {**dict(pod.spec.requests), "pods": 1}
