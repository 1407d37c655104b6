"""Moves by the gate: pods change places or stay, nobody is left waiting, and a mode that cannot be had falls back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.guidance import gated_moves
from rescheduler.extension_points import EvictionAnswer, ExecutionInterruptedError
from rescheduler.model.objects.annotations import GUIDE_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, PodReference
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.guidance.gated_stage import exchange, full_pair
from tests.unit.execution.worlds import World, executor, outcomes, plan_of

REFUSED = EvictionAnswer("BudgetExhausted", "no")


def carry_out(world: World, plan: Plan, guidance: str = "Guide") -> Any:
    """The result of a plan."""
    return executor(world, guidance=guidance).carry_out(plan)


def assert_nobody_waits(world: World) -> None:
    """No pod is at the gate, and nothing of ours stands."""
    assert not [pod.name for pod in world.read().pods if GUIDE_GATE in pod.scheduling_gates]
    assert list(world.leftovers()) == []


def where(world: World, owner: str) -> str | None:
    """The node of an owner's only pod."""
    (found,) = [pod for pod in world.read().pods if pod.controller and pod.controller.name == owner]
    return found.node_name


def test_numbers_that_others_rely_on() -> None:
    """How long those that were let go are watched, and all are given to come home after a failure."""
    assert (gated_moves.LANDING_SECONDS, gated_moves.HOME_SECONDS) == (3.0, 15.0)


def test_full_nodes_change_their_pods() -> None:
    """Whoever waits longer for either place does not get it."""
    world = World(full_pair())
    result = carry_out(world, exchange(world.read()))
    assert outcomes(result) == {"a-0": ("Landed", "n1"), "b-0": ("Landed", "n0")}
    assert where(world, "rival") is None
    assert_nobody_waits(world)


def test_nobody_leaves_unless_all_may() -> None:
    """All are asked for by a dry run before the first one is evicted."""
    world = World(full_pair())
    world.script = [None, EvictionAnswer("TwoBudgets", "two")]
    result = carry_out(world, exchange(world.read()))
    assert world.evicted == []
    assert "leave together or not at all" in result.message
    assert_nobody_waits(world)


@pytest.mark.parametrize(("wish", "seconds"), [(None, 5.0), (1.0, 5.0), (20.0, 20.0)])
def test_all_are_asked_for_again_where_one_may_leave_later(wish: float | None, seconds: float) -> None:
    """After five seconds, or as many as the server wishes; then they change places."""
    world = World(full_pair())
    asked: list[float] = []

    def note(_reference: PodReference, _dry_run: bool) -> EvictionAnswer | None:
        asked.append(world.clock.monotonic())
        return EvictionAnswer("BudgetExhausted", "no", wish) if len(asked) == 2 else None

    world.script = [note] * 3
    result = carry_out(world, exchange(world.read()))
    assert outcomes(result) == {"a-0": ("Landed", "n1"), "b-0": ("Landed", "n0")}
    assert [name for name, _ in world.asked[:4]] == ["a-0", "b-0", "a-0", "b-0"]
    assert asked[2] - asked[1] == pytest.approx(seconds, abs=0.5)


@pytest.mark.parametrize(("answer", "times"), [(REFUSED, 3), (EvictionAnswer("Forbidden", "no"), 1)])
def test_who_may_not_leave_is_asked_for_three_times_at_most(answer: EvictionAnswer, times: int) -> None:
    """What would meet a later try again is not tried again; the other one is not even asked for."""
    world = World(full_pair())
    world.script = [answer] * 9
    result = carry_out(world, exchange(world.read()))
    assert world.asked == [("a-0", True)] * times
    assert f"a-0 cannot leave now ({answer.kind}: no)" in result.message
    assert_nobody_waits(world)


def test_who_left_in_vain_goes_home() -> None:
    """The second pod is refused at the last moment: the first one's successor returns to the place that was kept."""
    world = World(full_pair())
    world.script = [*[None] * 4, *[EvictionAnswer("TwoBudgets", "two")] * 3]
    result = carry_out(world, exchange(world.read()))
    assert world.evicted == ["a-0"]
    assert outcomes(result)["b-0"][0] == "Refused"
    assert where(world, "a") == "n0"
    assert where(world, "rival") is None
    assert_nobody_waits(world)


@pytest.mark.parametrize("number", [1, 3, 4, 5, 6])
def test_an_interrupt_lets_everybody_go(number: int) -> None:
    """At whichever request it comes."""
    world = World(full_pair())

    def interrupt(_reference: PodReference, _dry_run: bool) -> None:
        raise KeyboardInterrupt

    world.script = [*[None] * (number - 1), interrupt]
    with pytest.raises(ExecutionInterruptedError):
        carry_out(world, exchange(world.read()))
    world.clock.sleep(30)
    assert_nobody_waits(world)


