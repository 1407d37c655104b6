"""The fast path gives the answers of the filters and scores one by one, for every profile and arithmetic."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.kernels.arithmetic import Arithmetic, ArrayArithmetic
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import NOW, cluster, node, pod, selector, workload
from tests.unit.scheduling.kernels.untied_clusters import (
    PROFILES,
    arithmetic,
    same_arrays,
    step,
    untied_cluster,
)
from tests.unit.scheduling.random_clusters import Draw, random_placement

__all__ = ["arithmetic"]
_ON_FIXTURES = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)


def assert_equal_answers(fast: SchedulerModel, plain: SchedulerModel, placement: Placement) -> int:
    """Compare every pod on every node; returns how many pods the fast path served."""
    before = placement.copy()
    served = 0
    for number in range(placement.columns.pod_count):
        assert fast.feasible(number, placement).tolist() == plain.feasible(number, placement).tolist()
        assert fast.best_nodes(number, placement).tolist() == plain.best_nodes(number, placement).tolist()
        assert fast.fast_path is not None
        served += fast.fast_path.kinds.of(number) is not None
    assert same_arrays(before, placement)
    return served


@pytest.mark.parametrize("profile", PROFILES)
@given(seed=st.integers(0, 2**63))
@settings(_ON_FIXTURES, max_examples=30)  # of each profile, each of which has most of its plugins in common with others
def test_pods_without_ties_get_equal_answers(profile: str, arithmetic: Arithmetic, seed: int) -> None:
    """Through any changes of the placement; and the fast path does serve such pods."""
    draw = Draw(seed)
    columns = columns_of(untied_cluster(draw))
    placement = Placement(columns)
    profiles = {DEFAULT_SCHEDULER: PROFILES[profile]}
    fast = SchedulerModel(columns, profiles, arithmetic=arithmetic)
    plain = SchedulerModel(columns, profiles, arithmetic=None)
    for _ in range(4):
        assert assert_equal_answers(fast, plain, placement) == columns.pod_count
        step(draw, placement)


@given(seed=st.integers(0, 2**63))
@_ON_FIXTURES
def test_pods_with_ties_get_equal_answers(arithmetic: Arithmetic, seed: int) -> None:
    """Any mix of ports, affinity and spread: what the fast path takes over, it answers as the plugins do."""
    placement = random_placement(seed)
    fast = SchedulerModel(placement.columns, arithmetic=arithmetic)
    assert_equal_answers(fast, SchedulerModel(placement.columns, arithmetic=None), placement)


@pytest.mark.parametrize("profile", PROFILES)
@given(seed=st.integers(0, 2**63))
@settings(deadline=None, max_examples=30)
def test_a_node_is_outdone_only_by_one_that_is_liked_better(profile: str, seed: int) -> None:
    """Whatever it is compared with: never where it is among the best of these, always where their own totals decide."""
    draw = Draw(seed)
    columns = columns_of(untied_cluster(draw))
    placement, profiles = Placement(columns), {DEFAULT_SCHEDULER: PROFILES[profile]}
    fast, plain = SchedulerModel(columns, profiles), SchedulerModel(columns, profiles, arithmetic=None)
    assert fast.fast_path is not None
    step(draw, placement)
    for number in range(columns.pod_count):
        nodes = [node for node in range(columns.node_count) if node not in placement.places(number)]
        if not nodes:
            continue
        node, others = nodes[0], nodes[1:]
        feasible = plain.feasible(number, placement)
        totals = plain.total(number, placement, feasible) if feasible.any() else np.zeros(len(feasible))
        kind = fast.fast_path.kinds.of(number)
        assert kind is not None
        is_outdone = any(feasible[other] and (not feasible[node] or totals[other] > totals[node]) for other in others)
        assert fast.is_outdone(number, node, others, placement) == (is_outdone and not kind.shares)
        assert not plain.is_outdone(number, node, others, placement)


@given(seed=st.integers(0, 2**63))
@_ON_FIXTURES
def test_nominated_pods_count(seed: int) -> None:
    """Where pods are nominated, the two passes of the scheduler are kept to."""
    draw = Draw(seed)
    world = untied_cluster(draw)
    names = [item.name for item in world.nodes]
    guests = [pod(f"guest{n}", nominated_node=draw.one(names), priority=draw.one((0, 9))) for n in range(2)]
    columns = columns_of(cluster(*world.nodes, *world.pods, *guests))
    fast = SchedulerModel(columns, counts_nominated=True)
    plain = SchedulerModel(columns, counts_nominated=True, arithmetic=None)
    assert_equal_answers(fast, plain, Placement(columns))


@pytest.mark.parametrize("memory", ["4Ti", "70Ti", "200Ti"])
@pytest.mark.parametrize("strategy", ["before 1.36", "most allocated", "ratio"])
def test_huge_nodes_score_exactly(memory: str, strategy: str, arithmetic: Arithmetic) -> None:
    """Near whole percentages of amounts at and beyond what floating point divides exactly."""
    total = int(memory[:-2]) << 40
    steps = [total * percent // 100 + delta for percent in range(1, 100, 7) for delta in (-1, 0, 1)]
    nodes = [node(f"n{number:02d}", memory=memory, cpu="64") for number in range(len(steps))]
    filler = [pod(f"f{n:02d}-0", "0", str(amount), node=f"n{n:02d}") for n, amount in enumerate(steps)]
    columns = columns_of(cluster(*nodes, *filler, pod("x", "1", "1"), pod("y", "1", "0")))
    profiles = {DEFAULT_SCHEDULER: PROFILES[strategy]}
    fast = SchedulerModel(columns, profiles, arithmetic=arithmetic)
    served = assert_equal_answers(fast, SchedulerModel(columns, profiles, arithmetic=None), Placement(columns))
    assert served == (columns.pod_count if total <= 1 << 46 else 0)


def test_replicas_that_are_spread_by_default_are_left_to_the_plugins() -> None:
    """Where the siblings are decides the score of a pod whose owner's selector is known."""
    world = cluster(
        node("n1"), node("n2"), workload("web", 2), pod("web-a", node="n1"), pod("web-b"), pod("lone", owner=None)
    )
    columns = columns_of(world)
    fast = SchedulerModel(columns).fast_path
    assert fast is not None
    assert fast.kinds.of(columns.pod_index["default/web-b"]) is None
    assert fast.kinds.of(columns.pod_index["default/lone"]) is not None


