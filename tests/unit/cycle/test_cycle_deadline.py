"""How a cycle shares its deadline: what proving a plan will take is known by what deciding on it took."""

from __future__ import annotations

import gc

import pytest

from rescheduler.cycle import Asked, CycleOptions, left_for_planning, make_plan
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.columns.columns import Columns, columns_of
from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.fault_domains.objective import FaultDomains
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.objective import ObjectiveSetting
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.policy.fields.objectives import FaultDomainsArgs
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload
from tests.clocks import FakeClock


@pytest.mark.parametrize(
    ("deciding", "pods", "left"),
    [
        (0.0, 0, 10.0), (2.0, 0, 10.0 - 2.0 - 0.5), (6.0, 0, 2.0), (6.7, 0, 0.0), (10.0, 0, 0.0),
        (1.0, 8, 10.0 - 1.0 - 0.05 - 0.15 * 9.0), (0.5, 8, 10.0 - 0.5 + 0.175 - 11 * 0.5 / 8),
    ],
)  # fmt: skip
def test_planning_leaves_time_for_the_proof(deciding: float, pods: int, left: float) -> None:
    """Less than half of what deciding took, less what may be late, and more for many moves; at most half of the rest.

    Nothing is planned where what is left is hardly enough to lay out the question and to prove an answer.
    """
    clock, given = FakeClock(), list[float]()

    class Looking(FaultDomains):
        """Notes how much time it has."""

        def plan(self, request: PlanRequest) -> ObjectivePlan:
            """Nothing."""
            given.append(request.deadline_seconds)
            return ObjectivePlan(Status.UNKNOWN, 0.0, None, "", "", is_judged=False)

    def progress(text: str, *_: int) -> None:
        if text == "deciding what may move":
            clock.time += deciding

    policy = Policy.model_validate({"limits": {"deadline": 10.0, "max_evictions": 2 if deciding == 1.0 else 1}})
    world = cluster(node("n0"), *(pod(f"web-{number}", node="n0") for number in range(pods)), workload("web", pods))
    make_plan(
        world,
        policy,
        CycleOptions(clock, progress=progress),
        lambda columns: Asked([Looking(FaultDomainsArgs(), ObjectiveSetting(columns))], {}),
    )
    assert given == pytest.approx([left] if left else [], abs=1e-3)


@pytest.mark.parametrize(
    ("deadline", "deciding", "given"), [(0.65, 0.6, 0.18), (0.3, 0.25, 0.075), (0.3, 0.3, 0.0), (1.4, 1.1, 0.0)]
)
def test_whatever_is_planned_has_a_little_time(deadline: float, deciding: float, given: float) -> None:
    """Where deciding left hardly anything, some of what may be late is for planning; past the deadline nothing is."""
    clock = FakeClock()
    clock.time = deciding

    class Started(Deadline):
        """Began when deciding did."""

        def remaining(self) -> float:
            return max(0.0, deadline - clock.time)

    heavy = [FaultDomains(FaultDomainsArgs(), ObjectiveSetting(columns_of(cluster(node("n0")))))]
    world = cluster(node("n0"), *(pod(f"p{number}", node="n0") for number in range(4)))
    eligibility = decide_eligibility(world, Policy())
    assert left_for_planning(Started(clock, deadline), eligibility, 4, heavy) == pytest.approx(given)


@pytest.mark.parametrize("before", [(700, 10, 10), (0, 10, 10), (200_000, 5, 5)])
def test_the_collector_of_garbage_is_as_before_once_a_plan_is_made(before: tuple[int, int, int]) -> None:
    """While a plan is made it looks at new objects alone, and rarely, or not at all where somebody has so ordered."""
    ours, during = gc.get_threshold(), list[tuple[int, int, int]]()

    def progress(_: str, *__: int) -> None:
        during.append(gc.get_threshold())

    def asked(_: Columns) -> Asked:
        raise ZeroDivisionError

    gc.set_threshold(*before)
    try:
        with pytest.raises(ZeroDivisionError):
            make_plan(cluster(node("n0")), Policy(), CycleOptions(FakeClock(), progress=progress), asked)
        assert gc.get_threshold() == before
    finally:
        gc.set_threshold(*ours)
    assert during
    assert set(during) == {(0 if not before[0] else max(50_000, before[0]), 20, 100)}
