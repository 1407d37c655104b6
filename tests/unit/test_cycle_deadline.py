"""How a cycle shares its deadline: what proving a plan will take is known by what deciding on it took."""

from __future__ import annotations

import pytest

from rescheduler.cycle import Asked, CycleOptions, make_plan
from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.fault_domains.objective import FaultDomains
from rescheduler.planning.problem.objective import ObjectiveSetting
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.policy.fields.objectives import FaultDomainsArgs
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node
from tests.clocks import FakeClock


@pytest.mark.parametrize(("deciding", "left"), [(0.0, 10.0), (2.0, 10.0 - 2.0 - 1.35), (8.0, 1.0), (10.0, 0.0)])
def test_planning_leaves_time_for_the_proof(deciding: float, left: float) -> None:
    """Four fifths of what deciding took, less what may be late; at most half of what is left."""
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

    policy = Policy.model_validate({"limits": {"deadline": 10.0}})
    world = cluster(node("n0"))
    make_plan(
        world,
        policy,
        CycleOptions(clock, progress=progress),
        lambda columns: Asked([Looking(FaultDomainsArgs(), ObjectiveSetting(columns))], {}),
    )
    assert given == pytest.approx([left] if left else [], abs=1e-3)
