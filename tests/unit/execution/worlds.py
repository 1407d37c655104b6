"""Simulated clusters, plans and executors for tests of the execution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.checker.violation import Violation
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, Plan, PlannedPlacement, PodReference, Refusal, SnapshotSummary
from tests.builders import cluster, node, pod, workload


class AllowAll:
    """A gate that lets everything pass but pods named in ``refused``."""

    def __init__(self, refused: Iterable[str] = ()) -> None:
        self.refused = set(refused)
        self.asked: list[tuple[list[str], list[str]]] = []

    def permit(
        self, moves: Sequence[Move], cluster: Cluster, sent: Sequence[PodReference], ledger: Ledger = EMPTY_LEDGER
    ) -> list[Permit | Refusal]:
        """One verdict for each move."""
        self.asked.append(([move.pod.name for move in moves], [reference.name for reference in sent]))
        return [
            Refusal("PodDisruptionBudget", f"{move.pod.key} is protected", pod=move.pod)
            if move.pod.name in self.refused
            else Permit(move, "1")
            for move in moves
        ]


class World(SimulatedCluster):
    """A simulated cluster whose eviction answers can be scripted: ``script`` is used up before the simulator answers.

    An entry is an answer for one call, or a function of the call that may do something first.
    """

    def __init__(self, start: Cluster, **settings: Any) -> None:
        super().__init__(start, settings=SimulationSettings(**settings))
        self.script: list[EvictionAnswer | Callable[[PodReference, bool], EvictionAnswer | None] | None] = []
        self.asked: list[tuple[str, bool]] = []
        self.clock.sleep(1)

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Answer from the script, then as the simulator does."""
        self.asked.append((pod.name, dry_run))
        scripted = self.script.pop(0) if self.script else None
        answer = scripted(pod, dry_run) if callable(scripted) else scripted
        return answer if answer is not None else super().evict(pod, resource_version, dry_run=dry_run)

    @property
    def evicted(self) -> list[str]:
        """Names of pods whose eviction was granted, in order."""
        return [write.name for write in self.writes if write.resource == "pods/eviction"]

    def pod(self, name: str) -> Pod:
        """A pod of the default namespace."""
        found = self.read_pod("default", name)
        assert found is not None, name
        return found


def fragmented(*extra: Any) -> Cluster:
    """Four nodes of 4 CPU with three pods of 1 CPU each, and a pending pod of 2.5 CPU."""
    pods = [pod(f"web-{n}{i}", "1", "1Gi", node=f"n{n}", owner="web") for n in range(4) for i in range(3)]
    nodes = [node(f"n{n}", "4") for n in range(4)]
    return cluster(*nodes, *pods, pod("big-0", "2500m"), workload("web", 12), workload("big", 1), *extra)


def chained() -> Cluster:
    """Room for big-0 on n0 needs mid-0 gone, whose only place is n1, which little-0 must leave for n2 first."""
    return cluster(
        node("n0", "4"), node("n1", "4"), node("n2", "4"),
        pod("mid-0", "3", node="n0"), pod("little-0", "2", node="n1"), pod("stay-0", "1", node="n1", owner="stay"),
        pod("rest-0", "2", node="n2"), pod("big-0", "4"),
        workload("mid", 1), workload("little", 1), workload("stay", 1), workload("rest", 1), workload("big", 1),
    )  # fmt: skip


def plan_of(
    start: Cluster,
    moves: Sequence[tuple[str, str, int]],
    places: Sequence[tuple[str, str, int]] = (),
    *,
    objective: str = "MakeRoom",
    guided: Iterable[str] = (),
) -> Plan:
    """A plan of moves (pod, destination, wave) and placements (pod, node, wave) in the default namespace.

    ``guided``: pods whose moves need guidance.
    """
    needy = set(guided)

    def reference(name: str) -> PodReference:
        found = start.pod_by_key[f"default/{name}"]
        return PodReference(found.namespace, found.name, found.uid)

    return Plan(
        snapshot=SnapshotSummary("2027-01-15T08:00:00Z", len(start.nodes), len(start.pods), 1, "test"),
        moves=tuple(
            Move(
                pod=reference(name),
                from_node=start.pod_by_key[f"default/{name}"].node_name or "",
                to_node=to,
                wave=wave,
                objective=objective,
                reason="because",
                needs_guidance=name in needy,
            )
            for name, to, wave in moves
        ),
        placements=tuple(PlannedPlacement(reference(name), to, wave) for name, to, wave in places),
    )


def two_moves(start: Cluster) -> Plan:
    """Two pods leave n0 so that big-0 fits there."""
    return plan_of(start, [("web-00", "n1", 1), ("web-01", "n2", 1)], [("big-0", "n0", 1)])


def chain(start: Cluster) -> Plan:
    """The chain of ``chained``."""
    return plan_of(start, [("little-0", "n2", 1), ("mid-0", "n1", 2)], [("big-0", "n0", 2)])


def executor(
    world: SimulatedCluster,
    *,
    gate: Any = None,
    proof: Callable[[Cluster, Plan], Sequence[str]] = lambda _cluster, _plan: (),
    guidance: str = "Hold",
    timeout: float = 600.0,
    in_flight: int = 10,
    deadline: float = 60.0,
) -> Executor:
    """An executor on a simulated cluster."""
    return Executor(
        world,
        gate or AllowAll(),
        world.clock,
        hold=HoldSettings(deadline, "rescheduler-holds"),
        guidance=guidance,
        timeout_seconds=timeout,
        in_flight=in_flight,
        proof=proof,
    )


def against(*messages: str, pod: str | None = None) -> list[Violation]:
    """What a proof finds that speaks against a plan; ``pod``: whose move alone."""
    return [Violation("Rule", message, pod) for message in messages]


def outcomes(result: Any) -> dict[str, tuple[str, str | None]]:
    """Outcome and node by pod name, moves and placements together."""
    return {item.pod.name: (item.outcome.value, item.landed_on) for item in (*result.moves, *result.placements)}
