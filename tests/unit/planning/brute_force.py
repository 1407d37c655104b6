"""An obviously right make-room planner for tiny clusters: every order of every move, with predicates of its own."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class TinyNode:
    """A node with whole cores, a zone and perhaps a taint."""

    cores: int
    zone: str = "a"
    is_tainted: bool = False


@dataclass(frozen=True)
class TinyPod:
    """A pod of one workload; ``node`` None: pending. Rules of its workload bind it."""

    cores: int
    workload: str
    node: int | None = None
    is_movable: bool = True
    priority: int = 0
    tolerates: bool = False
    keeps_apart: bool = False  # anti-affinity by node with its own workload
    spreads: bool = False  # zone spread of its own workload, skew 1


@dataclass(frozen=True)
class TinyCluster:
    """Nodes, pods, workloads whose budget allows nothing, a cap on evictions.

    ``together``: pending pods (positions) that are helped all or none; ``prize``: what helping one pod is worth.
    """

    nodes: tuple[TinyNode, ...]
    pods: tuple[TinyPod, ...]
    frozen: frozenset[str] = frozenset()
    max_evictions: int | None = None
    together: tuple[tuple[int, ...], ...] = ()
    prize: int | None = None

    def importance(self, index: int) -> int:
        """Priority of a pod, or the highest in its group."""
        group = next((group for group in self.together if index in group), (index,))
        return max(self.pods[member].priority for member in group)


State = tuple[int | None, ...]


@dataclass
class BruteForce:
    """Explores all states that moves (each pod at most once) and arrivals can reach."""

    cluster: TinyCluster
    fewest: dict[tuple[int, ...], int] = field(default_factory=dict)

    def best(self) -> tuple[tuple[int, ...], int]:
        """Most helped pods by priority, the highest first, and the fewest evictions for that."""
        start: State = tuple(pod.node for pod in self.cluster.pods)
        frontier: set[tuple[State, frozenset[int]]] = {(start, frozenset())}
        seen = set(frontier)
        while frontier:
            following = set()
            for state, moved in frontier:
                self._note(state, len(moved))
                following |= self._steps(state, moved) - seen
            seen |= following
            frontier = following
        helped = max(self.fewest)
        return helped, self.fewest[helped]

    def most_worth(self) -> tuple[tuple[int, ...], int]:
        """The same where each pod is worth the prize, for pods of one importance."""
        self.best()
        prize = self.cluster.prize
        assert prize is not None
        helped = max(self.fewest, key=lambda vector: (prize * sum(vector) - self.fewest[vector], vector))
        return helped, self.fewest[helped]

    def _steps(self, state: State, moved: frozenset[int]) -> set[tuple[State, frozenset[int]]]:
        found = set()
        cap = self.cluster.max_evictions
        for index, pod in enumerate(self.cluster.pods):
            is_pending = state[index] is None
            can_move = pod.node is not None and pod.is_movable and pod.workload not in self.cluster.frozen
            if not is_pending and (not can_move or index in moved or (cap is not None and len(moved) >= cap)):
                continue
            for node in range(len(self.cluster.nodes)):
                if node != state[index] and self.may_arrive(index, node, state):
                    after = (*state[:index], node, *state[index + 1 :])
                    found.add((after, moved if is_pending else moved | {index}))
        return found

    def may_arrive(self, index: int, node: int, state: State) -> bool:
        """Room, taint, anti-affinity and spread, the pod's own old copy left out."""
        pods, nodes = self.cluster.pods, self.cluster.nodes
        pod = pods[index]
        others = [(pods[i], where) for i, where in enumerate(state) if where is not None and i != index]
        room = nodes[node].cores - sum(other.cores for other, where in others if where == node)
        if pod.cores > room or (nodes[node].is_tainted and not pod.tolerates):
            return False
        own = [where for other, where in others if other.workload == pod.workload]
        if pod.keeps_apart and node in own:
            return False
        if pod.spreads:
            counts = {item.zone: 0 for item in nodes}
            for where in own:
                counts[nodes[where].zone] += 1
            return counts[nodes[node].zone] + 1 - min(counts.values()) <= 1
        return True

    def _note(self, state: State, evictions: int) -> None:
        pending = [i for i, pod in enumerate(self.cluster.pods) if pod.node is None]
        if any(len({state[member] is None for member in group}) > 1 for group in self.cluster.together):
            return  # a group that is helped in part is no plan
        priorities = sorted({self.cluster.importance(i) for i in pending}, reverse=True)
        helped = tuple(
            sum(self.cluster.importance(i) == level and state[i] is not None for i in pending) for level in priorities
        )
        self.fewest[helped] = min(evictions, self.fewest.get(helped, evictions))
