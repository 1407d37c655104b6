"""For each plugin the end that it is after, reached by moves that land, with descheduler's own figures beside."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.objects.annotations import DO_NOT_EVICT
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import (
    NodeAffinityRules,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    TopologySpreadConstraint,
)
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.pod_detail import ContainerDetail, PodDetail
from rescheduler.model.objects.resources import CPU, MEMORY
from rescheduler.model.plan.foretold_plan import Landing
from rescheduler.model.plan.plan import Plan, Status, Upstream
from rescheduler.model.usage.measured_use import MeasuredUse, QueryAnswer
from rescheduler.report.documents import to_data
from rescheduler.report.plan.headline import beside as beside_in_words
from tests.builders import cluster, node, pod, selector, taint, workload
from tests.unit.descheduler.improving.improved import PERMISSIVE, improved, landed, only, written

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


def test_a_landing_that_pushes_a_node_above_the_target_is_told_beside() -> None:
    """Two large victims land on one node, which is too hot then; the plan needs more evictions and heats none."""
    hot = {"app0-0": "1500m", "app0-1": "1500m", "app0-3": "100m", "app2-0": "100m", "app2-1": "1500m"}
    cool = {"app0-2": "100m", "app1-0": "1500m"}
    pods = [
        pod(name, cpu, node=where, owner=name[:4])
        for where, some in (("n1", hot), ("n0", cool))
        for name, cpu in some.items()
    ]
    owners = (workload("app0", 4), workload("app1", 1), workload("app2", 2))
    world = cluster(*(node(f"n{number}", cpu="4", zone="x") for number in range(3)), *pods, *owners)
    low = {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 60}}
    plan = improved(world, written("LowNodeUtilization", low, evictor={"nodeFit": False}))
    assert (beside(plan).evictions, beside(plan).pushed_above) == (2, 1)
    assert len(plan.moves) == 3
    assert only(plan).value == pytest.approx(beside(plan).goal)
    assert "1 node pushed above the target" in beside_in_words(only(plan))


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


def finished(name: str, phase: str = "Failed", **given: Any) -> Pod:
    """A pod that has finished on node a."""
    return structs.replace(pod(name, node="a", owner="job", **given), phase=phase)


FAILED = written("RemoveFailedPods", {"minPodLifetimeSeconds": 0})


def test_finished_pods_are_evictions_without_destination() -> None:
    """In a first wave: descheduler's own victims, whose going moves nothing and disturbs nobody."""
    world = cluster(node("a"), node("b"), finished("done"), finished("fine", "Succeeded"), pod("web", node="a"))
    plan = improved(world, FAILED)
    (move,) = plan.moves
    assert (move.pod.name, move.from_node, move.destination, move.landing) == (
        "done",
        "a",
        None,
        Landing.NO_REPLACEMENT,
    )
    assert (move.wave, move.objective) == (1, "RemoveFailedPods")
    assert to_data(plan)["moves"][0]["toNode"] is None
    assert (only(plan).value, beside(plan).goal) == (0, 0)
    by_age = improved(world, written("PodLifeTime", {"maxPodLifeTimeSeconds": 1, "states": ["Succeeded"]}))
    assert [move.pod.name for move in by_age.moves] == ["fine"]


def test_finished_pods_go_before_the_waves_of_others() -> None:
    """Nobody waits for anything of theirs."""
    old = [pod(f"old-{n}", node="a", owner="old") for n in range(2)]
    world = cluster(node("a"), node("b"), *old, finished("done"), workload("old", 2))
    plan = improved(world, written("PodLifeTime", {"maxPodLifeTimeSeconds": 1}))
    assert [(move.pod.name, move.destination) for move in plan.moves if move.wave == 1] == [("done", None)]
    assert {move.destination for move in plan.moves if move.wave > 1} == {"b"}
    assert len(plan.moves) == 3


def test_our_own_rules_and_limits_bind_finished_pods() -> None:
    """What is left alone is refused with its rule and counts against the end; moves share the limits with them."""
    kept = finished("kept", annotations={DO_NOT_EVICT: "true"})
    world = cluster(node("a"), node("b"), kept, *(finished(f"done-{n}") for n in range(3)))
    plan = improved(world, FAILED)
    assert [move.pod.name for move in plan.moves] == ["done-0", "done-1", "done-2"]
    assert [(refusal.rule, refusal.pod.name) for refusal in plan.refusals if refusal.pod] == [("DoNotEvict", "kept")]
    assert (only(plan).value, only(plan).bound) == (1, 1)
    for limit in ("maxEvictions", "maxEvictionsPerNode", "maxEvictionsPerNamespace"):
        limited = improved(world, FAILED, f"limits: {{{limit}: 2}}")
        assert [move.pod.name for move in limited.moves] == ["done-0", "done-1"]
        assert [item.rule for item in limited.refusals if item.pod and item.pod.name == "done-2"] == ["CycleLimits"]
        assert only(limited).value == 2
    old = [pod(f"old-{n}", node="a", owner="old") for n in range(2)]
    both = cluster(node("a"), node("b"), *old, finished("done"), workload("old", 2))
    by_age = written("PodLifeTime", {"maxPodLifeTimeSeconds": 1}, maxNoOfPodsToEvictTotal=2)
    assert len(improved(both, by_age).moves) == 2


def test_pods_chosen_for_their_state_need_not_be_ready() -> None:
    """Those that restart again and again hardly ever are; others that are not Ready stay, by our own rules."""
    careful = PERMISSIVE.replace("notReady: Allow, ", "")
    crashing = [
        structs.replace(pod(f"bad-{n}", node="a", owner="bad"), is_ready=False, trouble="CrashLoopBackOff")
        for n in range(2)
    ]
    world = cluster(node("a", taints=[taint("x")]), node("b"), *crashing, workload("bad", 2))
    details = {"default/bad-0": PodDetail(containers=(ContainerDetail(restart_count=9),))}
    world = replace(world, pod_details=details)
    plan = improved(world, written("RemovePodsHavingTooManyRestarts", {"podRestartThreshold": 5}), careful)
    assert [(move.pod.name, move.to_node) for move in plan.moves] == [("bad-0", "b")]
    plan = improved(world, written("RemovePodsViolatingNodeTaints"), careful)
    assert plan.moves == ()
    assert {refusal.rule for refusal in plan.refusals} == {"NotReady"}


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