@pytest.mark.parametrize("number", [3, 4])
def test_after_an_interrupt_no_room_is_kept_for_who_cannot_use_it(number: int) -> None:
    """A new pod that something else holds back has no nomination any more; who can come home is home."""
    world = World(full_pair(scheduling_gates=("example.com/other",)))

    def interrupt(_reference: PodReference, _dry_run: bool) -> None:
        world.clock.sleep(3)
        raise KeyboardInterrupt

    world.script = [*[None] * 4, *[None] * (number - 3), interrupt]
    with pytest.raises(ExecutionInterruptedError):
        carry_out(world, exchange(world.read()))
    assert [(item.name, item.nominated_node) for item in world.read().pending_pods if item.nominated_node] == []
    assert_nobody_waits(world)


@pytest.mark.parametrize("guidance", ["Hold", "Predict", "Taint"])
def test_an_exchange_is_refused_without_the_mode(guidance: str) -> None:
    """Before the first eviction, with the reason."""
    world = World(full_pair())
    result = carry_out(world, exchange(world.read()), guidance)
    assert world.evicted == []
    assert f"guidance: {guidance}" in result.message


def guided(start: Cluster) -> Plan:
    """One pod goes where the scheduler would not put it."""
    return plan_of(start, [("web-0", "n1", 1)], objective="SpreadLoad", guided=["web-0"])


def half_empty() -> Cluster:
    """Three nodes, of which n2 is the most liked."""
    return cluster(
        *(node(f"n{number}", "8") for number in range(3)), pod("web-0", "1", node="n0"),
        pod("ballast-0", "6", node="n1"), workload("web", 1), workload("ballast", 1),
    )  # fmt: skip


def test_a_guided_pod_needs_no_node_shut() -> None:
    """It is nominated while it waits at the gate; with Hold, all other nodes are shut for it."""
    counts = {}
    for guidance in ("Guide", "Hold"):
        world = World(half_empty())
        result = carry_out(world, guided(world.read()), guidance)
        assert outcomes(result) == {"web-0": ("Landed", "n1")}
        assert_nobody_waits(world)
        counts[guidance] = sum(write.resource == "jobs" and write.verb == "create" for write in world.writes)
    assert counts["Guide"] < counts["Hold"]


def test_where_no_pod_can_be_gated_it_goes_on_as_hold() -> None:
    """The reason is a warning; a plan with an exchange is refused."""
    world = World(half_empty(), cannot_gate="not installed")
    result = carry_out(world, guided(world.read()))
    assert outcomes(result) == {"web-0": ("Landed", "n1")}
    assert any("not installed" in warning and "guidance: Hold" in warning for warning in result.warnings)
    world = World(full_pair(), cannot_gate="not installed")
    result = carry_out(world, exchange(world.read()))
    assert world.evicted == []
    assert "not installed" in result.message


def test_pods_that_come_for_other_reasons_are_let_go() -> None:
    """An owner that grows meanwhile gets its pods: they wait for as long as the wave lasts at most."""
    world = World(cluster(*half_empty().nodes, pod("web-0", "1", node="n0"), workload("web", 2)))
    result = carry_out(world, guided(world.read()))
    assert result.moves[0].outcome.value in ("Landed", "LandedElsewhere")
    world.clock.sleep(5)
    assert_nobody_waits(world)


def test_room_for_a_pending_pod_stands_back_once_for_several_that_come() -> None:
    """Two pods come to the node on which it is kept; it is kept again until its turn, and then got."""
    start = cluster(
        node("n0", "8", labels={"room": "here"}), node("n1", "4"), node("n2", "8"),
        pod("large-0", "8", node="n0"), pod("p-0", "2", node="n1"), pod("q-0", "2", node="n1"),
        pod("late-0", "4", node_selector=(("room", "here"),)),
        *(workload(name, 1) for name in ("large", "p", "q", "late")),
    )  # fmt: skip
    moves = [("large-0", "n2", 1), ("p-0", "n0", 1), ("q-0", "n0", 1)]
    plan = plan_of(start, moves, [("late-0", "n0", 1)], guided=[name for name, _, _ in moves])
    plan = structs.replace(plan, moves=tuple(structs.replace(move, evict_first=True) for move in plan.moves))
    world = World(start)
    result = carry_out(world, plan)
    assert {name: found[0] for name, found in outcomes(result).items()} == dict.fromkeys(
        ("large-0", "p-0", "q-0", "late-0"), "Landed"
    ), result.message
    assert_nobody_waits(world)
