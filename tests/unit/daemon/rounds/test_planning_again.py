"""What is left of a round's plan is planned again on the live state, within the same limits; no pod moves twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.daemon.rounds.world import RoundOutcome
from rescheduler.disruption.replica_changes import Wanted
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.attempts import NO_EARLIER_ATTEMPTS, EarlierAttempts, is_as_planned
from rescheduler.model.plan.move_change import MoveChange
from rescheduler.model.plan.plan import Plan, PodReference
from rescheduler.report.history import history_of
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.daemon.rounds.test_rounds import surroundings
from tests.unit.disruption.cases import policy
from tests.unit.execution.worlds import World

FREELY: dict[str, Any] = {
    "mode": "Execute",
    "scope": {"minimumAge": "0s"},
    "health": {"settle": "0s", "headRoom": "0%"},
    "disruption": {
        "workloads": {"maxUnavailable": 20}, "singleReplicas": "Allow", "rampUp": "unlimited",
        "rates": {"perHour": "unlimited", "perDay": "unlimited", "perWorkloadPerHour": "unlimited"},
    },
}  # fmt: skip


def spread_out(pods: int = 2) -> Cluster:
    """Five nodes of 4 CPU; n0 is full of pods of different owners, and there is room for each elsewhere."""
    small = [pod(f"app{i}-0", "1", node="n0", owner=f"app{i}", created_at=NOW - 9000.0) for i in range(pods)]
    stay = [
        pod(f"stay{i}-0", "1500m", node=f"n{i}", owner=f"stay{i}", created_at=NOW - 9000.0, labels={"keep": "1"})
        for i in range(5)
    ]
    owners = [workload(f"app{i}", 1) for i in range(pods)] + [workload(f"stay{i}", 1) for i in range(5)]
    return cluster(*(node(f"n{i}", "4") for i in range(5)), *small, *stay, *owners)


class Rounds:
    """One daemon, with everything that it planned and told."""

    def __init__(self, world: World, *, mends: bool = True, asked: Callable[[], int] = lambda: 0, **given: Any) -> None:
        self.world = world
        self.policy = policy(**{**FREELY, **given})
        self.ledger = SimulatedLedger(world.clock)
        self.plans: list[Plan] = []
        self.planned_at: list[float] = []
        self.told: list[tuple[str, str]] = []
        self.failing: Exception | None = None
        self.stopped: str | None = None
        around = surroundings(world, self.ledger, moved=self._hear, asked=asked, stopped=lambda: self.stopped)
        self.runner = RoundRunner(around, self.policy, self.plan, again=self.plan if mends else None)

    def _hear(self, _run_id: str, change: MoveChange) -> None:
        self.told.append((change.pod.name, change.state.value))

    def plan(
        self,
        found: Cluster,
        ledger: Ledger,
        wanted: Mapping[str, Wanted],
        earlier: EarlierAttempts = NO_EARLIER_ATTEMPTS,
    ) -> Plan:
        """The real planner."""
        if self.plans and self.failing is not None:
            raise self.failing
        self.planned_at.append(self.world.clock.monotonic())
        options = CycleOptions(self.world.clock, ledger=ledger, wanted=wanted, is_daemon=True, earlier=earlier)
        self.plans.append(make_plan(found, self.policy, options))
        return self.plans[-1]

    def run(self) -> RoundOutcome:
        """One round."""
        return self.runner.run_once()

    def cordon_what_others_go_to(self) -> None:
        """As soon as the first pod leaves, the destinations of the other moves are cordoned."""

        def cordon(reference: PodReference, dry_run: bool) -> EvictionAnswer | None:
            if not dry_run:
                for name in {move.to_node for move in self.plans[0].moves if move.pod != reference}:
                    self.world.put(node(name, "4", is_unschedulable=True))
            return None

        self.world.script = [None, cordon]


def with_big(start: Cluster) -> Cluster:
    """A pending pod that fits where both of n0's small pods have left."""
    return cluster(*start.nodes, *start.pods, *start.workloads, pod("big-0", "2500m"), workload("big", 1))


def room_scene() -> World:
    """Whichever node is cleared for big-0, two pods have to leave it, for different nodes."""
    pods = [
        pod(f"{name}-0", "1500m", node=where, owner=name, created_at=NOW - 9000.0)
        for name, where in (("a", "n0"), ("b", "n0"), ("c", "n1"), ("d", "n2"), ("e", "n3"), ("f", "n4"))
    ]
    names = ["a", "b", "c", "d", "e", "f"]
    return World(
        cluster(
            node("n0", "4"), *(node(f"n{i}", "3200m") for i in range(1, 5)), *pods, pod("big-0", "4"),
            *(workload(name, 1) for name in [*names, "big"]),
        )
    )  # fmt: skip


