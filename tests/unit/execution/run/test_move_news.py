"""How far each move has come is told in order, each state once, and every move ends at rest."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from rescheduler.checker.violation import Violation
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.execution.run.move_news import MoveNews
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.move_change import AT_REST, MoveChange, MoveState
from rescheduler.model.plan.plan import Plan
from tests.clocks import FakeClock
from tests.unit.execution.worlds import AllowAll, World, against, chain, chained, executor, fragmented, two_moves

ORDER = list(MoveState)


def _told(world: World, plan: Plan, **options: object) -> dict[str, list[MoveChange]]:
    """What is told of each move, by the pod's name, of a plan that is carried out."""
    heard: list[MoveChange] = []
    made: Executor = executor(world)
    made._hear_moves = heard.append  # type: ignore[assignment]
    made.carry_out(plan)
    told = defaultdict(list)
    for change in heard:
        told[change.pod.name].append(change)
    return told


def _states(told: dict[str, list[MoveChange]], name: str) -> list[str]:
    return [change.state.value for change in told[name]]


def test_a_plan_that_goes_well_is_told_from_its_beginning_to_its_end() -> None:
    """Each move is planned, announced, evicted and settled; what lies between is told where it was seen."""
    start = chained()
    told = _told(World(start), chain(start))
    assert told
    for name, changes in told.items():
        states = _states(told, name)
        assert [state for state in states if state in ("planned", "announced", "evicted", "settled")] == [
            "planned", "announced", "evicted", "settled",
        ]  # fmt: skip
        ranks = [ORDER.index(change.state) for change in changes]
        assert all(one < other for one, other in pairwise(ranks)), "in order, each once"
        assert changes[-1].node == changes[-1].to_node


def test_a_change_says_which_pod_from_where_and_where_to() -> None:
    """The words that programs read; the time is the clock's, to the millisecond, in UTC."""
    start = fragmented()
    plan = two_moves(start)
    change = _told(World(start), plan)[plan.moves[0].pod.name][0]
    assert (change.pod, change.from_node, change.to_node) == (
        plan.moves[0].pod, plan.moves[0].from_node, plan.moves[0].to_node,
    )  # fmt: skip
    assert (change.state, change.node, change.message) == (MoveState.PLANNED, None, "")
    assert change.time.endswith("Z")
    assert len(change.time) == len("2026-01-01T00:00:00.000Z")


def test_what_is_not_done_is_dropped_with_the_reason() -> None:
    """A pod that is gone, and those that a stopped plan leaves."""
    start = fragmented()
    plan = two_moves(start)
    world = World(start)

    def objections(_cluster: Cluster, _plan: Plan) -> list[Violation]:
        return against("node n1 is gone")

    heard: list[MoveChange] = []
    made = Executor(
        world, AllowAll(), world.clock, hold=HoldSettings(60.0, "holds"), guidance="Hold", timeout_seconds=600.0,
        proof=objections, hear_moves=heard.append,
    )  # fmt: skip
    made.carry_out(plan)
    assert [change.state.value for change in heard] == ["planned"] * 2 + ["dropped"] * 2


@given(st.lists(st.tuples(st.integers(0, 1), st.sampled_from(ORDER)), max_size=30))
def test_nothing_is_told_twice_or_backwards(reached: list[tuple[int, MoveState]]) -> None:
    """Whoever reports, and in whatever order: only what was not known to be at rest may still be found out."""
    plan = two_moves(fragmented())
    heard: list[MoveChange] = []
    news = MoveNews(plan, heard.append, FakeClock())
    news.planned()
    for number, state in reached:
        news.reached(plan.moves[number].pod, state)
    for move in plan.moves:
        states = [change.state for change in heard if change.pod == move.pod]
        assert states[0] is MoveState.PLANNED
        assert len(set(states)) == len(states)
        resting = [number for number, state in enumerate(states) if state in AT_REST]
        assert all(state in AT_REST for state in states[resting[0] :]) if resting else True
        assert MoveState.SETTLED not in states[:-1]
        assert MoveState.DROPPED not in states[:-1]


def test_pods_of_other_plans_are_no_news() -> None:
    """The ledger holds the evictions of everybody."""
    plan = two_moves(fragmented())
    heard: list[MoveChange] = []
    news = MoveNews(plan, heard.append, FakeClock())
    news.reached(structs.replace(plan.moves[0].pod, uid="another"), MoveState.EVICTED)
    assert heard == []


@pytest.mark.parametrize("state", sorted(AT_REST))
def test_what_is_at_rest_is_planned_no_more(state: MoveState) -> None:
    """A late report of an earlier step changes nothing."""
    plan = two_moves(fragmented())
    heard: list[MoveChange] = []
    news = MoveNews(plan, heard.append, FakeClock())
    news.reached(plan.moves[0].pod, state)
    news.reached(plan.moves[0].pod, MoveState.EVICTED)
    assert [change.state for change in heard] == [state]
