"""Under guidance: Guide pods of full nodes change places; without it they stay."""

from __future__ import annotations

import msgspec
import pytest

from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.model.plan.plan import Plan, WaveMark
from rescheduler.policy.fields.policy import Guidance, Objective, Permission, Policy
from tests.builders import cluster, node, pod, selector, workload
from tests.clocks import FakeClock

ZONE = "topology.kubernetes.io/zone"
APART = {"sets": [{"name": "alone", "members": [{"matchLabels": {"app": "web"}}]}]}


def planned(world: Cluster, objective: str, guidance: str = "Guide", **fields: object) -> Plan:
    """The plan of one objective with a policy that lets everything move, and in which the checker finds no fault."""
    arguments = fields.pop("args", {})
    policy = Policy.model_validate(
        {
            "objectives": (Objective(name=objective, args=arguments),),  # type: ignore[arg-type]
            "guidance": Guidance(guidance),
            "disruption": {"workloads": {"max_unavailable": 5}, "single_replicas": Permission.ALLOW},
            **fields,
        }
    )
    plan = make_plan(world, policy, CycleOptions(FakeClock()))
    assert not [text for text in plan.warnings if "checker" in text]
    return plan


def one_core_left_on_each(*others: object) -> Cluster:
    """Two nodes with a core left on each: only if their pods change places are two cores free on one of them."""
    return cluster(
        node("n1", cpu="6"), node("n2", cpu="5"), pod("large-0", "5", node="n1"), pod("small-0", "4", node="n2"),
        workload("large", 1), workload("small", 1), *others,
    )  # fmt: skip


def two_kinds_on_full_nodes(**web: object) -> Cluster:
    """Both web pods on one full node, both others on the other one."""
    return cluster(
        node("n1", cpu="4", zone="a"), node("n2", cpu="4", zone="b"),
        *(pod(f"web-{number}", "2", node="n1", **web) for number in range(2)),  # type: ignore[arg-type]
        *(pod(f"db-{number}", "2", node="n2") for number in range(2)),
        workload("web", 2), workload("db", 2),
    )  # fmt: skip


SPREAD = {"topology_spread": (TopologySpreadConstraint(ZONE, 1, selector=selector(app="web")),)}
CASES = {
    "MakeRoom": (one_core_left_on_each(pod("x-0", "2")), {}),
    "Defragment": (one_core_left_on_each(), {"shapes": [{"cpu": "2"}]}),
    "EmptyNodes": (one_core_left_on_each(node("e", cpu="3"), pod("last-0", "2", node="e"), workload("last", 1)), {}),
    "SeparateAntagonists": (two_kinds_on_full_nodes(), APART),
    "FaultDomains": (two_kinds_on_full_nodes(**SPREAD), {}),
}


@pytest.mark.parametrize("objective", CASES)
def test_pods_of_full_nodes_change_places(objective: str) -> None:
    """Both leave in one wave before either arrives; each is led to its node, and the wave is listed."""
    world, args = CASES[objective]
    plan = planned(world, objective, args=args)
    swapped = [move for move in plan.moves if move.evict_first]
    assert {(move.from_node, move.to_node) for move in swapped} == {("n1", "n2"), ("n2", "n1")}
    assert len(swapped) == 2
    assert all(move.needs_guidance for move in swapped)
    assert plan.waves == (WaveMark(swapped[0].wave, evict_first=True),)
    assert {move.wave for move in swapped} == {swapped[0].wave}
    assert "2 pods leave before they arrive" in plan.objectives[0].message


@pytest.mark.parametrize("objective", CASES)
@pytest.mark.parametrize("guidance", ["Hold", "Predict"])
def test_otherwise_they_stay(objective: str, guidance: str) -> None:
    """With other guidance nothing helps, and a plan has neither a list of waves nor marks of moves."""
    world, args = CASES[objective]
    plan = planned(world, objective, guidance, args=args)
    assert plan.moves == ()
    assert b"waves" not in msgspec.json.encode(plan)


@pytest.mark.parametrize("objective", CASES)
def test_groups_bind_such_a_wave_as_any_other(objective: str) -> None:
    """Where the limit allows one eviction, nobody changes places."""
    world, args = CASES[objective]
    assert planned(world, objective, args=args, limits={"max_evictions": 1}).moves == ()


def test_two_of_one_workload_do_not_leave_at_once() -> None:
    """A workload that may miss one pod at a time cannot have both ends of a swap."""
    world = cluster(
        node("n1", cpu="6"), node("n2", cpu="5"), pod("a-0", "5", node="n1"), pod("a-1", "4", node="n2"),
        workload("a", 2), pod("x-0", "2"),
    )  # fmt: skip
    assert len(planned(world, "MakeRoom").moves) == 2
    assert planned(world, "MakeRoom", disruption={"workloads": {"max_unavailable": 1}}).moves == ()


def test_single_moves_are_preferred() -> None:
    """Where a third node has room, each pod arrives before it departs, though a swap would take no more evictions."""
    world = one_core_left_on_each(node("n3", cpu="5"), pod("x-0", "2"), pod("y-0", "1", node="n3"), workload("y", 1))
    plan = planned(world, "MakeRoom")
    assert plan.objectives[0].helped == 1
    assert not any(move.evict_first for move in plan.moves)


def test_three_pods_move_round() -> None:
    """Where only a ring of three makes room, it is one wave."""
    world = cluster(
        node("n1", cpu="6", labels={"a": "yes", "c": "yes"}), node("n2", cpu="5", labels={"a": "yes", "b": "yes"}),
        node("n3", cpu="5", labels={"b": "yes", "c": "yes"}),
        pod("a-0", "5", node="n1", node_selector=(("a", "yes"),)), workload("a", 1),
        pod("b-0", "4", node="n2", node_selector=(("b", "yes"),)), workload("b", 1),
        pod("c-0", "4", node="n3", node_selector=(("c", "yes"),)), workload("c", 1), pod("x-0", "2"),
    )  # fmt: skip
    plan = planned(world, "MakeRoom")
    assert [(move.pod.name, move.to_node, move.wave) for move in plan.moves] == [
        ("a-0", "n2", 1), ("b-0", "n3", 1), ("c-0", "n1", 1),
    ]  # fmt: skip
    assert [(place.node, place.wave) for place in plan.placements] == [("n1", 1)]
