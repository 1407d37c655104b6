"""What each score says of a node, word for word."""

from __future__ import annotations

from typing import Any

from rescheduler.extension_points import Score
from rescheduler.model.objects.constraints import NodeAffinityRules as Affinity
from rescheduler.model.objects.constraints import (
    NodeSelectorTerm,
    PodAffinityTerm,
    PreferredNodeTerm,
    PreferredPodAffinityTerm,
    Requirement,
    TopologySpreadConstraint,
)
from rescheduler.scheduling.scores.bin_packing import BinPacking
from rescheduler.scheduling.scores.image_locality import ImageLocality
from rescheduler.scheduling.scores.inter_pod_affinity import InterPodAffinity
from rescheduler.scheduling.scores.node_affinity import AddedNodeAffinity, NodeAffinity
from rescheduler.scheduling.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread
from rescheduler.scheduling.scores.taint_toleration import TaintToleration
from rescheduler.scheduling.scores.volume_binding import VolumeBinding
from tests.builders import cluster, node, pod, selector, taint
from tests.unit.scheduling.scores import usages
from tests.unit.scheduling.volumes import GIB, LATER, LOCAL, ZONE, claim, user, volume, where

HOST = "kubernetes.io/hostname"
GPU = "example.com/gpu"
MIB = 1 << 20


def told(plugin: Score, *objects: Any, **more: Any) -> list[str]:
    """What the plugin says of each node for pod x."""
    return usages.told(plugin, usages.placement(cluster(*objects, **more)), "x")


TWO = (node("n1", "4", "8Gi", extended={GPU: "2"}), node("n2", "0", "8Gi"))
OLD = pod("old", "1500m", "2Gi", node="n1", extended={GPU: "1"})


def test_fit() -> None:
    """The formula of each resource with its amounts, and the mean with its weights; full, or not there."""
    new = pod("x", "500m", "1Gi", extended={GPU: "1"})
    three = (("cpu", 2), ("memory", 1), (GPU, 5))
    assert told(NodeResourcesFit(), *TWO, OLD, new) == [
        "LeastAllocated: cpu 100 x (4 - 1500m - 500m) / 4 = 50; memory 100 x (8Gi - 2Gi - 1Gi) / 8Gi = 62; mean 56",
        "LeastAllocated: cpu is not offered; memory 100 x (8Gi - 0 - 1Gi) / 8Gi = 87; mean 87",
    ]
    assert told(NodeResourcesFit("MostAllocated", three), *TWO, OLD, new)[0] == (
        "MostAllocated: cpu 100 x (1500m + 500m) / 4 = 50; memory 100 x (2Gi + 1Gi) / 8Gi = 37; "
        "example.com/gpu 100 x (1 + 1) / 2 = 100; mean weighed 2 : 1 : 5 = 79"
    )
    ratio = NodeResourcesFit("RequestedToCapacityRatio", three, ((0, 10), (100, 0)))
    assert told(ratio, *TWO, OLD, new)[0] == (
        "RequestedToCapacityRatio: cpu at 100 x (1500m + 500m) / 4 = 50 % of the shape = 50; "
        "memory at 100 x (2Gi + 1Gi) / 8Gi = 37 % of the shape = 63; "
        "example.com/gpu at 100 x (1 + 1) / 2 = 100 % of the shape = 0 (left out); mean weighed 2 : 1 = 54"
    )
    big = pod("x", "3", "8Gi")
    assert told(NodeResourcesFit("MostAllocated"), *TWO, OLD, big)[0] == (
        "MostAllocated: cpu is over-full (1500m + 3 of 4) = 100; memory is over-full (2Gi + 8Gi of 8Gi) = 100; mean 100"
    )
    assert told(NodeResourcesFit(resources=((GPU, 1),)), *TWO, pod("x"))[0] == "LeastAllocated: nothing counts: 0"


def test_balance() -> None:
    """Shares and balance with the pod; since 1.36 without it too."""
    new = pod("x", "500m", "1Gi")
    with_pod = "with the pod cpu 50.0%, memory 37.5%: balance 93 (100 less their standard deviation)"
    assert told(NodeResourcesBalancedAllocation(scores_change=False), *TWO, OLD, new) == [
        f"{with_pod} = 93",
        "with the pod cpu not offered, memory 12.5%: balance 100 (100 less their standard deviation) = 100",
    ]
    assert told(NodeResourcesBalancedAllocation(), *TWO, OLD, new)[0] == (
        f"{with_pod}; without it cpu 37.5%, memory 25.0%: balance 93; 50 + (50 + 93 - 93) / 2 = 75"
    )
    assert told(NodeResourcesBalancedAllocation(), *TWO, pod("x", "0", "0"))[0] == (
        "the pod asks for none of cpu, memory: 0"
    )


