"""Whatever the cluster: our end is at least as near as descheduler's own landing, and no dearer for the same end.

Not where that landing pushes a node above its target, which no plan of ours does.
"""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import Upstream
from tests.builders import cluster, node, pod, selector, taint, workload
from tests.unit.descheduler.improving.improved import improved, only, written

ZONE = "topology.kubernetes.io/zone"
POLICIES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("LowNodeUtilization", {"thresholds": {"cpu": 30}, "targetThresholds": {"cpu": 60}}),
    ("HighNodeUtilization", {"thresholds": {"cpu": 40}}),
    ("RemoveDuplicates", {}),
    ("RemovePodsViolatingTopologySpreadConstraint", {}),
    ("RemovePodsViolatingNodeTaints", {}),
    ("RemovePodsViolatingInterPodAntiAffinity", {}),
    ("PodLifeTime", {"states": ["Running"]}),
)


@st.composite
def worlds(draw: st.DrawFn) -> Cluster:
    """A few nodes in two zones, some tainted, and ReplicaSets whose pods stand on one or two of them."""
    names = [f"n{number}" for number in range(draw(st.integers(2, 4)))]
    nodes = [
        node(name, cpu="4", zone=draw(st.sampled_from("xy")), taints=[taint("x")] if draw(st.booleans()) else [])
        for name in names
    ]
    pods: list[Pod] = []
    owners = []
    for number in range(draw(st.integers(1, 3))):
        owner = f"app{number}"
        places = draw(st.lists(st.sampled_from(names), min_size=1, max_size=4))
        pods += [_replica(draw, owner, index, place) for index, place in enumerate(places)]
        owners.append(workload(owner, len(places)))
    return cluster(*nodes, *pods, *owners)


def _replica(draw: st.DrawFn, owner: str, index: int, place: str) -> Pod:
    rule = TopologySpreadConstraint(topology_key=ZONE, max_skew=1, selector=selector(app=owner))
    term = PodAffinityTerm(topology_key=ZONE, selector=selector(app=owner))
    sort = draw(st.sampled_from(["plain", "spread", "apart"]))
    fields: dict[str, Any] = {"spread": {"topology_spread": (rule,)}, "apart": {"anti_affinity": (term,)}}.get(sort, {})
    return pod(f"{owner}-{index}", draw(st.sampled_from(["100m", "800m", "1500m"])), node=place, owner=owner, **fields)


@settings(max_examples=40, deadline=None)
@given(worlds(), st.sampled_from(POLICIES), st.booleans())
def test_our_end_is_at_least_as_near_and_no_dearer(
    world: Cluster, chosen: tuple[str, dict[str, Any]], node_fit: bool
) -> None:
    """No replacement comes back or waits in the prediction, and the independent checker has nothing to say."""
    plugin, arguments = chosen
    plan = improved(world, written(plugin, arguments, evictor={"nodeFit": node_fit}))
    result = only(plan)
    assert not [text for text in plan.warnings if "checker refused" in text]
    assert all(move.to_node != move.from_node for move in plan.moves)
    if not isinstance(result.upstream, Upstream) or result.upstream.pushed_above:
        return
    assert result.value is not None
    sign = -1 if plugin == "HighNodeUtilization" else 1
    distance = sign * (result.value - result.upstream.goal)
    assert distance <= 1e-6
    if abs(distance) <= 1e-6:
        assert len(plan.moves) <= result.upstream.evictions - result.upstream.waiting