def test_what_a_cordon_came_in_the_way_of_is_planned_again_and_lands() -> None:
    """The second move goes elsewhere; it stands as a move of its own, the first keeps its outcome."""
    rounds = Rounds(room_scene())
    rounds.cordon_what_others_go_to()
    done = rounds.run()
    assert done.result is not None
    assert rounds.world.pod("big-0").node_name == "n0"
    assert (done.reason, is_as_planned(done.result)) == ("", True)
    told = [(move.pod.name, move.outcome.value, move.attempt) for move in done.result.moves]
    first, second = rounds.world.evicted
    assert told[0][:2] == (first, "Landed")
    assert told[1][:2] == (second, "Refused")
    assert told[2] == (second, "Landed", 2)
    assert [move.wave for move in done.result.moves] == [1, 1, 2]
    assert any(text.startswith("attempt 2: what was left was planned again, since ") for text in done.result.warnings)


class Crowd:
    """Much was asked within the minute, for so many seconds from when something came in the way of a move."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.until = 0.0
        self.rounds = Rounds(room_scene(), asked=self.asked)
        self.rounds.cordon_what_others_go_to()

    @property
    def now(self) -> float:
        """On the clock that never jumps."""
        return self.rounds.world.clock.monotonic()

    def asked(self) -> int:
        """Requests within the minute."""
        if not self.until and any(state == "dropped" for _, state in self.rounds.told):
            self.until = self.now + self._seconds
        return 500 if self.now < self.until else 0


def test_planning_again_waits_until_the_minute_has_room_for_it() -> None:
    """Whatever asked for so much: another attempt begins with looks, and with writes of its own."""
    crowd = Crowd(50.0)
    done = crowd.rounds.run()
    assert done.result is not None
    assert is_as_planned(done.result)
    assert len(crowd.rounds.planned_at) == 2
    assert crowd.rounds.planned_at[1] >= crowd.until > 0.0


def test_a_pause_is_heard_while_planning_again_waits() -> None:
    """What is left is left then."""
    crowd = Crowd(300.0)
    crowd.rounds.world.clock.after(100.0, lambda: setattr(crowd.rounds, "stopped", "paused"), is_background=True)
    began = crowd.now
    done = crowd.rounds.run()
    assert done.result is not None
    assert crowd.now - began < 110.0
    assert len(crowd.rounds.plans) == 1
    assert any("paused" in text for text in done.result.warnings)


def test_the_ledger_knows_each_attempt_by_a_number_of_its_own() -> None:
    """And tells which attempt it was; so does the history."""
    rounds = Rounds(room_scene())
    rounds.cordon_what_others_go_to()
    rounds.run()
    entries = [entry for entry in rounds.ledger.ledger.entries if entry.landed_on]
    assert [(entry.plan, entry.attempt) for entry in entries] == [(1, 1), (2, 2)]
    assert [(one.plan, one.attempt) for one in history_of(entries).entries] == [(1, 1), (2, 2)]


def test_each_change_of_a_move_is_told_for_each_attempt() -> None:
    """Dropped by the first, planned and settled by the second."""
    rounds = Rounds(room_scene())
    rounds.cordon_what_others_go_to()
    rounds.run()
    states = [state for name, state in rounds.told if name == rounds.world.evicted[1]]
    assert states[0] == "planned"
    assert states.index("dropped") < len(states) - 1 - states[::-1].index("planned")
    assert states[-1] == "settled"


def test_without_leave_to_plan_again_the_rest_is_left() -> None:
    """As under Approve, and with a DeschedulerPolicy."""
    rounds = Rounds(room_scene(), mends=False)
    rounds.cordon_what_others_go_to()
    done = rounds.run()
    assert done.result is not None
    assert len(rounds.plans) == 1
    assert sorted(move.outcome.value for move in done.result.moves) == ["Landed", "Refused"]
    assert not is_as_planned(done.result)
    assert "is cordoned" in done.reason


def test_a_plan_that_a_person_approved_is_never_planned_again() -> None:
    """What is left waits for the next round's plan."""
    rounds = Rounds(room_scene(), mode="Approve")
    proposed = rounds.run().plan
    assert proposed is not None
    rounds.cordon_what_others_go_to()
    done = rounds.runner.carry_out_approved(proposed)
    assert len(rounds.plans) == 1
    assert done.result is not None
    assert all(move.attempt != 2 for move in done.result.moves)
    assert len(rounds.world.evicted) == 1


@pytest.mark.parametrize("error", [RuntimeError("the solver died"), MemoryError("none left")])
def test_a_planner_that_fails_the_second_time_leaves_the_first_result(error: Exception) -> None:
    """And it is told."""
    rounds = Rounds(room_scene())
    rounds.failing = error
    rounds.cordon_what_others_go_to()
    done = rounds.run()
    assert done.result is not None
    assert len(rounds.world.evicted) == 1
    assert any("was not planned again: the planner failed" in text for text in done.result.warnings)


