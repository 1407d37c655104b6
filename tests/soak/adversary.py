"""A planner that means harm: plans of the right form with moves that must never be carried out, and many that may."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from random import Random

from msgspec import structs

from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import (
    Move,
    ObjectiveResult,
    Plan,
    PlannedPlacement,
    PodReference,
    SnapshotSummary,
    Status,
)
from tests.soak.world.scenery import NODE_MILLICORES

OBJECTIVES = ("SchedulerScore", "SpreadLoad", "Defragment", "MakeRoom", "EmptyNodes")
SHARES = (60, 20, 10, 5, 5)
BY_LOAD = (20, 60, 10, 5, 5)
"""Where load is measured."""
RESULTS = tuple(ObjectiveResult(name, Status.FEASIBLE, 1.0, 1.0, 0.0, "of nothing", 0.0) for name in OBJECTIVES)


class Adversary:
    """Draws plans from a seed. ``malice``: share of plans that hold moves which no rule allows.

    ``shares``: how often each of ``OBJECTIVES`` is named.
    """

    def __init__(self, random: Random, malice: float, shares: Sequence[int] = SHARES) -> None:
        self._random = random
        self._shares = shares
        self._malice = malice
        self._seen: list[Move] = []
        self._kinds: tuple[Callable[[Cluster], list[Move]], ...] = (
            self._same_workload, self._wrong_uid, self._wrong_origin, self._gone_destination, self._unfitting,
            self._protected, self._again, self._back, self._wave_of_all, self._everything_here,
        )  # fmt: skip

    def plan(self, cluster: Cluster, ledger: Ledger) -> Plan:
        """One plan. Looks at the ledger only to find pods that were moved before."""
        random = self._random
        moves: list[Move] = []
        if random.random() < self._malice:
            for _ in range(random.choice((1, 1, 2))):
                moves += random.choice(self._kinds)(cluster)
        if not moves or random.random() < 0.5:
            moves += self._plausible(cluster, random.choice((1, 1, 1, 2, 3, 6)))
        random.shuffle(moves)
        moves = self._in_waves(moves[: random.choice((2, 5, 20, 100))])
        self._seen = [*self._seen, *moves][-40:]
        taken = datetime.fromtimestamp(int(cluster.taken_at), UTC).isoformat().replace("+00:00", "Z")
        pending = cluster.pending_pods
        placements = self._placements(pending) if pending and random.random() < 0.15 else ()
        summary = SnapshotSummary(taken, len(cluster.nodes), len(cluster.pods), len(pending), cluster.source)
        return Plan(summary, RESULTS, moves=tuple(moves), placements=placements)

    def _in_waves(self, moves: list[Move]) -> list[Move]:
        """Mostly one wave, or one move a wave; a pod is named once, as a plan's form asks (mostly)."""
        style = self._random.choice(("one", "each", "some"))
        unique = {move.pod: move for move in moves} if self._random.random() < 0.95 else dict(enumerate(moves))
        found = []
        for number, move in enumerate(unique.values(), 1):
            wave = {"one": 1, "each": number, "some": (number + 1) // 2}[style]
            found.append(structs.replace(move, wave=wave))
        return found

    def _placements(self, pending: tuple[Pod, ...]) -> tuple[PlannedPlacement, ...]:
        pod = self._random.choice(pending)
        reference = PodReference(pod.namespace, pod.name, pod.uid)
        return (PlannedPlacement(reference, f"n{self._random.randint(0, 5):02}", self._random.choice((0, 1))),)

    def _move(self, pod: Pod, node: str, *, uid: str | None = None, origin: str | None = None) -> Move:
        reference = PodReference(pod.namespace, pod.name, pod.uid if uid is None else uid)
        from_node = origin or pod.node_name or "nowhere"
        objective = self._random.choices(OBJECTIVES, self._shares)[0]
        return Move(reference, from_node, node, 1, objective, "because it can be asked for")

    def _running(self, cluster: Cluster) -> list[Pod]:
        return [pod for pod in cluster.pods if pod.node_name and not pod.is_finished and not pod.is_terminating]

    def _plausible(self, cluster: Cluster, number: int) -> list[Move]:
        """Ready pods of workloads with several replicas to nodes that have room by requests."""
        free = {node.name: NODE_MILLICORES for node in cluster.nodes if node.is_ready and not node.taints}
        for pod in cluster.pods:
            if pod.node_name in free and not pod.is_finished:
                free[pod.node_name] -= dict(pod.spec.requests).get("cpu", 0)
        pods = [
            pod for pod in self._running(cluster)
            if pod.is_ready and pod.controller is not None and pod.controller.kind in ("ReplicaSet", "StatefulSet")
            and pod.namespace != "kube-system" and not pod.volumes
        ]  # fmt: skip
        self._random.shuffle(pods)
        moves: list[Move] = []
        for pod in pods:
            size = dict(pod.spec.requests).get("cpu", 0)
            fitting = [node for node, room in free.items() if room >= size and node != pod.node_name]
            if fitting and len(moves) < number:
                # Mostly where a scheduler likes it best: the emptiest.
                best = max(fitting, key=lambda node: free[node])
                node = best if self._random.random() < 0.7 else self._random.choice(fitting)
                free[node] -= size
                moves.append(self._move(pod, node))
        return moves

    def _destination(self, cluster: Cluster) -> str:
        return self._random.choice(cluster.nodes).name if cluster.nodes else "nowhere"

    def _some(self, cluster: Cluster) -> list[Pod]:
        pods = self._running(cluster)
        return [self._random.choice(pods)] if pods else []

    def _same_workload(self, cluster: Cluster) -> list[Move]:
        """Every pod of one workload."""
        chosen = self._some(cluster)
        owner = chosen[0].controller if chosen else None
        return [
            self._move(pod, self._destination(cluster))
            for pod in self._running(cluster)
            if owner is not None and pod.controller == owner
        ]

    def _wrong_uid(self, cluster: Cluster) -> list[Move]:
        uid = self._random.choice(("", "another"))
        return [self._move(pod, self._destination(cluster), uid=uid) for pod in self._some(cluster)]

    def _wrong_origin(self, cluster: Cluster) -> list[Move]:
        origin = self._destination(cluster)
        return [self._move(pod, self._destination(cluster), origin=origin) for pod in self._some(cluster)]

    def _gone_destination(self, cluster: Cluster) -> list[Move]:
        return [self._move(pod, "a-node-that-is-not") for pod in self._some(cluster)]

    def _unfitting(self, cluster: Cluster) -> list[Move]:
        """Many pods to one node."""
        node = self._destination(cluster)
        pods = self._running(cluster)
        return [self._move(pod, node) for pod in self._random.sample(pods, min(8, len(pods)))]

    def _protected(self, cluster: Cluster) -> list[Move]:
        """Pods that nobody may move."""
        pods = [
            pod for pod in cluster.pods
            if pod.namespace == "kube-system" or pod.annotations or pod.volumes or pod.controller is None
            or pod.controller.kind in ("Job", "DaemonSet") or pod.spec.priority > 1000 or pod.is_terminating
            or not pod.is_ready or pod.node_name is None or pod.controller.group is not None
            or pod.namespace.startswith(("kube-", "rescheduler-")) or pod.name.startswith("forged")
        ]  # fmt: skip
        chosen = self._random.sample(pods, min(3, len(pods)))
        return [self._move(pod, self._destination(cluster)) for pod in chosen]

    def _again(self, cluster: Cluster) -> list[Move]:
        """Moves that were asked for before, as they were."""
        return self._random.sample(self._seen, min(3, len(self._seen)))

    def _back(self, cluster: Cluster) -> list[Move]:
        """To and fro: what landed somewhere goes back to where it came from."""
        origins = {move.from_node for move in self._seen[-10:]}
        targets = {move.to_node for move in self._seen[-10:]}
        return [
            self._move(pod, self._random.choice(sorted(origins)))
            for pod in self._running(cluster)
            if pod.node_name in targets and origins
        ][:5]

    def _wave_of_all(self, cluster: Cluster) -> list[Move]:
        """Everything that runs, in one wave."""
        return [self._move(pod, self._destination(cluster)) for pod in self._running(cluster)]

    def _everything_here(self, cluster: Cluster) -> list[Move]:
        """All pods of one node."""
        node = self._destination(cluster)
        return [self._move(pod, self._destination(cluster)) for pod in self._running(cluster) if pod.node_name == node]
