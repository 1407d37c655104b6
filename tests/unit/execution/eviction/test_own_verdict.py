"""No pod leaves but on the gate's verdict about this very pod, given on what it depends on as read a moment ago."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.execution.eviction.own_verdict import has_room, is_welcome
from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector, PodAffinityTerm, Requirement
from rescheduler.model.objects.workload import Namespace
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, Plan, PodReference, Refusal
from rescheduler.policy.fields.policy import Policy
from tests.builders import budget, cluster, node, pod, workload
from tests.unit.execution.worlds import World, executor, plan_of

POLICY = Policy.model_validate({"disruption": {"workloads": {"max_unavailable": "30%"}}})


def ten_replicas(kind: str = "ReplicaSet") -> Cluster:
    """Ten replicas, two of which fill a node each; and nodes to go to."""
    large = [pod(f"web-{n}", "4", node=f"n{n}", owner="web", kind=kind) for n in range(2)]
    small = [pod(f"web-{n}", "1", node="n2", owner="web", kind=kind) for n in range(2, 10)]
    nodes = [node(f"n{n}", "4") for n in range(2)] + [node("n2", "32"), node("n3", "32")]
    return cluster(*nodes, *large, *small, workload("web", 10, kind=kind))


def one_wave(start: Cluster) -> Plan:
    """Two replicas leave in one wave."""
    return plan_of(start, [("web-2", "n3", 1), ("web-3", "n3", 1)])


def exchange(start: Cluster) -> Plan:
    """Two replicas change places through the gate."""
    plan = plan_of(start, [("web-0", "n1", 1), ("web-1", "n0", 1)], objective="SpreadLoad", guided=["web-0", "web-1"])
    return structs.replace(plan, moves=tuple(structs.replace(move, evict_first=True) for move in plan.moves))


def after_the_first(world: World, act: Callable[[], None]) -> None:
    """Let something happen right after the first pod has left."""
    evict = world.evict

    def evicting(pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        answer = evict(pod, resource_version, dry_run=dry_run)
        if not dry_run and len(world.evicted) == 1:
            act()
        return answer

    world.evict = evicting  # type: ignore[method-assign]


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
@pytest.mark.parametrize(("plan", "guidance"), [(one_wave, "Predict"), (one_wave, "Hold"), (exchange, "Guide")])
def test_replicas_that_fail_amid_a_wave_keep_the_others_where_they_are(
    plan: Callable[[Cluster], Plan], guidance: str, kind: str
) -> None:
    """The gate has permitted the whole wave, but six of ten replicas are down by the time of the second pod."""
    start = ten_replicas(kind)
    world = World(start)
    sick = [start.pod_by_key[f"default/web-{n}"] for n in range(4, 10)]
    after_the_first(world, lambda: world.put(*(structs.replace(item, is_ready=False) for item in sick)))
    result = executor(world, gate=PolicyGate(POLICY), guidance=guidance).carry_out(plan(start))
    assert len(world.evicted) == 1
    assert "WorkloadBudget" in result.message


def change_budget(start: Cluster) -> Callable[[World], None]:
    """A PodDisruptionBudget comes that allows nothing."""
    del start
    return lambda world: world.put(budget("web", 0, current_healthy=9, desired_healthy=9))


def lose_destination(start: Cluster) -> Callable[[World], None]:
    """The destination is not ready any more."""
    lost = structs.replace(start.node_by_name["n3"], is_ready=False)
    return lambda world: world.put(lost)


def fill_destination(start: Cluster) -> Callable[[World], None]:
    """Somebody else's pod takes the room."""
    del start
    return lambda world: world.put(pod("other-0", "31", node="n3"))


@pytest.mark.parametrize("change", [change_budget, lose_destination, fill_destination])
def test_whatever_a_pod_depends_on_is_read_anew(change: Callable[[Cluster], Callable[[World], None]]) -> None:
    """Budgets, nodes, and who takes the room at the destination."""
    start = ten_replicas()
    world = World(start)
    after_the_first(world, lambda: change(start)(world))
    result = executor(world, gate=PolicyGate(POLICY), guidance="Predict").carry_out(one_wave(start))
    assert len(world.evicted) == 1, result


class Watching:
    """A gate that takes ``seconds`` to answer, and notes when it was asked about which pods, and by which snapshot."""

    def __init__(self, world: World, seconds: float = 0.0) -> None:
        self.world, self.seconds = world, seconds
        self.asked: list[tuple[float, tuple[str, ...], Cluster]] = []

    def permit(
        self, moves: Sequence[Move], cluster: Cluster, sent: Sequence[PodReference], ledger: Ledger = EMPTY_LEDGER
    ) -> list[Permit | Refusal]:
        """Everything may go."""
        self.world.clock.sleep(self.seconds)
        names = tuple(move.pod.name for move in moves)
        self.asked.append((self.world.clock.monotonic(), names, cluster))
        return [Permit(move, "1") for move in moves]