def test_the_kill_switch_ends_a_plan_for_good() -> None:
    """Nothing is planned again."""
    world = room_scene()
    rounds = Rounds(world)
    stopped: list[str] = []
    around = surroundings(world, rounds.ledger, stopped=lambda: stopped[0] if stopped else None)
    runner = RoundRunner(around, rounds.policy, rounds.plan, again=rounds.plan)

    def switch(_reference: PodReference, dry_run: bool) -> EvictionAnswer | None:
        stopped.extend(["somebody said so"] if not dry_run else [])
        return None

    world.script = [None, switch]
    done = runner.run_once()
    assert "somebody said so" in done.reason
    assert (len(rounds.plans), len(world.evicted)) == (1, 1)


@pytest.mark.parametrize(("most", "evicted"), [(3, 1), (4, 4)])
def test_what_was_evicted_counts_against_the_limits_of_the_whole(most: int, evicted: int) -> None:
    """The second pod of n0 may not go; clearing n9 takes three more, which the limit leaves or does not."""
    where = {"a": "n0", "b": "n0", "g": "n9", "h": "n9", "i": "n9", "c": "n1", "d": "n2", "e": "n3", "f": "n4"}
    sizes = {name: "1200m" if node_name == "n9" else "1500m" for name, node_name in where.items()}
    pods = [pod(f"{name}-0", sizes[name], node=at, owner=name, created_at=NOW - 9000.0) for name, at in where.items()]
    nodes = [node("n0", "4"), node("n9", "4"), *(node(f"n{i}", "3200m") for i in range(1, 5))]
    owners = [workload(name, 1) for name in [*where, "big"]]
    rounds = Rounds(World(cluster(*nodes, *pods, pod("big-0", "4"), *owners)), limits={"maxEvictions": most})
    rounds.world.script = [None, None, EvictionAnswer("Forbidden", "a webhook says no")]
    rounds.run()
    assert len(rounds.plans[0].moves) == 2
    assert len(rounds.world.evicted) == evicted
    assert rounds.world.pod("big-0").node_name == (None if evicted == 1 else "n9")


@st.composite
def mishaps(draw: st.DrawFn) -> list[tuple[int, str, int]]:
    """What happens at which eviction: a node is cordoned, filled, or taken away, or a pod goes."""
    kinds = st.sampled_from(["cordon", "fill", "drop", "refuse"])
    return draw(st.lists(st.tuples(st.integers(0, 5), kinds, st.integers(0, 4)), max_size=5))


def happening(world: World, blows: list[tuple[int, str, int]]) -> Callable[[PodReference, bool], EvictionAnswer | None]:
    """What each eviction in earnest meets."""
    went = 0

    def happen(_reference: PodReference, dry_run: bool) -> EvictionAnswer | None:
        nonlocal went
        if dry_run:
            return None
        due = [(kind, number) for at, kind, number in blows if at == went]
        went += 1
        for kind, number in due:
            if kind == "cordon":
                world.put(node(f"n{number}", "4", is_unschedulable=True))
            elif kind == "fill":
                world.put(pod(f"late-{went}-{number}", "1", node=f"n{number}", owner="late"))
            elif kind == "drop" and world.read_pod("default", f"app{number}-0") is not None:
                world.delete_pod("default", f"app{number}-0")
        return EvictionAnswer("Forbidden", "a webhook says no") if "refuse" in {kind for kind, _ in due} else None

    return happen


@given(mishaps(), st.integers(1, 5), st.integers(1, 3), st.sampled_from(["EmptyNodes", "MakeRoom"]))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_over_all_attempts_the_limits_hold_and_no_pod_moves_twice(
    blows: list[tuple[int, str, int]], most: int, of_node: int, objective: str
) -> None:
    """Whatever happens on the way, and however often it is planned again."""
    start = with_big(spread_out())
    world = World(start)
    limits = {"maxEvictions": most, "maxEvictionsPerNode": of_node}
    rounds = Rounds(world, limits=limits, objectives=[{"name": objective}])
    world.script = [happening(world, blows)] * 60
    done = rounds.run()
    origins = {item.name: item.node_name for item in start.pods}
    assert len(world.evicted) <= most
    assert max(Counter(map(origins.get, world.evicted)).values(), default=0) <= of_node
    assert len(set(world.evicted)) == len(world.evicted)
    assert set(world.evicted) <= set(origins)
    assert len(rounds.plans) <= 3
    assert done.result is not None or not world.evicted
    landed = Counter(move.pod for move in (() if done.result is None else done.result.moves) if move.outcome.has_landed)
    assert max(landed.values(), default=0) <= 1