def test_bin_packing() -> None:
    """Only what the pod asks for."""
    packs = BinPacking((("cpu", 1), ("memory", 1), (GPU, 3)))
    assert told(packs, *TWO, OLD, pod("x", "500m", "0", extended={GPU: "2"})) == [
        (
            "cpu 100 x (1500m + 500m) / 4 = 50.0; example.com/gpu would be over-full (1 + 2 of 2) = 0.0; "
            "mean weighed 1 : 3 = 12"
        ),
        "cpu is not offered = 0.0; example.com/gpu is not offered = 0.0; mean weighed 1 : 3 = 0",
    ]
    assert told(BinPacking(), *TWO, pod("x", "0", "0"))[0] == "the pod asks for none of cpu, memory: 0"


def test_taints() -> None:
    """How many the pod does not tolerate, here and at most."""
    soft = [taint("a", effect="PreferNoSchedule"), taint("b", effect="PreferNoSchedule"), taint("c")]
    assert told(TaintToleration(), node("n1", taints=soft), node("n2", taints=soft[1:]), pod("x")) == [
        (
            "PreferNoSchedule taints that the pod does not tolerate: "
            "2, at most 2 on a feasible node; 100 - 100 x 2 / 2 = 0"
        ),
        (
            "PreferNoSchedule taints that the pod does not tolerate: "
            "1, at most 2 on a feasible node; 100 - 100 x 1 / 2 = 50"
        ),
    ]
    assert told(TaintToleration(), node("n1"), pod("x")) == [
        "no feasible node has a PreferNoSchedule taint that the pod does not tolerate: 100"
    ]


def test_node_affinity() -> None:
    """Terms that match with their weights; those of the profile among them."""
    ssd = NodeSelectorTerm((Requirement("disk", "In", ("ssd",)),))
    big = NodeSelectorTerm((Requirement("size", "Exists"),))
    wishes = (PreferredNodeTerm(30, ssd), PreferredNodeTerm(60, big))
    nodes = (node("n1", labels={"disk": "ssd"}), node("n2", labels={"disk": "ssd", "size": "l"}), node("n3"))
    new = pod("x", node_affinity=Affinity(None, wishes))
    assert told(NodeAffinity(), *nodes, new) == [
        "1 of 2 preferred terms match, of weight 30 = 30, at most 90 on a feasible node; 100 x 30 / 90 = 33",
        "2 of 2 preferred terms match, of weight 30 + 60 = 90, at most 90 on a feasible node; 100 x 90 / 90 = 100",
        "0 of 2 preferred terms match, of weight none = 0, at most 90 on a feasible node; 100 x 0 / 90 = 0",
    ]
    assert told(AddedNodeAffinity((PreferredNodeTerm(10, big),)), *nodes, new)[1].startswith(
        "3 of 3 preferred terms match, of weight 10 + 30 + 60 = 100, "
    )
    assert told(NodeAffinity(), nodes[2], new) == ["no feasible node matches any of 2 preferred terms: 0"]
    assert told(NodeAffinity(), nodes[2], pod("x")) == ["no preferred terms: 0"]


def test_pod_affinity() -> None:
    """What attracts and repels by topology key, and where the sum lies between the extremes."""
    near = (PreferredPodAffinityTerm(5, PodAffinityTerm(ZONE, selector(app="db"))),)
    apart = (PreferredPodAffinityTerm(20, PodAffinityTerm(HOST, selector(app="web"))),)
    nodes = (node("n1", zone="a"), node("n2", zone="a"), node("n3", zone="b"))
    pods = (pod("db-1", node="n1"), pod("db-2", node="n1"), pod("web-1", node="n2"))
    found = told(InterPodAffinity(), *nodes, *pods, pod("x", preferred_affinity=near, preferred_anti_affinity=apart))
    lead = "weights of pods that attract or repel: "
    assert found == [
        (
            f"{lead}{ZONE} +10, {HOST} +0; sum 10, least -10 and most 10 on feasible nodes; "
            "100 x (10 + 10) / (10 + 10) = 100"
        ),
        (
            f"{lead}{ZONE} +10, {HOST} -20; sum -10, least -10 and most 10 on feasible nodes; "
            "100 x (-10 + 10) / (10 + 10) = 0"
        ),
        f"{lead}{ZONE} +0, {HOST} +0; sum 0, least -10 and most 10 on feasible nodes; 100 x (0 + 10) / (10 + 10) = 50",
    ]
    assert told(InterPodAffinity(), nodes[2], pod("x", preferred_affinity=near)) == [
        f"{lead}{ZONE} +0; sum 0, as on all feasible nodes = 0"
    ]
    assert told(InterPodAffinity(), nodes[2], pod("x")) == [
        "no term of this pod, and none of others about it, counts: 0"
    ]


