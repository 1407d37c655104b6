"""Any objectives under any budgets with rates on any small cluster: no plan takes more than a budget leaves."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.checker.limits import check_groups
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.eligibility import decide_eligibility
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan, Status
from rescheduler.policy.fields.policy import Policy
from tests.builders import PLENTY
from tests.clocks import FakeClock
from tests.unit.disruption.cases import policy
from tests.unit.planning.brute_force import TinyCluster, TinyNode, TinyPod
from tests.unit.planning.tiny import as_cluster

ARGUMENTS: dict[str, dict[str, Any]] = {
    "Defragment": {"shapes": [{"cpu": "2", "weight": 2}, {"memory": "3Gi"}]},
    "SpreadLoad": {"target": {"cpu": 0.5}},
    "SeparateAntagonists": {"sets": [{"name": "all", "members": [{}]}]},
}
OBJECTIVES = [
    ["MakeRoom", "EmptyNodes"],
    ["EmptyNodes", "SpreadLoad"],
    ["FaultDomains", "EmptyNodes", "Defragment"],
    ["SpreadLoad"],
    ["SeparateAntagonists"],
    ["Defragment"],
]
ENDLESS = f"{PLENTY:.0f}s"
OPEN = {"singleReplicas": "Allow", "workloads": {"maxUnavailable": 9}}


@st.composite
def crowds(draw: st.DrawFn) -> TinyCluster:
    """Small pods of two workloads all over a few nodes, and perhaps a pending pod for which several must go."""
    count = draw(st.integers(3, 4))
    pods = [
        TinyPod(1, draw(st.sampled_from("ppq")), number)
        for number in range(count)
        for _ in range(draw(st.integers(1, 3)))
    ]
    pods += [TinyPod(4, "s", None) for _ in range(draw(st.integers(0, 1)))]
    return TinyCluster(tuple(TinyNode(5, draw(st.sampled_from("ab"))) for _ in range(count)), tuple(pods))


@st.composite
def budgets(draw: st.DrawFn) -> dict[str, Any]:
    """One budget: a rate, and perhaps a limit at once, over any pods, counted for anything."""
    found: dict[str, Any] = {
        "per": draw(st.sampled_from(["Cluster", "Cluster", "Node", "Zone", "Namespace", "Workload", "Workload"])),
        "rate": {"maxEvictions": draw(st.sampled_from([0, 1, 1, 1, 1, 2, 2, 3])), "window": "1h"},
    }
    operator = draw(st.sampled_from([None, "In", "In", "NotIn"]))
    if operator:
        rule = {"key": "app", "operator": operator, "values": [draw(st.sampled_from("pq"))]}
        found["labelSelector"] = {"matchExpressions": [rule]}
    if draw(st.integers(0, 3)) == 0:
        found[draw(st.sampled_from(["maxUnavailable", "maxMoving"]))] = draw(st.sampled_from([1, 2, "50%"]))
    return found


@st.composite
def rationed(draw: st.DrawFn) -> Policy:
    """A policy of one or two objectives with up to three budgets."""
    names = draw(st.sampled_from([["EmptyNodes"], *OBJECTIVES]))
    weight = draw(st.sampled_from([None, 1.0]))
    return policy(
        objectives=[{"name": name, "args": ARGUMENTS.get(name, {}), "weight": weight} for name in names],
        disruption={**OPEN, "budgets": draw(st.lists(budgets(), min_size=1, max_size=2))},
        limits={"deadline": ENDLESS},
        guidance=draw(st.sampled_from(["Hold", "Hold", "Predict"])),
    )


def planned(cluster: Cluster, wanted: Policy) -> Plan:
    """The plan of one cycle."""
    return make_plan(cluster, wanted, CycleOptions(FakeClock()))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(crowds(), rationed())
def test_no_plan_takes_more_than_a_budget_leaves(tiny: TinyCluster, wanted: Policy) -> None:
    """Rates bind every plan of every objective, in the checker's eyes too, and no value passes its bound."""
    cluster = as_cluster(tiny)
    plan = planned(cluster, wanted)
    assert [text for text in plan.warnings if "checker" in text] == []
    eligibility = decide_eligibility(cluster, wanted)
    assert list(check_groups(cluster, plan, eligibility)) == []
    moved = {move.pod.key for move in plan.moves}
    for group in eligibility.groups:
        if group.allowed_in_plan is not None:
            assert sum(cluster.pods[index].key in moved for index in group.pods) <= group.allowed_in_plan


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(crowds(), st.sampled_from(["MakeRoom", "EmptyNodes"]), st.integers(1, 3))
def test_a_rate_over_all_pods_is_a_limit_of_the_plan(tiny: TinyCluster, name: str, most: int) -> None:
    """It reaches and proves just what ``limits.maxEvictions`` of the same number does."""
    cluster = as_cluster(tiny)
    objectives = [{"name": name}]
    by_limit = policy(objectives=objectives, disruption=OPEN, limits={"maxEvictions": most, "deadline": ENDLESS})
    rate = {"rate": {"maxEvictions": most, "window": "1h"}}
    by_rate = policy(
        objectives=objectives,
        disruption={**OPEN, "budgets": [rate]},
        limits={"maxEvictions": 20, "deadline": ENDLESS},
    )
    (limited,), (rated,) = planned(cluster, by_limit).objectives, planned(cluster, by_rate).objectives
    assert (rated.status, rated.value, rated.bound, rated.helped) == (
        limited.status, limited.value, limited.bound, limited.helped
    )  # fmt: skip


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(crowds(), st.sampled_from("pq"), st.integers(0, 2))
def test_what_is_called_optimal_under_a_ration_is_no_worse_than_with_fewer_pods(
    tiny: TinyCluster, app: str, most: int
) -> None:
    """A plan within a smaller budget is within a larger one too: OPTIMAL may not be passed by it."""
    cluster = as_cluster(tiny)

    def emptied(number: int) -> Any:
        budget = {"labelSelector": {"matchLabels": {"app": app}}, "rate": {"maxEvictions": number, "window": "1h"}}
        wanted = policy(
            objectives=[{"name": "EmptyNodes"}],
            disruption={**OPEN, "budgets": [budget]},
            limits={"deadline": ENDLESS},
        )
        (objective,) = planned(cluster, wanted).objectives
        return objective

    smaller, larger = emptied(most), emptied(most + 1)
    assert larger.bound is None or larger.bound >= smaller.value
    if larger.status is Status.OPTIMAL:
        assert larger.value >= smaller.value
