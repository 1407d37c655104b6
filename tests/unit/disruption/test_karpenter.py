"""Beside Karpenter: whose nodes are whose to empty, and no taints that buy machines."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.disruption.karpenter import karpenter_warnings, taints_objection
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node_pool import NodePool
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload
from tests.clocks import FakeClock

LABEL = "karpenter.sh/nodepool"
OURS = NodePool("ours", "WhenEmpty", "30s")
THEIRS = NodePool("theirs")


def world(*pools: NodePool, pending: str | None = None) -> Cluster:
    """Of pool ours a and b, of pool theirs c and d, a pod of one core on each, two on b and d."""
    nodes = [node(name, "4", labels={LABEL: "ours" if name in "ab" else "theirs"}) for name in "abcd"]
    pods = [pod(f"web-{number}", node=name) for number, name in enumerate("abbcdd")]
    waiting = [pod("big-0", pending)] if pending else []
    return cluster(*nodes, *pods, *waiting, workload("web", 6), workload("big", 1), node_pools=pools or (OURS, THEIRS))


def policy(**fields: Any) -> Policy:
    """EmptyNodes within generous limits."""
    careless = {"rates": dict.fromkeys(("perHour", "perDay", "perWorkloadPerHour"), "unlimited"), "rampUp": "unlimited"}
    given = {"objectives": [{"name": "EmptyNodes"}], "disruption": {"workloads": {"maxUnavailable": 9}, **careless}}
    return Policy.model_validate_json(json.dumps({**given, **fields}))


def planned(seen: Cluster, asked: Policy, *, is_daemon: bool = True) -> Plan:
    """What ``run``, or else ``plan``, comes to."""
    plan = make_plan(seen, asked, CycleOptions(FakeClock(), is_daemon=is_daemon))
    assert not [text for text in plan.warnings if "checker" in text]
    return plan


def test_run_neither_empties_nor_fills_nodes_that_karpenter_consolidates() -> None:
    """They are neither source nor target of EmptyNodes, and each is named with its pool."""
    plan = planned(world(), policy())
    assert {move.from_node for move in plan.moves} == {"a"}
    assert {move.to_node for move in plan.moves} == {"b"}
    told = {item.node: item.message for item in plan.refusals if item.rule == "Autoscaler"}
    assert told.keys() == {"c", "d"}
    assert "NodePool theirs" in told["c"]
    assert "autoscaler.consolidation" in told["c"]


def test_a_policy_may_make_it_our_business() -> None:
    """``consolidation: Ours``: all pools as one."""
    plan = planned(world(), policy(autoscaler={"consolidation": "Ours"}))
    assert len({move.from_node for move in plan.moves}) > 1
    assert not [item for item in plan.refusals if item.rule == "Autoscaler"]


def test_a_person_is_warned_and_may_go_on() -> None:
    """``plan`` and ``apply`` plan with all nodes and say what ``run`` would do."""
    plan = planned(world(), policy(), is_daemon=False)
    assert len({move.from_node for move in plan.moves}) > 1
    assert any(text.startswith("run would leave 2 nodes out of EmptyNodes: c: ") for text in plan.warnings)


def test_other_objectives_go_on_in_karpenters_pools() -> None:
    """Room is made for a pending pod there as anywhere."""
    seen = world(NodePool("ours"), THEIRS, pending="4")
    plan = planned(seen, policy(objectives=[{"name": "MakeRoom"}, {"name": "EmptyNodes"}]))
    assert [item.pod.name for item in plan.placements] == ["big-0"]
    assert plan.objectives[0].value == 1
    assert plan.objectives[1].value == 0


def test_without_pools_nothing_changes() -> None:
    """A label alone says nothing; a snapshot that lacks NodePools says that it does."""
    seen = world()
    bare = cluster(*seen.nodes, *seen.pods, *seen.workloads)
    plan = planned(bare, policy())
    assert len({move.from_node for move in plan.moves}) > 1
    denied = cluster(*seen.nodes, *seen.pods, *seen.workloads, absent_kinds=frozenset({"NodePool"}))
    assert any("holds no NodePool" in text for text in planned(denied, policy()).warnings)
    elsewhere = cluster(node("n"), absent_kinds=frozenset({"NodePool"}))
    assert not [text for text in planned(elsewhere, policy()).warnings if "NodePool" in text]


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"guidance": "Taint"}, "guidance: Taint"),
        ({"autoscaler": {"scaleDown": "Taint"}}, "autoscaler.scaleDown: Taint"),
        (
            {"guidance": "Taint", "autoscaler": {"scaleDown": "Taint"}},
            "guidance: Taint and autoscaler.scaleDown: Taint",
        ),
    ],
)
def test_taints_that_would_buy_machines_are_refused(fields: dict[str, Any], named: str) -> None:
    """The plan says so; the sentence names what asks for them and what lets them."""
    objection = taints_objection(world(), policy(**fields))
    assert objection is not None
    assert objection.startswith(f"{named}: ")
    assert "autoscaler.taints: Allow" in objection
    assert f"apply and run refuse this: {objection}" in planned(world(), policy(**fields), is_daemon=False).warnings


def test_taints_are_let_by_the_policy_and_where_karpenter_is_not() -> None:
    """Nothing is bought without NodePools."""
    asked = policy(guidance="Taint", autoscaler={"taints": "Allow"})
    assert taints_objection(world(), asked) is None
    assert taints_objection(cluster(node("a")), policy(guidance="Taint")) is None
    assert taints_objection(world(), policy()) is None


def test_run_has_no_warnings_of_what_it_refuses_itself() -> None:
    """Where ``plan`` has one."""
    assert list(karpenter_warnings(world(), policy(), is_daemon=False))
    assert list(karpenter_warnings(world(), policy(), is_daemon=True)) == []
