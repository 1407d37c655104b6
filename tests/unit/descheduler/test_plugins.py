"""Each plugin on a small cluster: whom it chooses, in which order, and what it does not look at."""

from __future__ import annotations

from typing import Any

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import (
    NodeAffinityRules,
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    Requirement,
    TopologySpreadConstraint,
)
from rescheduler.model.objects.pod_detail import ContainerDetail, PodCondition, PodDetail
from tests.builders import NOW, cluster, node, pod, selector, taint
from tests.unit.descheduler.walking import victims, walk

LOW = {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 50}}


def stacked(**fields: Any) -> Cluster:
    """A node with three pods of 1 cpu of its 4, and an empty one."""
    return cluster(node("a"), node("b"), *(pod(f"web-{number}", node="a", **fields) for number in range(3)))


def detailed(found: Cluster, **details: PodDetail) -> Cluster:
    """The same with details of pods by name."""
    from dataclasses import replace

    return replace(found, pod_details={f"default/{name.replace('_', '-')}": item for name, item in details.items()})


def on_disk(value: str) -> NodeSelectorTerm:
    """Nodes with this disk."""
    return NodeSelectorTerm((Requirement("disk", "In", (value,)),))


def test_low_node_utilization_stops_at_the_target() -> None:
    """75 % of the cpu above 50 %: one pod is enough, by the lowest priority first."""
    assert victims(stacked(), "LowNodeUtilization", LOW) == ["web-0"]
    mixed = cluster(
        node("a"), node("b"), pod("x-1", node="a", priority=5), pod("y-1", node="a", priority=1), pod("z-1", node="a")
    )
    assert victims(mixed, "LowNodeUtilization", LOW) == ["z-1"]


def test_low_node_utilization_says_why_it_does_nothing() -> None:
    """No node below, all below, too few below, none above."""
    level = cluster(node("a"), node("b"), *(pod(f"w-{n}", "2", node=name) for n, name in enumerate("ab")))
    assert "no node is below" in walk(level, "LowNodeUtilization", LOW).runs[0].message
    assert "all nodes" in walk(cluster(node("a"), node("b")), "LowNodeUtilization", LOW).runs[0].message
    assert "numberOfNodes" in walk(stacked(), "LowNodeUtilization", {**LOW, "numberOfNodes": 1}).runs[0].message
    calm = cluster(node("a"), node("b"), pod("w-1", "2", node="a"))
    assert "no node is there above" in walk(calm, "LowNodeUtilization", LOW).runs[0].message


def test_low_node_utilization_asks_for_taints_more_strictly_than_the_scheduler() -> None:
    """A PreferNoSchedule taint on the only target keeps everybody where he is."""
    soft = cluster(node("a"), node("b", taints=[taint("x", effect="PreferNoSchedule")]), *stacked().pods)
    assert victims(soft, "LowNodeUtilization", LOW) == []


def test_deviation_thresholds_go_round_the_mean() -> None:
    """Mean 37.5 %: below 27.5 and above 47.5."""
    around = {"useDeviationThresholds": True, "thresholds": {"cpu": 10}, "targetThresholds": {"cpu": 10}}
    assert victims(stacked(), "LowNodeUtilization", around) == ["web-0", "web-1"]


def test_eviction_limits_of_a_node() -> None:
    """At most so many from one node in one run."""
    packed = cluster(node("a"), node("b", cpu="8"), *(pod(f"w-{n}", "1", node="a") for n in range(4)))
    assert len(victims(packed, "LowNodeUtilization", LOW)) == 2
    assert len(victims(packed, "LowNodeUtilization", {**LOW, "evictionLimits": {"node": 1}})) == 1


def test_high_node_utilization_begins_nodes_that_it_cannot_finish() -> None:
    """From the least used on, while the others have room together, wherever it lies."""
    world = cluster(
        node("a"), node("b"), node("c", cpu="4"), pod("x-1", "1", node="a"), pod("y-1", "1", node="b"),
        pod("z-1", "2", node="c"), pod("z-2", "1", node="c"),
    )  # fmt: skip
    assert victims(world, "HighNodeUtilization", {"thresholds": {"cpu": 30}}) == ["x-1"]


def test_only_thresholding_resources() -> None:
    """Pods that ask for none of the keys stay."""
    world = cluster(
        node("a", extended={"gpu": "4"}), node("b", extended={"gpu": "1"}), pod("x-1", node="a"),
        pod("y-1", node="a", extended={"gpu": "1"}), pod("z-1", node="b", extended={"gpu": "1"}),
        node("c", extended={"gpu": "8"}), pod("w-1", node="c", extended={"gpu": "4"}),
    )  # fmt: skip
    only = {"thresholds": {"gpu": 30}, "evictionModes": ["OnlyThresholdingResources"]}
    assert victims(world, "HighNodeUtilization", only) == ["y-1"]


