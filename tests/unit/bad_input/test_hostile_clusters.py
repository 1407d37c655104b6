"""Odd clusters under every objective: no crash, no move of what must stay, no target that cannot be used."""

from __future__ import annotations

import math
from typing import Any

import pytest

from rescheduler.adapters.clock import SystemClock
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Disruption, Guidance, Limits, Objective, Policy, Workloads
from tests.builders import NOW, budget, cluster, node, pod, workload


def replicas(count: int, nodes: str = "ab", **fields: Any) -> list[Any]:
    """So many pods of one workload, dealt out to the nodes."""
    return [pod(f"p-{at}", node=nodes[at % len(nodes)], **fields) for at in range(count)] + [workload("p", count)]


PENDING = pod("x-0", "3")
LARGEST = "4503599627370"
ODD_PRICES = ("nan", "1e400", "-5", "", "x")
CLUSTERS = {
    "nothing": cluster(),
    "no-pods": cluster(node("a"), node("b")),
    "no-nodes": cluster(*replicas(2, "z"), PENDING),
    "one-node": cluster(node("a"), *replicas(3, "a")),
    "no-room-at-all": cluster(node("a", "0", "0", 0), node("b", "0", "0", 0), *replicas(3, "b")),
    "overfull": cluster(node("a", "1"), node("b", "1"), *replicas(5, "a")),
    "more-pods-than-allowed": cluster(node("a", pods=1), node("b", pods=1), *replicas(4), pod("x-0", "0", "0")),
    "all-cordoned": cluster(*(node(name, is_unschedulable=True) for name in "ab"), *replicas(4), PENDING),
    "not-ready": cluster(node("a", is_ready=False), node("b"), *replicas(3, "a")),
    "unusable": cluster(node("a", problem="found nothing"), node("b"), node("c"), *replicas(6, "abc"), PENDING),
    "all-virtual": cluster(*(node(name, labels={"type": "virtual-kubelet"}) for name in "ab"), *replicas(3), PENDING),
    "finished": cluster(node("a"), node("b"), *replicas(4, phase="Succeeded"), PENDING),
    "terminating": cluster(node("a"), node("b"), *replicas(4, deletion_at=NOW), PENDING),
    "critical": cluster(node("a"), node("b"), *replicas(4, priority=2_000_000_000), PENDING),
    "daemons": cluster(node("a"), node("b"), *replicas(4, kind="DaemonSet"), PENDING),
    "unmodelled": cluster(node("a"), node("b"), *replicas(4, unmodelled=("resource claims",)), PENDING),
    "another-scheduler": cluster(node("a"), node("b"), *replicas(4, scheduler_name="mine"), PENDING),
    "no-requests": cluster(node("a"), node("b"), *replicas(4, "a", cpu="0", memory="0")),
    "pods-on-unknown-nodes": cluster(node("a"), node("b"), *replicas(4, "az"), PENDING),
    "extreme-priorities": cluster(node("a"), node("b"), *replicas(4, priority=-(2**31)),
                                  pod("x-0", "3", priority=2**31 - 1)),
    "largest-amounts": cluster(*(node(name, LARGEST, "4503599627370496", 1_000_000) for name in "ab"),
                               *replicas(4, cpu="1501199875790"), pod("x-0", "3002399751580")),
    "pending-beyond-all": cluster(node("a"), node("b"), *replicas(4), pod("x-0", "100")),
    "no-replicas-wanted": cluster(node("a"), node("b"), *replicas(4)[:-1], workload("p", 0), PENDING),
    "very-many-wanted": cluster(node("a"), node("b"), *replicas(4)[:-1], workload("p", 2**31 - 1), PENDING),
    "prices-that-are-none": cluster(
        *(node(name, labels={"price": price}) for name, price in zip("abcde", ODD_PRICES, strict=True)),
        *replicas(5, "abcde")),
    "marks-that-are-none": cluster(node("a"), node("b"), *replicas(
        4, "aaab", labels={"app": "p", "rescheduler.dev/antagonists": ""},
        annotations={"rescheduler.dev/antagonists-until": "99999-01-01T00:00:00Z"})),
    "costs-that-are-none": cluster(node("a"), node("b"), *(
        pod(f"p-{at}", node="ab"[at % 2], annotations={"controller.kubernetes.io/pod-deletion-cost": cost})
        for at, cost in enumerate(("nan", "1e400", "-99999999999999999999", "x"))), workload("p", 4), PENDING),
    "budget": cluster(*(node(name, zone=f"z{name}") for name in "abc"), *replicas(6, "abc"), budget("p", 1)),
}  # fmt: skip

