"""A daemon carries no plan out with moves by surge, in no mode, not even what of it would be evictions."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.policy import Mode
from tests.builders import cluster, node, pod
from tests.unit.daemon.rounds.test_rounds import planner, surroundings
from tests.unit.disruption.cases import policy
from tests.unit.disruption.surge_cases import deployment, tight_budget
from tests.unit.execution.worlds import World

AT_ONCE: dict[str, Any] = {"rates": {"perHour": "unlimited", "perDay": "unlimited", "perWorkloadPerHour": "unlimited"}}


def rounds(world: World, mode: Mode) -> RoundRunner:
    """Rounds that empty nodes, by surge what is of the namespace default."""
    rules = {"moveBy": [{"method": "Surge"}], "rampUp": "unlimited", "quiet": "0s", **AT_ONCE}
    by = policy(
        mode=mode.value,
        guidance="Guide",
        objectives=[{"name": "EmptyNodes"}],
        disruption=rules,
        health={"settle": "0s", "calm": "0s", "headRoom": "0%"},
        scope={"minimumAge": "0s"},
    )
    return RoundRunner(surroundings(world), by, planner(world, by))


def world() -> World:
    """A single replica under a budget that allows nothing, and a node that would take it."""
    filler = pod("filler", owner="", node="n2")
    return World(
        cluster(node("n1"), node("n2"), *deployment("web", ["n1"]), tight_budget("web", 1), filler, network_policies=())
    )


@pytest.mark.parametrize("mode", [Mode.EXECUTE, Mode.APPROVE])
def test_a_plan_with_surges_is_refused_as_a_whole(mode: Mode) -> None:
    """In Execute by itself, and in Approve when a person says yes: nothing is taken out, nothing evicted."""
    where = world()
    runner = rounds(where, mode)
    outcome = runner.run_once()
    assert outcome.plan is not None
    assert [move.method for move in outcome.plan.moves] == [MoveMethod.SURGE]
    if mode is Mode.APPROVE:
        assert "run refuses" in (runner.objection_to(outcome.plan, where.read()) or "")
        outcome = runner.carry_out_approved(outcome.plan)
    assert outcome.reason.startswith("nothing is moved: 1 of these moves is by surge")
    assert outcome.reason.endswith("and run refuses")
    assert outcome.result is None
    assert where.evicted == []
    assert all(not one.annotations for one in where.read().pods)