def at_each_send(world: World, look: Callable[[str], None]) -> None:
    """Look right before each eviction."""

    def send(reference: PodReference, dry_run: bool) -> None:
        if not dry_run:
            look(reference.name)

    world.script = [send] * 100


def test_each_pod_has_a_verdict_of_its_own() -> None:
    """Asked about it alone, and within half a second."""
    start = ten_replicas()
    world = World(start)
    gate = Watching(world)
    verdicts: list[tuple[str, tuple[str, ...], float]] = []

    def look(name: str) -> None:
        asked_at, names, _ = gate.asked[-1]
        verdicts.append((name, names, world.clock.monotonic() - asked_at))

    at_each_send(world, look)
    plan = plan_of(start, [(f"web-{n}", "n3", 1) for n in range(2, 8)])
    executor(world, gate=gate, guidance="Predict").carry_out(plan)
    assert [(name, names) for name, names, _ in verdicts] == [(f"web-{n}", (f"web-{n}",)) for n in range(2, 8)]
    assert max(seconds for _, _, seconds in verdicts) <= 0.5


class Noted(SimulatedLedger):
    """Notes for each intent, as it is written, by whom the gate was asked about that pod alone, and how long ago."""

    def __init__(self, world: World, gate: Watching) -> None:
        super().__init__(world.clock)
        self.gate, self.world = gate, world
        self.ages: dict[str, float] = {}

    def write(self, ledger: Ledger, version: str) -> str | None:
        """As it comes."""
        known = {entry.number for entry in self.ledger.entries}
        for entry in ledger.entries:
            if entry.number not in known:
                asked = [at for at, names, _ in self.gate.asked if names == (entry.pod.name,)]
                self.ages[entry.pod.name] = self.world.clock.monotonic() - max(asked, default=float("-inf"))
        return super().write(ledger, version)


@pytest.mark.parametrize("kind", ["ReplicaSet", "StatefulSet"])
@pytest.mark.parametrize(("plan", "guidance"), [(one_wave, "Predict"), (one_wave, "Hold"), (exchange, "Guide")])
def test_an_intent_is_written_on_a_verdict_of_a_second_ago_at_most(
    plan: Callable[[Cluster], Plan], guidance: str, kind: str
) -> None:
    """About that very pod alone: moves through the gate and members of a StatefulSet too, however slow all else is."""
    start = ten_replicas(kind)
    world = World(start)
    gate = Watching(world)
    ledger = Noted(world, gate)
    for name in ("hold", "gate_replacements", "nominate", "ungate", "evict"):
        _delay(world, name, 3.0)
    hold = HoldSettings(60.0, "rescheduler-holds")
    executor = Executor(
        world,
        gate,
        world.clock,
        hold=hold,
        guidance=guidance,
        timeout_seconds=600.0,
        in_flight=10,
        ledger=ledger,
        proof=lambda *_: (),
    )
    asked = plan(start)
    executor.carry_out(asked)
    assert {move.pod.name for move in asked.moves} == set(ledger.ages)
    assert max(ledger.ages.values()) <= 1.0


def _delay(world: World, name: str, seconds: float) -> None:
    """Let a call take long."""
    act = getattr(world, name)

    def slow(*given: Any, **named: Any) -> Any:
        world.clock.sleep(seconds)
        return act(*given, **named)

    setattr(world, name, slow)


@pytest.mark.parametrize("seconds", [0.2, 5.0])
def test_a_gate_that_thinks_for_long_is_believed_where_nothing_changed_meanwhile(seconds: float) -> None:
    """Then its verdict is as good as one of now, which it could not give any faster."""
    world = World(ten_replicas())
    gate = Watching(world, seconds)
    result = executor(world, gate=gate, guidance="Predict").carry_out(plan_of(ten_replicas(), [("web-2", "n3", 1)]))
    assert world.evicted == ["web-2"], result.message
    assert [names for _, names, _ in gate.asked] == [("web-2",)] * 3, "for the rest, for the wave, for the pod"


def test_a_gate_that_thinks_while_the_world_changes_is_asked_again() -> None:
    """By what there is now; and where that changes each time, nobody goes."""
    world = World(ten_replicas())
    gate = Watching(world, 5.0)
    numbers = iter(range(1, 100))

    def restart() -> None:
        world.put(structs.replace(world.pod("web-5"), restart_count=next(numbers)))
        world.clock.after(3.0, restart)

    world.clock.after(0.0, restart)
    result = executor(world, gate=gate, guidance="Predict").carry_out(plan_of(ten_replicas(), [("web-2", "n3", 1)]))
    assert world.evicted == []
    assert "it changed each time" in result.message
    assert [shown.pod_by_key["default/web-5"].restart_count > 0 for _, _, shown in gate.asked[-3:]] == [True] * 3


