"""Random small clusters whose pods look at nodes only, profiles of every sort, and the arithmetics to compare."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from benchmarks.scheduling.arithmetic import ArrayBatchArithmetic, BatchArithmetic, LoopArithmetic, is_numba_installed
from rescheduler.extension_points import Score
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import Columns
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import NodeSelectorTerm, PreferredNodeTerm, Requirement
from rescheduler.model.objects.pod import Pod
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER, Profile, WeightedScore, default_profile
from rescheduler.scheduling.scores.image_locality import ImageLocality
from rescheduler.scheduling.scores.inter_pod_affinity import InterPodAffinity
from rescheduler.scheduling.scores.node_affinity import AddedNodeAffinity, NodeAffinity
from rescheduler.scheduling.scores.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from rescheduler.scheduling.scores.node_resources_fit import NodeResourcesFit
from rescheduler.scheduling.scores.pod_topology_spread import PodTopologySpread
from rescheduler.scheduling.scores.requested_to_capacity_ratio import (
    RequestedToCapacityRatio,
    RequestedToCapacityRatioArguments,
)
from rescheduler.scheduling.scores.taint_toleration import TaintToleration
from tests.builders import cluster, node, pod
from tests.unit.scheduling.random_clusters import Draw

GPU = "example.com/gpu"
_WISHED = (PreferredNodeTerm(7, NodeSelectorTerm((Requirement("rack", "In", ("1",)),))),)
_needs_numba = pytest.mark.skipif(
    not is_numba_installed(), reason="numba is not installed (the extra kube-rescheduler[fast])"
)


@pytest.fixture(scope="session", params=["numpy", pytest.param("numba", marks=_needs_numba)])
def arithmetic(request: pytest.FixtureRequest) -> BatchArithmetic:
    """Each arithmetic in turn, compiled once for all tests."""
    return LoopArithmetic() if request.param == "numba" else ArrayBatchArithmetic()


def _profile(*scores: tuple[int, Score]) -> Profile:
    others = (InterPodAffinity(), PodTopologySpread())
    weighted = [WeightedScore(plugin, weight) for weight, plugin in (*scores, *((2, other) for other in others))]
    return Profile(DEFAULT_SCHEDULER, DEFAULT_FILTERS, tuple(weighted))


_MANY = (("cpu", 3), ("memory", 1), ("ephemeral-storage", 2), (GPU, 5))
_SHAPE = ((0, 0), (40, 10), (90, 3))
PROFILES = {
    "before 1.36": default_profile("v1.35.4"),
    "since 1.36": default_profile("v1.36.3"),
    "most allocated": _profile((1, NodeResourcesFit("MostAllocated")), (1, NodeResourcesBalancedAllocation())),
    "unequal weights": _profile(
        (5, NodeResourcesFit(resources=(("memory", 7), ("cpu", 2)))), (3, NodeResourcesBalancedAllocation())
    ),
    "ratio": _profile((2, NodeResourcesFit("RequestedToCapacityRatio", _MANY, _SHAPE)), (1, ImageLocality())),
    "ratio of old": _profile(
        (2, RequestedToCapacityRatio(RequestedToCapacityRatioArguments.model_validate(
            {"shape": [{"utilization": u, "score": s} for u, s in _SHAPE], "resources": [{"name": GPU, "weight": 2}]}
        )))
    ),
    "many resources": _profile((1, NodeResourcesFit(resources=_MANY)), (1, NodeResourcesBalancedAllocation(_MANY))),
    "many, before 1.36": _profile((1, NodeResourcesBalancedAllocation(_MANY, scores_change=False))),
    "one resource": _profile((1, NodeResourcesFit(resources=(("cpu", 1),))), (2, NodeAffinity())),
    "added wishes": _profile((2, AddedNodeAffinity(_WISHED)), (3, TaintToleration()), (1, NodeResourcesFit())),
    "weights below zero": _profile((-3, TaintToleration()), (-2, NodeResourcesFit()), (-1, NodeAffinity())),
}  # fmt: skip


def untied_cluster(draw: Draw) -> Cluster:
    """Up to a dozen nodes, some without a resource, and pods without ties to each other."""
    names = tuple(f"n{number:02d}" for number in range(draw.random.randint(1, 12)))
    return cluster(*(_node(draw, name) for name in names), *(_pods(draw, names)))


def _node(draw: Draw, name: str) -> object:
    return node(
        name,
        cpu=draw.one(("0", "1500m", "4", "7")),
        memory=draw.one(("0", "3Gi", "8Gi", "8388607Ki")),
        pods=draw.one((2, 5, 110)),
        labels={"rack": draw.one("12x")} if draw.chance(75) else {},
        taints=draw.node("x").taints,
        extended=draw.one(({}, {GPU: "3"}, {"ephemeral-storage": "50Gi"})),
        is_unschedulable=draw.chance(10),
        images=draw.node("x").images,
    )


def _pods(draw: Draw, names: Sequence[str]) -> list[Pod]:
    kinds = [draw.pod("x", names) for _ in range(4)]
    return [_pod(draw, draw.one(kinds), f"p{number:02d}", names) for number in range(draw.random.randint(1, 24))]


def _pod(draw: Draw, like: Pod, name: str, names: Sequence[str]) -> Pod:
    home = draw.one((None, *names))
    return pod(
        name,
        cpu=draw.one(("0", "333m", "1")),
        memory=draw.one(("0", "1Gi", "777Mi")),
        node=home,
        extended=draw.one(({}, {}, {GPU: "1"}, {"ephemeral-storage": "3Gi"})),
        node_affinity=like.spec.node_affinity,
        tolerations=like.spec.tolerations,
        images=like.spec.images,
        held=(("cpu", 700), ("memory", 1 << 30)) if home and draw.chance(10) else None,
    )


def step(draw: Draw, placement: Placement) -> None:
    """One random change of a placement."""
    columns = placement.columns
    number, target = draw.random.randrange(columns.pod_count), draw.random.randrange(columns.node_count)
    place = placement.node_of[number]
    if place == NOWHERE:
        placement.assume(number, target)
    elif draw.chance(50) or place == target or placement.leaving[number] != NOWHERE:
        placement.forget(number)
    else:
        placement.move(number, target)
    if draw.chance(10):
        placement.settle()


def same_arrays(one: Placement, other: Placement) -> bool:
    """Whether two placements of one cluster are equal in all they hold."""
    pairs = ((one.node_of, other.node_of), (one.leaving, other.leaving), (one.used, other.used),
             (one.scored_used, other.scored_used))  # fmt: skip
    return all(np.array_equal(a, b) for a, b in pairs)


def some_pods(draw: Draw, columns: Columns, most: int) -> list[int]:
    """Pods in any order, some of them twice."""
    return [draw.random.randrange(columns.pod_count) for _ in range(draw.random.randint(1, most))]
