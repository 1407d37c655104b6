"""What would come of descheduler's victims: where their replacements land, and whom our own rules would not let go."""

from __future__ import annotations

import pytest
from msgspec import UNSET

from rescheduler.descheduler.foretelling import foretold_plan
from rescheduler.descheduler.own_rules import OwnRules
from rescheduler.descheduler.reading.policy_file import DeschedulerPolicy, read_descheduler_policy
from rescheduler.extension_points import ReschedulerError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.model.plan.foretold_plan import ForetoldPlan
from rescheduler.model.plan.plan import Landing
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import DEFAULTS
from tests.builders import budget, cluster, node, pod, selector, taint, workload
from tests.unit.policy.policies import policy as policy_of

TAINTS = """\
apiVersion: descheduler/v1alpha2
kind: DeschedulerPolicy
profiles:
- name: p
  pluginConfig: [{name: RemovePodsViolatingNodeTaints}, {name: DefaultEvictor, args: ARGS}]
  plugins: {deschedule: {enabled: [RemovePodsViolatingNodeTaints]}}
"""


def written(arguments: str = "{}") -> DeschedulerPolicy:
    """A policy that clears tainted nodes."""
    return read_descheduler_policy(TAINTS.replace("ARGS", arguments), "d.yaml")


def foretold(world: Cluster, policy: Policy | None = None, arguments: str = "{}") -> ForetoldPlan:
    """What it would do to a cluster."""
    return foretold_plan(world, written(arguments), DEFAULTS, OwnRules(policy or Policy()))


def standing(count: int, **fields: object) -> list[object]:
    """A tainted node with pods of one ReplicaSet, and the workload."""
    pods = [pod(f"web-{number}", node="a", owner="web", **fields) for number in range(count)]
    return [node("a", taints=[taint("x")]), *pods, workload("web", count)]


def test_a_replacement_goes_where_the_scheduler_puts_it() -> None:
    """The leaving pod still holds its room, earlier replacements have landed."""
    plan = foretold(cluster(*standing(2), node("b", cpu="1")))
    assert [(move.pod.name, move.landing, move.to_node) for move in plan.moves] == [
        ("web-0", Landing.OTHER_NODE, "b"),
        ("web-1", Landing.PENDING, None),
    ]
    assert "its replacement waits" in plan.moves[1].message
    assert "1 Insufficient cpu" in plan.moves[1].message


def test_a_replacement_may_come_back_to_its_own_node() -> None:
    """A PreferNoSchedule taint that is taken for a violation keeps nobody off."""
    text = TAINTS.replace("{name: RemovePodsViolatingNodeTaints}", "{name: RemovePodsViolatingNodeTaints, args: "
                          "{includePreferNoSchedule: true}}", 1).replace("ARGS", "{}")  # fmt: skip
    world = cluster(
        node("a", cpu="64", taints=[taint("x", effect="PreferNoSchedule")]),
        node("b", is_unschedulable=True),
        pod("web-0", node="a", owner="web"),
        pod("web-1", node="b", owner="web"),
        workload("web", 2),
    )
    plan = foretold_plan(world, read_descheduler_policy(text, "d.yaml"), DEFAULTS, OwnRules())
    assert [(move.landing, move.to_node) for move in plan.moves] == [(Landing.SAME_NODE, "a")]
    assert "comes back to its own node" in plan.moves[0].message


def test_a_member_of_a_stateful_set_is_gone_before_it_comes_back() -> None:
    """Its own room is free for it."""
    world = cluster(
        node("a", cpu="1", taints=[taint("x", effect="PreferNoSchedule")]),
        node("b", cpu="1", is_unschedulable=True),
        pod("db-0", node="a", owner="db", kind="StatefulSet"),
        pod("db-1", node="b", owner="db", kind="StatefulSet"),
        workload("db", 2, kind="StatefulSet"),
    )
    text = TAINTS.replace("{name: RemovePodsViolatingNodeTaints}", "{name: RemovePodsViolatingNodeTaints, args: "
                          "{includePreferNoSchedule: true}}", 1).replace("ARGS", "{}")  # fmt: skip
    plan = foretold_plan(world, read_descheduler_policy(text, "d.yaml"), DEFAULTS, OwnRules())
    assert [(move.landing, move.to_node) for move in plan.moves] == [(Landing.SAME_NODE, "a")]


def test_a_leaving_pod_does_not_count_for_spread() -> None:
    """It is terminating: its zone is empty then, and the replacement would be two more than that in the other zone."""
    rule = TopologySpreadConstraint(topology_key="zone", max_skew=1, selector=selector(app="web"))
    nodes = [node("a", taints=[taint("x")], labels={"zone": "y"}), node("b", labels={"zone": "x"})]
    pods = [
        pod("web-0", node="a", owner="web", topology_spread=(rule,), labels={"app": "web"}),
        pod("web-1", node="b", owner="web", labels={"app": "web"}),
    ]
    plan = foretold(cluster(*nodes, *pods, workload("web", 2)))
    assert [(move.pod.name, move.landing) for move in plan.moves] == [("web-0", Landing.PENDING)]


def test_nobody_makes_a_failed_pod_again_and_it_may_always_go() -> None:
    """Finished pods disturb nobody, whatever our own rules say of running ones."""
    text = TAINTS.replace("RemovePodsViolatingNodeTaints", "RemoveFailedPods").replace("ARGS", "{}")
    world = cluster(node("a"), node("b"), pod("web-0", node="a", owner="web", phase="Failed"), workload("web", 1))
    plan = foretold_plan(world, read_descheduler_policy(text, "d.yaml"), DEFAULTS, OwnRules())
    assert [(move.landing, move.to_node) for move in plan.moves] == [(Landing.NO_REPLACEMENT, None)]
    assert plan.refusals == ()


def test_our_own_rules_refuse_without_changing_the_walk() -> None:
    """A single replica stays with us; upstream's victim is named all the same."""
    plan = foretold(cluster(*standing(1), node("b")))
    assert plan.moves == ()
    (refusal,) = plan.refusals
    assert (refusal.rule, refusal.chosen_by, refusal.order) == ("SingleReplica", "RemovePodsViolatingNodeTaints", 1)
    assert refusal.server_would_refuse is UNSET
    assert plan.objectives[0].value == 1


def test_what_the_api_server_refuses_is_told_apart() -> None:
    """It is no victim, and counts for no plugin."""
    plan = foretold(cluster(*standing(2), node("b"), budget("web", 0)))
    assert [(refusal.rule, refusal.server_would_refuse) for refusal in plan.refusals] == [
        ("PodDisruptionBudget", True),
        ("PodDisruptionBudget", True),
    ]
    assert plan.objectives[0].value == 0


def test_a_workloads_floor_makes_waves_and_limits_bind_the_plan() -> None:
    """One of two replicas at a time; what is beyond the limit is refused by name."""
    world = cluster(*standing(3), node("b", cpu="8"))
    plan = foretold(world, policy_of("limits: {maxEvictions: 2}"))
    assert [(move.order, move.wave) for move in plan.moves] == [(1, 1), (2, 2)]
    assert [(refusal.order, refusal.rule) for refusal in plan.refusals] == [(3, "CycleLimits")]
    assert "limits.maxEvictions" in plan.refusals[0].message


def test_a_priority_class_that_is_absent_is_an_error() -> None:
    """Upstream does not start with it."""
    with pytest.raises(ReschedulerError, match="there is no PriorityClass gold"):
        foretold(cluster(*standing(1), node("b")), arguments="{priorityThreshold: {name: gold}}")
