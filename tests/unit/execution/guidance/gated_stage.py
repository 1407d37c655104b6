"""Gated moves by themselves: nobody else keeps room for them, and nobody looks after pods that were let go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import structs

from rescheduler.execution.guidance.gated_moves import GatedMoves
from rescheduler.execution.guidance.gates import Gates
from rescheduler.execution.guidance.hold_maker import HeldRoom, HoldMaker
from rescheduler.execution.guidance.holds import Holds
from rescheduler.execution.landing.departures import Departures, EvictedPod, known_before, selector_of
from rescheduler.execution.landing.placing import Nominator
from rescheduler.execution.stopping import PlanOvertakenError, Waiter
from rescheduler.extension_points import ClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Move, Plan, PodReference
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import World, plan_of

PLAN_ID = "p"


class FailingWorld(World):
    """A cluster whose calls fail as often as told. ``fails``: so many more calls, by name; ``passes``: so many before
    them do not."""

    def __init__(self, start: Cluster, **settings: Any) -> None:
        self.fails: Counter[str] = Counter()
        self.passes: Counter[str] = Counter()
        super().__init__(start, **settings)

    def _may_fail(self, name: str) -> None:
        if self.fails[name] and self.passes[name]:
            self.passes[name] -= 1
        elif self.fails[name]:
            self.fails[name] -= 1
            raise ClusterError(f"{name}: connection refused")

    def read_lists(self, asked: Sequence[tuple[str, LabelSelector | None]]) -> Sequence[Sequence[Pod]]:
        """As it stands, or an error."""
        self._may_fail("read_lists")
        return super().read_lists(asked)

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Done, or an error."""
        self._may_fail("nominate")
        return super().nominate(pod, node)

    def ungate(self, pod: PodReference) -> bool:
        """Done, or an error."""
        self._may_fail("ungate")
        return super().ungate(pod)


class GatedStage:
    """One plan's gated moves on a cluster. ``before``: what happens right before a pod is evicted, by its name."""

    def __init__(self, world: World, plan: Plan, *, timeout: float = 600.0) -> None:
        self.world = world
        self.plan = plan
        self.before: dict[str, Callable[[], object]] = {}
        self.departures = Departures(world)
        self.gates = Gates(world, world.clock, PLAN_ID, 60)
        self.holds = Holds(world, world.clock)
        self.maker = HoldMaker(plan, world.read(), PLAN_ID, 60)
        self.nominator = Nominator(world, self.holds, world.clock)
        waiter = Waiter(world.clock, timeout, self.holds.keep)
        self.moves = GatedMoves(world, self.gates, self.holds, self.maker, self.nominator, waiter)
        self._cluster = world.read()

    def exchange(self) -> None:
        """All leave before any of them arrives."""
        self.moves.exchange(self.plan.moves, self.departures, self._evict, self._cluster)

    def lead(self) -> None:
        """Each is brought to its node as soon as it is there."""
        self.moves.lead(self.plan.moves, self.departures, self._evict, self._cluster)

    def keep(self, name: str | None, node: str, cpu: int) -> HeldRoom:
        """Room that is kept on a node, for a pod by its name or for nobody."""
        pod = None if name is None else self.world.pod(name)
        reference = None if pod is None else PodReference(pod.namespace, pod.name, pod.uid)
        held = self.maker.hold(node, (("cpu", cpu),), "default-scheduler", pod=reference)
        self.holds.set([held])
        return held

    def _evict(self, move: Move) -> EvictedPod:
        """As the sender of evictions does it. Raises PlanOvertakenError where the pod may not leave."""
        self.before.get(move.pod.name, lambda: None)()
        live, cluster = self.world.pod(move.pod.name), self.world.read()
        answer = self.world.evict(move.pod, live.resource_version, dry_run=False)
        if answer.kind != "Accepted":
            raise PlanOvertakenError(f"{move.pod.key}: {answer.kind}")
        departure = EvictedPod(move, live, selector_of(live, cluster), known_before(live, cluster))
        self.departures.all.append(departure)
        return departure

    @property
    def standing(self) -> list[str]:
        """Nodes on which placeholders stand."""
        return sorted(item.nominated_node or "" for item in self.world.read().pods if item.namespace != "default")

    def new(self, owner: str) -> list[Pod]:
        """Pods that an owner made since the beginning."""
        before = {item.uid for item in self._cluster.pods}
        return [
            item
            for item in self.world.read().pods
            if item.controller and item.controller.name == owner and item.uid not in before
        ]

    def where(self, owner: str) -> str | None:
        """The node of the one pod that an owner made."""
        (found,) = self.new(owner)
        return found.node_name

    def nominations(self) -> list[tuple[str, str]]:
        """Owners of pods that were nominated, and where to, in order; "" where a nomination was taken off."""
        names = {item.name: item for item in self.world.read().pods}
        return [
            (names[write.name].labels["app"], write.detail)
            for write in self.world.writes
            if write.resource == "pods/status" and write.namespace == "default" and write.name in names
        ]


def full_pair(**large: Any) -> Cluster:
    """Two full nodes, and an older pod that would take either place."""
    return cluster(
        node("n0", "4"), node("n1", "4"), pod("a-0", "4", node="n0", **large), pod("b-0", "4", node="n1"),
        pod("rival-0", "4"), workload("a", 1), workload("b", 1), workload("rival", 1),
    )  # fmt: skip


def exchange(start: Cluster) -> Plan:
    """The plan in which a and b change places."""
    plan = plan_of(start, [("a-0", "n1", 1), ("b-0", "n0", 1)], objective="SpreadLoad", guided=["a-0", "b-0"])
    return structs.replace(plan, moves=tuple(structs.replace(move, evict_first=True) for move in plan.moves))


def swapping(start: Cluster | None = None, *, timeout: float = 600.0, **settings: Any) -> GatedStage:
    """a and b are to change places, and an older pod waits for either."""
    world = FailingWorld(start or full_pair(), **settings)
    return GatedStage(world, exchange(world.read()), timeout=timeout)


def leading(start: Cluster, moves: dict[str, str], **settings: Any) -> GatedStage:
    """Pods are to be led to the nodes named."""
    world = FailingWorld(start, **settings)
    steps = [(name, to, 1) for name, to in moves.items()]
    return GatedStage(world, plan_of(world.read(), steps, objective="SpreadLoad", guided=moves))


def failing(stage: GatedStage) -> FailingWorld:
    """Its cluster, to make it fail."""
    assert isinstance(stage.world, FailingWorld)
    return stage.world


def elapsed(stage: GatedStage, act: Callable[[], None]) -> float:
    """Seconds that something takes by the cluster's clock."""
    began = stage.world.clock.monotonic()
    act()
    return stage.world.clock.monotonic() - began