EVERYBODY: dict[str, Any] = {"name": "s", "members": [{}]}
OBJECTIVES: list[tuple[str, dict[str, Any]]] = [
    ("MakeRoom", {}),
    ("MakeRoom", {"allOrNothing": True, "together": "app"}),
    ("MakeRoom", {"prize": 2}),
    ("EmptyNodes", {}),
    ("EmptyNodes", {"nodeSelector": {"matchLabels": {"no": "such"}}, "price": {"label": "price"}}),
    ("EmptyNodes", {"price": {"default": 1e12}}),
    ("EmptyNodes", {"price": {"default": 0}}),
    ("SpreadLoad", {}),
    ("SpreadLoad", {"target": {"example.com/none": 0.5, "pods": 0.01, "cpu": 1e-12}, "statistic": "mean+999*std"}),
    ("SeparateAntagonists", {}),
    ("SeparateAntagonists", {"sets": [EVERYBODY, {"name": "t", "members": [{}, {}]}], "label": "app"}),
    ("SeparateAntagonists", {"sets": [{**EVERYBODY, "expires": "0001-01-01T00:00:00+14:00"}]}),
    ("SeparateAntagonists", {"sets": [{"name": "s", "members": [{"matchLabels": {"no": "such"}}]}]}),
    ("Defragment", {"shapes": [{"resources": {"pods": "5", "cpu": "1"}}, {"resources": {"example.com/none": "1"}}]}),
    ("Defragment", {"shapes": [{"resources": {"cpu": LARGEST}, "weight": 1e9}, {"resources": {"cpu": "0.0001"}}]}),
    ("FaultDomains", {}),
    ("SchedulerScore", {"minimumGain": 1e-9}),
]  # fmt: skip


def planned(found: Cluster, name: str, args: dict[str, Any], guidance: Guidance = Guidance.HOLD) -> Plan:
    """A plan within half a second; two pods of a workload may be unready at a time."""
    objective = Objective.model_validate({"name": name, "args": args})
    disruption = Disruption(workloads=Workloads(max_unavailable=2))
    policy = Policy(objectives=(objective,), guidance=guidance, limits=Limits(deadline=0.5), disruption=disruption)
    return make_plan(found, policy, CycleOptions(SystemClock()))


def must_stay(found: Cluster, each: Pod) -> bool:
    """Whether the contract forbids to move the pod, whatever the policy of these tests says."""
    at = found.node_by_name.get(each.node_name or "")
    is_marked = each.spec.priority >= 2_000_000_000 or bool(each.spec.unmodelled)
    is_daemon = any(owner.kind == "DaemonSet" for owner in each.owners)
    is_lost = at is None or at.problem is not None or at.is_virtual
    return is_lost or is_marked or is_daemon or each.is_finished or each.is_terminating


@pytest.mark.parametrize("world", CLUSTERS)
@pytest.mark.parametrize(("name", "args"), OBJECTIVES, ids=[f"{name}-{at}" for at, (name, _) in enumerate(OBJECTIVES)])
def test_no_objective_breaks_on_an_odd_cluster(world: str, name: str, args: dict[str, Any]) -> None:
    """Numbers are finite, the checker is content, what must stay stays, and no unusable node receives anything."""
    found = CLUSTERS[world]
    plan = planned(found, name, args)
    (objective,) = plan.objectives
    assert all(math.isfinite(number) for number in (objective.value, objective.bound, objective.gap)
               if isinstance(number, int | float))  # fmt: skip
    assert not [warning for warning in plan.warnings if "checker" in warning]
    assert not [move.pod.name for move in plan.moves if must_stay(found, found.pod_by_key[move.pod.key])]
    for target in {move.to_node for move in plan.moves} | {place.node for place in plan.placements}:
        at = found.node_by_name[target]
        assert at.problem is None
        assert at.is_ready
        assert not at.is_virtual
        assert not at.is_unschedulable


@pytest.mark.parametrize(
    ("name", "args"), [("MakeRoom", {}), ("EmptyNodes", {}), ("SpreadLoad", {}), ("FaultDomains", {})]
)
def test_nothing_unguided_breaks_on_odd_clusters(name: str, args: dict[str, Any]) -> None:
    """Under Predict no move needs guidance, on any of the clusters."""
    for found in CLUSTERS.values():
        plan = planned(found, name, args, Guidance.PREDICT)
        assert not [move for move in plan.moves if move.needs_guidance]
