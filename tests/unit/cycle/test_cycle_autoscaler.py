"""One cycle beside an autoscaler: pods and objectives that are left to it, nodes that nobody may take."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload
from tests.clocks import FakeClock

WORLD = cluster(
    node("a"), node("b"), node("c"),
    *(pod(f"web-{number}", "1", node=where) for number, where in enumerate("aabbc")),
    workload("web", 5), pod("big-0", "3"), pod("big-1", "3"),
)  # fmt: skip


def planned(world: Any = WORLD, *objectives: str, **options: Any) -> Plan:
    """A plan under a policy that lets everything move."""
    named = [{"name": name} for name in objectives or ("MakeRoom", "EmptyNodes")]
    policy = Policy.model_validate(
        {"objectives": named, "disruption": {"workloads": {"max_unavailable": 5}}}, strict=False
    )
    plan = make_plan(world, policy, CycleOptions(FakeClock(), **options))
    assert not [text for text in plan.warnings if "checker" in text]
    return plan


def test_pods_that_are_left_to_the_autoscaler_are_not_helped() -> None:
    """They are not wanted, and stand among the refusals with the reason."""
    plan = planned(left={"uid-default-big-0": "gets a node"})
    assert (plan.objectives[0].helped, plan.objectives[0].wanted) == (1, 1)
    [refusal] = [item for item in plan.refusals if item.rule == "Autoscaler"]
    assert refusal.message == "default/big-0 gets a node"


def test_objectives_that_wait_are_left_out_and_named() -> None:
    """Also where none is left."""
    plan = planned(waiting={"EmptyNodes": "a node has come"})
    assert [item.name for item in plan.objectives] == ["MakeRoom"]
    assert "EmptyNodes waits: a node has come" in plan.warnings
    nothing = planned(WORLD, "EmptyNodes", waiting={"EmptyNodes": "a node has come"})
    assert (nothing.objectives, nothing.moves, nothing.placements) == ((), (), ())


def test_nodes_that_nobody_may_take_are_not_emptied() -> None:
    """They stay in use, receive pods as any other, and are named with their mark."""
    marks = ("cluster-autoscaler.kubernetes.io/scale-down-disabled", "karpenter.sh/do-not-disrupt")
    for mark in marks:
        kept = replace(node("c"), annotations={mark: "true"})
        world = cluster(
            node("a"), node("b"), kept, workload("web", 4),
            *(pod(f"web-{number}", "1", node=where) for number, where in enumerate("aabc")),
        )  # fmt: skip
        plan = planned(world, "EmptyNodes")
        assert plan.objectives[0].value == 2
        assert not [move for move in plan.moves if move.from_node == "c" and move.reason == "empties c"]
        [refusal] = [item for item in plan.refusals if item.rule == "KeptNode"]
        assert (refusal.node, refusal.message) == (
            "c", f'c is not emptied, since nobody may take it away ({mark}: "true")'
        )  # fmt: skip
    plain = replace(node("c"), annotations={marks[0]: "false"})
    assert not [item for item in planned(cluster(plain, node("a"), pod("web-0", node="c")), "EmptyNodes").refusals
                if item.rule == "KeptNode"]  # fmt: skip