def test_pods_that_others_repel_are_left_to_the_plugins() -> None:
    """A term held by another pod, pending or not, is a tie."""
    from rescheduler.model.objects.constraints import PodAffinityTerm

    term = PodAffinityTerm("kubernetes.io/hostname", selector(app="x"))
    columns = columns_of(
        cluster(node("n1"), pod("x", owner=None, labels={"app": "x"}), pod("y", anti_affinity=(term,)))
    )
    fast = SchedulerModel(columns).fast_path
    assert fast is not None
    assert fast.kinds.of(columns.pod_index["default/x"]) is None


def test_pods_alike_are_of_one_kind() -> None:
    """Names and labels that nothing looks at do not tell pods apart; requests do."""
    columns = columns_of(
        cluster(node("n1"), pod("a", labels={"x": "1"}), pod("b", labels={"x": "2"}), pod("c", cpu="2"))
    )
    fast = SchedulerModel(columns).fast_path
    assert fast is not None
    a, b, c = (fast.kinds.of(number) for number in range(3))
    assert a is b
    assert c is not a


def test_no_nodes_means_no_best_node(arithmetic: Arithmetic) -> None:
    """An empty cluster is answered, not refused."""
    columns = columns_of(cluster(pod("x", created_at=NOW)))
    model = SchedulerModel(columns, arithmetic=arithmetic)
    assert model.best_nodes(0, Placement(columns)).tolist() == []
    assert np.array_equal(model.feasible(0, Placement(columns)), np.zeros(0, dtype=np.bool_))


def test_numpy_is_the_default() -> None:
    """No process compiles anything unless it asks to."""
    columns = columns_of(cluster(node("n1"), pod("x")))
    fast = SchedulerModel(columns).fast_path
    assert fast is not None
    assert isinstance(fast.arithmetic, ArrayArithmetic)
