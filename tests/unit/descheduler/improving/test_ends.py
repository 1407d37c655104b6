"""For each plugin the end that it is after, reached by moves that land, with descheduler's own figures beside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import (
    NodeAffinityRules,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    TopologySpreadConstraint,
)
from rescheduler.model.objects.measured_use import MeasuredUse, QueryAnswer
from rescheduler.model.objects.pod_detail import ContainerDetail, PodDetail
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.plan.foretold_plan import Landing
from rescheduler.model.plan.plan import Plan, Status, Upstream
from tests.builders import cluster, node, pod, selector, taint, workload
from tests.unit.descheduler.improving.improved import improved, landed, only, written

LOW: dict[str, Any] = {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 50}}


def moved(plan: Plan) -> dict[str, str]:
    """Where each pod goes."""
    assert plan.moves, (plan.objectives, plan.refusals, plan.warnings)
    return {move.pod.name: move.to_node for move in plan.moves}


def beside(plan: Plan) -> Upstream:
    """Descheduler's own figures."""
    found = only(plan).upstream
    assert isinstance(found, Upstream)
    return found


def test_low_node_utilization_relieves_by_the_fewest_evictions() -> None:
    """One large pod is enough, where descheduler lets small ones of lower rank go first."""
    pods = [pod(f"small-{number}", "500m", node="a", owner=f"s{number}", priority=0) for number in range(3)]
    world = cluster(node("a"), node("b"), *pods, pod("large", "1500m", node="a", owner="l", priority=100))
    plan = improved(world, written("LowNodeUtilization", LOW))
    assert moved(plan) == {"large": "b"}
    assert (only(plan).status, only(plan).value) == (Status.OPTIMAL, 0)
    assert beside(plan).evictions == 2
    assert beside(plan).goal == 0


def test_low_node_utilization_goes_by_measured_use() -> None:
    """By requests nothing is above the target; by samples one node is, and its busiest pod leaves."""
    pods = [pod(f"web-{number}", "10m", node="a", owner=f"w{number}") for number in range(4)]
    used = {f"default/web-{number}": {CPU: amount, MEMORY: 1} for number, amount in enumerate([100, 100, 100, 2000])}
    measured = MeasuredUse({"a": {CPU: 2300, MEMORY: 4}, "b": {CPU: 0, MEMORY: 0}}, used)
    world = replace(cluster(node("a"), node("b"), *pods), measured=measured)
    arguments = {**LOW, "metricsUtilization": {"source": "KubernetesMetrics"}}
    plan = improved(world, written("LowNodeUtilization", arguments, metricsProviders=[{"source": "KubernetesMetrics"}]))
    assert moved(plan) == {"web-3": "b"}


def test_low_node_utilization_shares_out_what_prometheus_says_of_a_node() -> None:
    """What a pod has of the one number is taken from its requests."""
    pods = [pod(f"web-{number}", f"{number}", node="a", owner=f"w{number}") for number in (1, 3)]
    answers = {"q": QueryAnswer({"a": 0.9, "b": 0.1})}
    world = replace(cluster(node("a"), node("b"), *pods), measured=MeasuredUse(answers=answers))
    arguments = {
        "thresholds": {"MetricResource": 30},
        "targetThresholds": {"MetricResource": 70},
        "metricsUtilization": {"source": "Prometheus", "prometheus": {"query": "q"}},
    }
    providers = [{"source": "Prometheus", "prometheus": {"url": "http://127.0.0.1:9"}}]
    assert moved(improved(world, written("LowNodeUtilization", arguments, metricsProviders=providers))) == {
        "web-1": "b"
    }


def test_nothing_moves_where_the_plugin_finds_nothing_to_do() -> None:
    """Its own reason is the message."""
    world = cluster(node("a"), node("b"), pod("x", "3", node="a"), pod("y", "2", node="b"))
    plan = improved(world, written("LowNodeUtilization", LOW))
    assert plan.moves == ()
    assert only(plan).message == "no node is below thresholds"


def test_high_node_utilization_empties_whole_nodes_and_begins_none_in_vain() -> None:
    """Of two nodes below thresholds the one whose pods all find room is emptied; the other keeps all of its pods."""
    world = cluster(
        node("a"), node("b"), node("c"), pod("x", "500m", node="a"), pod("y", "500m", node="b"),
        pod("kept", "100m", node="b", owner=None), pod("z", "3", node="c"), *(workload(name, 1) for name in "xyz"),
    )  # fmt: skip
    plan = improved(world, written("HighNodeUtilization", {"thresholds": {"cpu": 20}}))
    assert [move.from_node for move in plan.moves] == ["a"]
    assert only(plan).value == 1
    assert beside(plan).evictions == 2


def test_duplicates_go_where_fewer_than_their_share_stand() -> None:
    """Three of one ReplicaSet on one node of three: two leave, each to a node of its own."""
    world = cluster(
        *(node(name) for name in "abc"), *(pod(f"web-{n}", node="a", owner="web") for n in range(3)), workload("web", 3)
    )
    plan = improved(world, written("RemoveDuplicates"))
    assert sorted(moved(plan).values()) == ["b", "c"]
    assert only(plan).value == 0


def test_topology_spread_counts_as_the_scheduler_does() -> None:
    """Pods that nobody may evict count too; the skew is repaired by one move."""
    rule = TopologySpreadConstraint(
        topology_key="topology.kubernetes.io/zone", max_skew=1, selector=selector(app="web")
    )
    pods = [pod(f"web-{n}", node="a", owner="web", topology_spread=(rule,)) for n in range(3)]
    other = pod("web-3", node="b", owner="web", topology_spread=(rule,))
    world = cluster(node("a", zone="x"), node("b", zone="y"), *pods, other, workload("web", 4))
    plan = improved(world, written("RemovePodsViolatingTopologySpreadConstraint"))
    assert list(moved(plan).values()) == ["b"]
    assert only(plan).value == 0