def test_duplicates_keep_an_even_share_on_each_node() -> None:
    """Three replicas on two nodes: two may stay together."""
    assert victims(stacked(), "RemoveDuplicates") == ["web-2"]
    assert victims(stacked(), "RemoveDuplicates", {"excludeOwnerKinds": ["ReplicaSet"]}) == []
    closed = cluster(node("a"), node("b", taints=[taint("x")]), *stacked().pods)
    assert victims(closed, "RemoveDuplicates") == []


def test_duplicates_are_told_apart_by_their_images() -> None:
    """Pods of one owner with other images are no duplicates."""
    web = stacked()
    details = {f"web_{n}": PodDetail(images=(f"web:{n}",)) for n in range(3)}
    assert victims(detailed(web, **details), "RemoveDuplicates") == []


def test_anti_affinity_asks_the_pods_own_terms_only() -> None:
    """The one that is kept away goes, not the one that it is kept away from."""
    term = PodAffinityTerm("kubernetes.io/hostname", selector(app="db"))
    world = cluster(node("a"), node("b"), pod("db-1", node="a"), pod("web-1", node="a", anti_affinity=(term,)))
    assert victims(world, "RemovePodsViolatingInterPodAntiAffinity") == ["web-1"]
    apart = cluster(node("a"), node("b"), pod("db-1", node="b"), pod("web-1", node="a", anti_affinity=(term,)))
    assert victims(apart, "RemovePodsViolatingInterPodAntiAffinity") == []


def test_of_pods_that_repel_each_other_one_goes() -> None:
    """A victim is in nobody's way any more."""
    term = PodAffinityTerm("kubernetes.io/hostname", selector(app="web"))
    world = cluster(node("a"), node("b"), *(pod(f"web-{n}", node="a", anti_affinity=(term,)) for n in range(3)))
    assert victims(world, "RemovePodsViolatingInterPodAntiAffinity") == ["web-0", "web-1"]


def test_required_node_affinity_needs_a_node_that_takes_the_pod() -> None:
    """Without one it stays; a node selector alone is not looked at."""
    required = {"nodeAffinityType": ["requiredDuringSchedulingIgnoredDuringExecution"]}
    rules = NodeAffinityRules(required=(on_disk("ssd"),))
    wrong = pod("web-1", node="a", node_affinity=rules)
    name = "RemovePodsViolatingNodeAffinity"
    assert victims(cluster(node("a"), node("b", labels={"disk": "ssd"}), wrong), name, required) == ["web-1"]
    assert victims(cluster(node("a"), node("b"), wrong), name, required) == []
    chosen = pod("web-1", node="a", node_selector=(("disk", "ssd"),))
    assert victims(cluster(node("a"), node("b", labels={"disk": "ssd"}), chosen), name, required) == []


def test_preferred_node_affinity_goes_for_the_best_weight() -> None:
    """Where its own node has it, a pod stays."""
    preferred = {"nodeAffinityType": ["preferredDuringSchedulingIgnoredDuringExecution"]}
    rules = NodeAffinityRules(preferred=(PreferredNodeTerm(5, on_disk("ssd")),))
    liking = pod("web-1", node="a", node_affinity=rules)
    name = "RemovePodsViolatingNodeAffinity"
    assert victims(cluster(node("a"), node("b", labels={"disk": "ssd"}), liking), name, preferred) == ["web-1"]
    assert victims(cluster(node("a", labels={"disk": "ssd"}), node("b"), liking), name, preferred) == []


def test_an_unknown_type_of_node_affinity_is_told_and_does_nothing() -> None:
    """Upstream logs it."""
    result = walk(stacked(), "RemovePodsViolatingNodeAffinity", {"nodeAffinityType": ["wished"]})
    assert "'wished' is none" in result.runs[0].message


def test_taints_are_let_in_by_key_or_key_and_value() -> None:
    """NoExecute never; PreferNoSchedule on demand."""
    name = "RemovePodsViolatingNodeTaints"
    hard = cluster(node("a", taints=[taint("x", "1")]), node("b"), pod("web-1", node="a"))
    assert victims(hard, name, {"includedTaints": ["x=1"]}) == ["web-1"]
    assert victims(hard, name, {"includedTaints": ["x=2"]}) == []
    assert victims(hard, name, {"excludedTaints": ["x"]}) == []
    harder = cluster(node("a", taints=[taint("x", effect="NoExecute")]), node("b"), pod("web-1", node="a"))
    assert victims(harder, name) == []
    soft = cluster(node("a", taints=[taint("x", effect="PreferNoSchedule")]), node("b"), pod("web-1", node="a"))
    assert victims(soft, name) == []
    assert victims(soft, name, {"includePreferNoSchedule": True}) == ["web-1"]


