"""Random small clusters whose running pods may violate anything that binds them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm, Toleration, TopologySpreadConstraint
from tests.builders import NOW, cluster, node, pod, selector, taint

ZONE = "topology.kubernetes.io/zone"
HOST = "kubernetes.io/hostname"
KEYS = st.sampled_from([ZONE, HOST, "rack"])
SELECTORS = st.sampled_from([selector(app="a"), selector(app="b"), selector(app="a", rev="1"), selector(), None])
TERMS = st.builds(
    PodAffinityTerm, KEYS, SELECTORS, st.sampled_from([(), ("default", "other")]), st.sampled_from([None, selector()])
)
SPREADS = st.builds(
    TopologySpreadConstraint,
    KEYS,
    st.integers(1, 2),
    st.sampled_from(["DoNotSchedule", "DoNotSchedule", "ScheduleAnyway"]),
    SELECTORS,
    st.integers(1, 3),
    st.sampled_from([(), ("rev",)]),
    st.booleans(),
    st.booleans(),
)


def few(items: st.SearchStrategy[Any], most: int) -> st.SearchStrategy[tuple[Any, ...]]:
    """Mostly none, sometimes some."""
    return st.one_of(st.just(()), st.lists(items, min_size=1, max_size=most).map(tuple))


PODS: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {
        "cpu": st.sampled_from(["0", "1"]),
        "namespace": st.sampled_from(["default", "default", "other"]),
        "labels": st.sampled_from([{}, {"app": "a"}, {"app": "a", "rev": "1"}, {"app": "b"}]),
        "affinity": few(TERMS, 2),
        "anti_affinity": few(TERMS, 2),
        "topology_spread": few(SPREADS, 2),
        "node_selector": st.sampled_from([(), (), (("rack", "1"),)]),
        "tolerations": few(st.just(Toleration("t", "Exists")), 1),
        "deletion_at": st.sampled_from([None, None, None, NOW]),
        "kind": st.sampled_from(["ReplicaSet", "ReplicaSet", "DaemonSet"]),
    }
)
TAINTS = [taint("t"), taint("t", "", "NoExecute"), taint("node.kubernetes.io/unschedulable")]


@st.composite
def clusters(draw: st.DrawFn, most_nodes: int = 5, most_pods: int = 7) -> Cluster:
    """Up to five nodes, some without a zone or a rack, and running pods with rules of every sort."""
    nodes = [
        node(
            f"n{number}",
            zone=draw(st.sampled_from([None, "a", "b"])),
            labels=draw(st.sampled_from([{}, {"rack": "1"}, {"rack": "2"}])),
            taints=draw(few(st.sampled_from(TAINTS), 1)),
        )
        for number in range(draw(st.integers(1, most_nodes)))
    ]
    pods = [
        pod(f"p{number}-x", node=f"n{draw(st.integers(0, len(nodes) - 1))}", **draw(PODS))
        for number in range(draw(st.integers(0, most_pods)))
    ]
    return cluster(*nodes, *pods)