def test_a_replacement_that_has_arrived_takes_its_room_once() -> None:
    """It is on the node already, though whoever watches the departure has not seen it yet."""
    start = ten_replicas()
    move, later = plan_of(start, [("web-2", "n0", 1), ("web-3", "n0", 1)]).moves
    left = start.pod_by_key["default/web-2"]
    known = frozenset(item.uid for item in start.pods)
    departure = EvictedPod(move, left, None, known)
    there = (pod("web-9x", "1", node="n0", owner="web"), *(item for item in start.pods if item.name != "web-0"))
    half_full = cluster(node("n0", "2"), *start.nodes[1:], *there)
    assert has_room(later, [departure], half_full)
    assert not has_room(later, [departure, departure], half_full)
    assert not has_room(later, [departure], cluster(node("n0", "1"), *start.nodes[1:], *start.pods[1:]))


def test_a_pod_that_only_claims_to_have_arrived_leaves_the_room_owed() -> None:
    """It names the owner, whose selector does not match it: the replacement is still to come."""
    start = ten_replicas()
    move, later = plan_of(start, [("web-2", "n0", 1), ("web-3", "n0", 1)]).moves
    departure = EvictedPod(move, start.pod_by_key["default/web-2"], None, frozenset(item.uid for item in start.pods))
    forged = pod("x", "0", node="n0", owner="web", labels={"app": "other"})
    others = (item for item in start.pods if item.name != "web-0")
    seen = cluster(node("n0", "1"), *start.nodes[1:], *start.workloads, forged, *others)
    assert has_room(later, [], seen)
    assert not has_room(later, [departure], seen)


def away_from(app: str, key: str = "kubernetes.io/hostname") -> tuple[PodAffinityTerm, ...]:
    """Anti-affinity towards the pods of an app."""
    return (PodAffinityTerm(key, LabelSelector((Requirement("app", "In", (app,)),))),)


WEB, GUEST = {"app": "web"}, {"app": "guest"}
HOST = {"kubernetes.io/hostname": "n3"}


@pytest.mark.parametrize(
    ("mover", "stranger", "is_welcome_there"),
    [
        ({}, {}, True),
        ({"ports": [80]}, {"ports": [81]}, True),
        ({"ports": [80]}, {"ports": [80]}, False),
        ({"anti_affinity": away_from("guest")}, {}, False),
        ({"anti_affinity": away_from("guest", "rack")}, {}, True),
        ({"anti_affinity": away_from("other")}, {}, True),
        ({}, {"anti_affinity": away_from("web")}, False),
        ({}, {"anti_affinity": away_from("web"), "deletion_at": 1.0}, True),
        ({}, {"anti_affinity": away_from("web"), "namespace": "elsewhere"}, True),
        ({"affinity": away_from("nobody")}, {"anti_affinity": away_from("other")}, True),
    ],
    ids=[
        "nothing", "other ports", "the same port", "its own", "a label that the node lacks", "towards others",
        "the other's", "who is leaving", "another namespace's", "affinity is not asked",
    ],
)  # fmt: skip
def test_whoever_came_to_the_destination_may_drive_a_pod_away(
    mover: dict[str, Any], stranger: dict[str, Any], is_welcome_there: bool
) -> None:
    """By host ports and anti-affinity, both ways; what hangs on other nodes is not looked at."""
    own = pod("web-2", "1", node="n2", labels=WEB, **mover)
    guest = pod("guest", "1", node="n3", labels=GUEST, **stranger)
    seen = cluster(node("n2", "4"), node("n3", "4", labels=HOST), own, guest, *map(Namespace, ("default", "elsewhere")))
    [move] = plan_of(seen, [("web-2", "n3", 1)]).moves
    assert is_welcome(move, seen) is is_welcome_there


def test_a_pod_stays_where_a_stranger_has_come_to_its_destination_that_drives_it_away() -> None:
    """After the plan was proven, and before the second of its pods was sent; there was room enough."""
    start = ten_replicas()
    nodes = (structs.replace(item, labels=HOST) if item.name == "n3" else item for item in start.nodes)
    world = World(cluster(*nodes, *start.pods, *start.workloads))
    guest = pod("guest", "1", node="n3", labels=GUEST, anti_affinity=away_from("web"))
    after_the_first(world, lambda: world.put(guest))
    result = executor(world, guidance="Predict").carry_out(one_wave(start))
    assert len(world.evicted) == 1
    assert "default/web-3 must keep apart from who stands on n3 by now; plan again" in result.message