def test_anti_affinity_is_repaired_by_the_fewest_pods() -> None:
    """Of three pods of which one repels both others, that one leaves; descheduler takes it as well, or worse."""
    term = PodAffinityTerm(topology_key="kubernetes.io/hostname", selector=selector(app="web"))
    pods = [pod(f"web-{n}", node="a", owner="web") for n in range(2)]
    lone = pod("lone", node="a", owner="lone", anti_affinity=(term,))
    world = cluster(node("a"), node("b"), *pods, lone, workload("web", 2), workload("lone", 1))
    plan = improved(world, written("RemovePodsViolatingInterPodAntiAffinity"))
    assert moved(plan) == {"lone": "b"}
    assert only(plan).value == 0


def test_a_pod_on_a_tainted_node_without_a_right_one_is_left_and_said() -> None:
    """The first fills the only other node; the second stays, with the reason, where descheduler lets it wait."""
    pods = [pod(f"web-{n}", node="a", owner="web") for n in range(2)]
    world = cluster(node("a", taints=[taint("x")]), node("b", cpu="1"), *pods, workload("web", 2))
    file = written("RemovePodsViolatingNodeTaints")
    plan = improved(world, file)
    assert len(plan.moves) == 1
    assert (only(plan).value, only(plan).bound) == (1, 1)
    assert [refusal.rule for refusal in plan.refusals] == ["NoBetterNode"]
    assert landed(world, file) == [Landing.OTHER_NODE, Landing.PENDING]
    assert (beside(plan).evictions, beside(plan).waiting, beside(plan).goal) == (2, 1, 1)


def test_preferred_affinity_moves_only_to_a_strictly_better_node() -> None:
    """Full better nodes are no reason to leave, which descheduler does again and again."""
    wish = PreferredNodeTerm(weight=5, term=NodeSelectorTerm((Requirement("disk", "In", ("ssd",)),)))
    liking = {"node_affinity": NodeAffinityRules(preferred=(wish,))}
    arguments = {"nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"]}
    full = cluster(
        node("a"), node("b", labels={"disk": "ssd"}, cpu="1"), node("c"), pod("web", node="a", **liking),
        pod("block", node="b"), workload("web", 1), workload("block", 1),
    )  # fmt: skip
    file = written("RemovePodsViolatingNodeAffinity", arguments)
    plan = improved(full, file)
    assert plan.moves == () or moved(plan).get("web") == "b"
    free = cluster(node("a"), node("b", labels={"disk": "ssd"}), pod("web", node="a", **liking), workload("web", 1))
    assert moved(improved(free, file)) == {"web": "b"}


@pytest.mark.parametrize(
    ("plugin", "arguments"),
    [
        ("RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 5}),
        ("PodLifeTime", {"states": ["Running"], "labelSelector": {"matchLabels": {"app": "old"}}}),
    ],
)
def test_victims_by_state_are_the_end_and_go_elsewhere(plugin: str, arguments: dict[str, Any]) -> None:
    """The same victims, in our waves; none comes back to its node."""
    old = [pod(f"old-{n}", node="a", owner="old") for n in range(2)]
    world = cluster(node("a"), node("b"), *old, pod("young", node="a", owner="young"), workload("old", 2))
    details = {item.key: PodDetail(containers=(ContainerDetail(restart_count=9),)) for item in old}
    world = replace(world, pod_details=details)
    plan = improved(world, written(plugin, arguments))
    assert moved(plan) == {"old-0": "b", "old-1": "b"}
    assert only(plan).value == 0


def test_finished_pods_are_named_and_no_moves() -> None:
    """Nothing moves when they are removed."""
    failed = structs.replace(pod("done", node="a", owner="job"), phase="Failed")
    world = cluster(node("a"), node("b"), failed)
    plan = improved(world, written("RemoveFailedPods", {"minPodLifetimeSeconds": 0}))
    assert plan.moves == ()
    assert [(refusal.rule, refusal.pod.name) for refusal in plan.refusals if refusal.pod] == [("Finished", "done")]


def test_what_the_file_protects_and_limits_binds_us_too() -> None:
    """DefaultEvictor, namespaces and limits are those of the file."""
    pods = [pod(f"web-{n}", node="a", owner="web") for n in range(3)]
    world: Cluster = cluster(node("a", taints=[taint("x")]), node("b"), *pods, workload("web", 3))
    plugin = "RemovePodsViolatingNodeTaints"
    assert len(improved(world, written(plugin)).moves) == 3
    assert len(improved(world, written(plugin, maxNoOfPodsToEvictTotal=1)).moves) == 1
    assert improved(world, written(plugin, {"namespaces": {"exclude": ["default"]}})).moves == ()
    protected = written(plugin, evictor={"labelSelector": {"matchLabels": {"app": "other"}}})
    plan = improved(world, protected)
    assert plan.moves == ()
    assert {refusal.rule for refusal in plan.refusals} == {"DefaultEvictor"}


def test_with_fewer_than_two_nodes_each_plugin_says_that_nothing_is_done() -> None:
    """As in descheduler's own cycle."""
    plan = improved(cluster(node("a", taints=[taint("x")]), pod("web", node="a")), written("RemoveDuplicates"))
    assert plan.moves == ()
    assert "with fewer than 2 nothing is done" in only(plan).message