def test_spread() -> None:
    """Pods that each constraint counts with the weight of its domains; a key that is missing."""
    by_host = TopologySpreadConstraint(HOST, 2, "ScheduleAnyway", selector=selector(app="web"))
    by_rack = TopologySpreadConstraint("rack", 1, "ScheduleAnyway", selector=selector(app="web"))
    nodes = (node("n1", labels={"rack": "1"}), node("n2", labels={"rack": "2"}), node("n3"))
    webs = [pod(f"web-{number}", node="n1", labels={"app": "web"}) for number in range(2)]
    new = pod("x", labels={"app": "web"}, topology_spread=(by_host, by_rack))
    assert told(PodTopologySpread(), *nodes, *webs, new) == [
        (
            f"matching pods by {HOST} 2 x ln(2 + 2) + 1 = 3.77; matching pods by rack 2 x ln(2 + 2) + 0 = 2.77; "
            "sum 7, least 1 and most 7 on feasible nodes; 100 x (7 + 1 - 7) / 7 = 14"
        ),
        (
            f"matching pods by {HOST} 0 x ln(2 + 2) + 1 = 1.00; matching pods by rack 0 x ln(2 + 2) + 0 = 0.00; "
            "sum 1, least 1 and most 7 on feasible nodes; 100 x (7 + 1 - 1) / 7 = 100"
        ),
        (
            f"matching pods by {HOST} 0 x ln(2 + 2) + 1 = 1.00; rack is not on the node; "
            "sum 1, but a node without all keys gets nothing = 0"
        ),
    ]
    alone = pod("x", topology_spread=(by_rack,))
    assert told(PodTopologySpread(), nodes[0], alone) == [
        "matching pods by rack 0 x ln(1 + 2) + 0 = 0.00; sum 0, as on all feasible nodes = 100"
    ]
    assert told(PodTopologySpread(), nodes[0], pod("x")) == ["nothing to spread by (no ScheduleAnyway constraint): 0"]


def test_images() -> None:
    """Weighed bytes between the least and the most that count."""
    nodes = (
        node("n1", images=(("a:1", 400 * MIB),)), node("n2", images=(("a:1", 400 * MIB), ("b:1", 9000 * MIB))),
        node("n3", images=(("c:1", 30 * MIB),)), node("n4"),
    )  # fmt: skip
    lead = "the pod's images on the node, each weighed by the share of nodes that hold it: "
    assert told(ImageLocality(), *nodes, pod("x", images=("a:1", "b:1"), container_count=2)) == [
        f"{lead}200.0 MiB; 100 x (200.0 - 23) / (2000 - 23) = 8",
        f"{lead}2450.0 MiB; no more than 2000 MiB count = 100",
        f"{lead}0.0 MiB; up to 23 MiB count nothing = 0",
        f"{lead}0.0 MiB; up to 23 MiB count nothing = 0",
    ]


def test_volumes() -> None:
    """Bytes asked for of each class and what there is of it; where no class counts that is said."""
    volumes = (
        volume("pv1", capacity_bytes=4 * GIB, node_affinity=where(ZONE, "a")),
        volume("local", capacity_bytes=8 * GIB, storage_class="local", node_affinity=where(ZONE, "a")),
    )
    claims = (claim("c"), claim("e", storage_class="local", requested_bytes=2 * GIB))
    nodes = (node("n1", zone="a"), node("n2", zone="b"))
    storage = {"claims": claims, "storage_classes": (LATER, LOCAL), "volumes": volumes}
    plugin = VolumeBinding(((0, 0), (100, 10)))
    assert told(plugin, *nodes, user("x", "c"), **storage) == [
        "class later 1Gi of 4Gi, along the shape = 25; mean 25",
        "no capacity is known here: 0",
    ]
    assert told(VolumeBinding(), *nodes, user("x", "c", "e"), **storage)[0] == (
        "class later 1Gi of 4Gi, along the shape = 75; class local 2Gi of 8Gi, along the shape = 75; mean 75"
    )
    assert told(plugin, nodes[0], pod("x")) == ["no unbound claims: 0"]
    place = usages.placement(cluster(*nodes, user("x", "c", "e"), **storage))
    assert usages.told_scores(plugin, place, "x") == plugin.score(0, place, usages.everywhere(place)).tolist()
