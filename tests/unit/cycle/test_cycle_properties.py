"""Any objectives in any order on any small cluster: the plan stands before the independent checker."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.plan.plan import Plan
from rescheduler.planning.objectives import OBJECTIVES
from rescheduler.policy.fields.policy import Guidance, Objective, Policy
from tests.clocks import FakeClock
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.tiny import request_for, tiny_clusters

ARGUMENTS = {
    "Defragment": {"shapes": [{"cpu": "2", "weight": 2}, {"memory": "3Gi"}]},
    "SpreadLoad": {"target": {"cpu": 0.5}},
    "SeparateAntagonists": {"sets": [{"name": "all", "members": [{}]}]},
    "SchedulerScore": {"minimumGain": 20},
}


@st.composite
def policies(draw: st.DrawFn) -> Policy:
    """Policies of up to three objectives in any order, some weighed against each other, with any limits."""
    names = draw(st.lists(st.sampled_from(sorted(OBJECTIVES.own)), min_size=1, max_size=3, unique=True))
    weights = draw(st.lists(st.sampled_from([None, 0.5, 2.0]), min_size=3, max_size=3))
    objectives = tuple(
        Objective(
            name=name, args=ARGUMENTS.get(name, {}), weight=weight, move_cost=draw(st.sampled_from([0.0, 0.0, 0.3]))
        )
        for name, weight in zip(names, weights, strict=False)
    )
    limits = {"max_evictions": draw(st.integers(0, 8)), "deadline": 3.0}
    return Policy.model_validate(
        {"objectives": objectives, "limits": limits, "guidance": draw(st.sampled_from(list(Guidance)))}
    )


def planned(tiny: TinyCluster, policy: Policy) -> Plan:
    """The plan of one cycle."""
    return make_plan(request_for(tiny).prediction.columns.cluster, policy, CycleOptions(FakeClock()))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(tiny_clusters(), policies())
def test_no_plan_is_refused_by_the_checker(tiny: TinyCluster, policy: Policy) -> None:
    """Every prefix of waves is feasible, limits and budgets hold, and each value is what a second count finds."""
    plan = planned(tiny, policy)
    assert [text for text in plan.warnings if "checker" in text] == []
    assert [result.name for result in plan.objectives if result.value is not None]
    assert {result.name for result in plan.objectives} == {objective.name for objective in policy.objectives}
    assert len(plan.moves) <= policy.limits.max_evictions