def test_most_restarts_first() -> None:
    """Init containers count on demand; states narrow."""
    world = detailed(
        stacked(),
        web_0=PodDetail(containers=(ContainerDetail(restart_count=5),)),
        web_1=PodDetail(containers=(ContainerDetail(restart_count=9, waiting="CrashLoopBackOff"),)),
        web_2=PodDetail(containers=(ContainerDetail("Init", restart_count=50),)),
    )
    name = "RemovePodsHavingTooManyRestarts"
    assert victims(world, name, {"podRestartThreshold": 5}) == ["web-1", "web-0"]
    every = {"podRestartThreshold": 5, "includingInitContainers": True}
    assert victims(world, name, every) == ["web-2", "web-1", "web-0"]
    assert victims(world, name, {"podRestartThreshold": 5, "states": ["CrashLoopBackOff"]}) == ["web-1"]


def test_failed_pods_by_reason_and_exit_code() -> None:
    """Both must hit; the default asks for an hour of age."""
    ended = PodDetail(containers=(ContainerDetail(terminated="OOMKilled", exit_code=137),))
    world = detailed(stacked(phase="Failed"), web_0=ended)
    name = "RemoveFailedPods"
    assert victims(world, name) == ["web-0", "web-1", "web-2"]
    assert victims(world, name, {"reasons": ["OOMKilled"], "exitCodes": [137]}) == ["web-0"]
    assert victims(world, name, {"reasons": ["OOMKilled"], "exitCodes": [1]}) == []
    assert victims(world, name, {"excludeOwnerKinds": ["ReplicaSet"]}) == []
    young = stacked(phase="Failed", created_at=NOW - 3599)
    assert victims(young, name) == []


def test_a_pod_must_be_older_than_its_life_time() -> None:
    """Oldest first over all nodes; exactly as old is not enough."""
    world = cluster(
        node("a"), node("b"), pod("x-1", node="a", created_at=NOW - 61), pod("y-1", node="b", created_at=NOW - 90),
        pod("z-1", node="b", created_at=NOW - 60),
    )  # fmt: skip
    assert victims(world, "PodLifeTime", {"maxPodLifeTimeSeconds": 60}) == ["y-1", "x-1"]


def test_life_time_by_state_condition_and_owner() -> None:
    """Categories go together, entries of one are alternatives."""
    since = PodCondition("Ready", "False", "Waiting", NOW - 100)
    world = detailed(stacked(), web_0=PodDetail(conditions=(since,)), web_1=PodDetail(reason="Shutdown"))
    name = "PodLifeTime"
    assert victims(world, name, {"states": ["Shutdown", "Failed"]}) == ["web-1"]
    assert victims(world, name, {"conditions": [{"type": "Ready", "status": "False"}]}) == ["web-0"]
    late = {"conditions": [{"type": "Ready", "minTimeSinceLastTransitionSeconds": 101}]}
    assert victims(world, name, late) == []
    assert victims(world, name, {"states": ["Running"], "ownerKinds": {"exclude": ["ReplicaSet"]}}) == []
    assert len(victims(world, name, {"states": ["Running"], "ownerKinds": {"include": ["ReplicaSet"]}})) == 3


def spread(skew: int = 1, **fields: Any) -> tuple[TopologySpreadConstraint, ...]:
    """A constraint by zone over the pods of web."""
    return (TopologySpreadConstraint("topology.kubernetes.io/zone", skew, selector=selector(app="web"), **fields),)


def zones(counts: dict[str, int], **fields: Any) -> Cluster:
    """Nodes named after their zones, with so many pods of web each."""
    nodes = [node(name, cpu="16", zone=name) for name in counts]
    pods = [
        pod(f"web-{name}{number}", "1", owner="web", node=name, topology_spread=spread(**fields))
        for name, count in counts.items()
        for number in range(count)
    ]
    return cluster(*nodes, *pods)


def test_a_constraint_is_brought_within_its_skew() -> None:
    """The highest priority leaves first, against upstream's own comment."""
    name = "RemovePodsViolatingTopologySpreadConstraint"
    assert len(victims(zones({"a": 4, "b": 0}), name)) == 2
    assert len(victims(zones({"a": 4, "b": 0}, skew=3), name)) == 1
    assert victims(zones({"a": 2, "b": 1}), name) == []
    soft = zones({"a": 4, "b": 0}, when_unsatisfiable="ScheduleAnyway")
    assert victims(soft, name) == []
    assert len(victims(soft, name, {"constraints": ["ScheduleAnyway"]})) == 2


def test_of_a_full_domain_the_highest_priority_leaves() -> None:
    """Seen in the code and in recordings."""
    nodes = [node("a", cpu="16", zone="a"), node("b", cpu="16", zone="b")]
    pods = [pod(f"web-{n}", owner="web", node="a", topology_spread=spread(), priority=n) for n in range(3)]
    assert victims(cluster(*nodes, *pods), "RemovePodsViolatingTopologySpreadConstraint") == ["web-2"]
