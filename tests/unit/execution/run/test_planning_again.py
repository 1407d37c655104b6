"""How often what is left of a plan is planned again, and what ends that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rescheduler.execution.run.planning_again import AttemptEnd, in_attempts
from rescheduler.execution.run.resuming import made_at
from rescheduler.extension_points import ClusterError, ExecutionInterruptedError
from rescheduler.model.plan.attempts import EarlierAttempts, last_attempt
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import OutcomeKind, Plan, PlanResult, Refusal
from tests.unit.execution.worlds import World, executor, fragmented, outcomes, plan_of
from tests.unit.model.plan.test_attempts import move, result

LEFT, LANDED = OutcomeKind.NOT_ATTEMPTED, OutcomeKind.LANDED
PLAN = plan_of(fragmented(), [("web-00", "n1", 1)])


class Attempts:
    """Carries out by a script: an attempt, or an error for each."""

    def __init__(self, *script: AttemptEnd | BaseException) -> None:
        self.script = [*script]
        self.asked: list[EarlierAttempts] = []
        self.warned: list[Sequence[str]] = []

    def carry_out(self, plan: Plan, earlier: EarlierAttempts) -> AttemptEnd:
        """The next of the script."""
        self.warned.append(plan.warnings)
        step = self.script.pop(0)
        if isinstance(step, BaseException):
            raise step
        return step

    def plan_again(self, earlier: EarlierAttempts) -> Plan | str:
        """The same once more."""
        self.asked.append(earlier)
        return PLAN

    def done(self, again: Callable[[EarlierAttempts], Plan | str] | None = None) -> PlanResult:
        """What all came to."""
        return in_attempts(PLAN, self.carry_out, again or self.plan_again)


def attempt(*moves: Any, was_stopped: bool = False, **fields: Any) -> AttemptEnd:
    """One that ends with these moves; those that landed work."""
    ready = frozenset(item.pod for item in moves if item.outcome is LANDED)
    return AttemptEnd(result(*moves, **fields), was_stopped, ready)


def test_a_plan_that_ends_well_is_not_planned_again() -> None:
    """Nor is anything said of that."""
    run = Attempts(attempt(move("a", LANDED)))
    assert (run.done().warnings, run.asked) == ((), [])


def test_a_node_that_is_not_empty_for_somebody_elses_pod_is_planned_for_again() -> None:
    """All moves landed as planned, and what they were made for is not there."""
    run = Attempts(attempt(move("a", LANDED), message="1 of 1 nodes that were to be empty are not"), attempt())
    run.done()
    assert len(run.asked) == 1
    assert "1 of 1 nodes that were to be empty are not" in run.warned[1][0]


def test_what_is_left_is_planned_again_twice_at_most() -> None:
    """Each attempt knows what those before it did, and since when pods are too new to be moved."""
    parts = [attempt(move(name, LANDED), move("z", LEFT), message=f"{name} was in the way") for name in "abc"]
    run = Attempts(*parts)
    done = run.done()
    assert last_attempt(done) == 3
    assert [(len(one.sent), len(one.ready), one.attempt) for one in run.asked] == [(1, 1, 2), (2, 2, 3)]
    assert {one.since for one in run.asked} == {made_at(PLAN)}
    assert run.warned == [
        (), ("attempt 2: what was left was planned again, since a was in the way",),
        ("attempt 3: what was left was planned again, since b was in the way",),
    ]  # fmt: skip
    assert done.message == "c was in the way"


@pytest.mark.parametrize(
    "last",
    [
        attempt(move("a", LEFT), was_stopped=True),
        attempt(move("a", OutcomeKind.UNKNOWN), move("b", LEFT)),
    ],
)
def test_what_ends_every_plan_ends_this_one(last: AttemptEnd) -> None:
    """So does a pod of which nobody knows what became of it."""
    run = Attempts(last)
    run.done()
    assert run.asked == []


@pytest.mark.parametrize("answer", ["nobody said yes", Plan(PLAN.snapshot)])
def test_where_nothing_is_planned_the_result_so_far_stands_and_says_so(answer: Plan | str) -> None:
    """Somebody's no, and a plan without anything in it."""
    done = Attempts(attempt(move("a", LEFT), message="a stays")).done(lambda _: answer)
    assert (done.message, len(done.moves), len(done.warnings)) == ("a stays", 1, 1)


@pytest.mark.parametrize("is_planning", [True, False])
def test_a_cluster_that_fails_meanwhile_takes_nothing_away_from_what_was_done(is_planning: bool) -> None:
    """Its words stand in a warning."""

    def fail(_: EarlierAttempts) -> Plan | str:
        raise ClusterError("out of reach")

    run = Attempts(attempt(move("a", LANDED), move("b", LEFT)), ClusterError("out of reach"))
    done = run.done(fail if is_planning else None)
    assert [item.outcome for item in done.moves] == [LANDED, LEFT]
    assert done.warnings == ("what is left was not planned again: out of reach",)


def test_an_interruption_tells_of_all_attempts() -> None:
    """While carrying out, with what was done there; and while planning."""
    run = Attempts(attempt(move("b", LEFT)), ExecutionInterruptedError("interrupted", result(move("b", LANDED))))
    with pytest.raises(ExecutionInterruptedError) as caught:
        run.done()
    assert [(item.outcome, item.attempt) for item in caught.value.result.moves][1:] == [(LANDED, 2)]

    def interrupt(_: EarlierAttempts) -> Plan | str:
        raise KeyboardInterrupt

    with pytest.raises(ExecutionInterruptedError) as caught:
        Attempts(attempt(move("b", LEFT))).done(interrupt)
    assert len(caught.value.result.moves) == 1


@pytest.mark.parametrize("rule", ["PodDisruptionBudget", "Breaker", "Stop", "Fence", "Health", "Mode"])
def test_a_no_to_one_move_drops_it_and_a_no_to_all_ends_the_plan(rule: str) -> None:
    """By the gate's rule: the first lets the others go on, after the rest nothing more is asked."""

    class Gate:
        """Refuses web-00."""

        def permit(self, moves: Any, *_: Any) -> Any:
            """One verdict for each move."""
            return [
                Refusal(rule, f"{one.pod.key} stays", pod=one.pod) if one.pod.name == "web-00" else Permit(one, "1")
                for one in moves
            ]

    start = fragmented()
    world = World(start)
    run = executor(world, gate=Gate())
    done = run.carry_out(plan_of(start, [("web-00", "n1", 1), ("web-10", "n2", 1)], objective="SpreadLoad"))
    is_of_all = rule != "PodDisruptionBudget"
    assert run.was_stopped is is_of_all
    assert world.evicted == ([] if is_of_all else ["web-10"])
    assert outcomes(done)["web-00"] == ("Refused", None)
    assert f"{rule}: default/web-00 stays" in done.message
