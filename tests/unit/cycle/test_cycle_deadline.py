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
from tests.builders import cluster, node, pod, workload
from tests.clocks import FakeClock


@pytest.mark.parametrize(
    ("deciding", "pods", "left"),
    [
        (0.0, 0, 10.0), (2.0, 0, 10.0 - 2.0 - 1.35), (8.0, 0, 1.0), (10.0, 0, 0.0),
        (1.0, 8, 10.0 - 1.0 - 0.55 - 0.15 * 9.0), (0.5, 8, 10.0 - 0.5 - 0.15 - 11 * 0.5 / 8),
    ],
)  # fmt: skip
def test_planning_leaves_time_for_the_proof(deciding: float, pods: int, left: float) -> None:
    """Four fifths of what deciding took, less what may be late, and more for many moves; at most half of the rest."""
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
