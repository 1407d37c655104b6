"""Placing many pods in one go equals placing them one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.scheduling.arithmetic import BatchArithmetic
from benchmarks.scheduling.sequence import replace_in_sequence
from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.profile import DEFAULT_SCHEDULER
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod
from tests.unit.scheduling.kernels.test_fast_path import _ON_FIXTURES
from tests.unit.scheduling.kernels.untied_clusters import (
    PROFILES,
    arithmetic,
    same_arrays,
    some_pods,
    step,
    untied_cluster,
)
from tests.unit.scheduling.random_clusters import Draw, random_placement

__all__ = ["arithmetic"]


def one_by_one(placement: Placement, pods: list[int], profiles: dict[str, object]) -> list[int]:
    """Forget, best nodes, assume: with filters and scores one by one."""
    model = SchedulerModel(placement.columns, profiles, arithmetic=None)  # type: ignore[arg-type]
    found = []
    for number in pods:
        placement.forget(number)
        best = model.best_nodes(number, placement)
        found.append(int(best[0]) if best.size else NOWHERE)
        if best.size:
            placement.assume(number, found[-1])
    return found


def assert_equal_sequences(
    placement: Placement, pods: list[int], profiles: dict[str, object], by: BatchArithmetic
) -> None:
    """Compare destinations, and what is in use afterwards."""
    label_sets = np.arange(len(placement.columns.label_sets)) % 2 == 0
    placement.count("every other", label_sets)
    expected = placement.copy()
    nodes = one_by_one(expected, pods, profiles)
    model = SchedulerModel(placement.columns, profiles, arithmetic=by)  # type: ignore[arg-type]
    assert replace_in_sequence(model, placement, pods).tolist() == nodes
    assert same_arrays(placement, expected)
    counts = placement.count("every other", label_sets)
    assert counts.tolist() == expected.count("every other", label_sets).tolist()


@pytest.mark.parametrize("profile", PROFILES)
@given(seed=st.integers(0, 2**63))
@_ON_FIXTURES
def test_pods_without_ties(profile: str, arithmetic: BatchArithmetic, seed: int) -> None:
    """Running, moving and pending pods, resized ones among them, and some named twice."""
    draw = Draw(seed)
    columns = columns_of(untied_cluster(draw))
    placement = Placement(columns)
    for _ in range(3):
        step(draw, placement)
    pods = draw.random.sample(range(columns.pod_count), columns.pod_count) + some_pods(draw, columns, 20)
    assert_equal_sequences(placement, pods, {DEFAULT_SCHEDULER: PROFILES[profile]}, arithmetic)


@given(seed=st.integers(0, 2**63))
@_ON_FIXTURES
def test_pods_with_and_without_ties(arithmetic: BatchArithmetic, seed: int) -> None:
    """Runs of both sorts in turn."""
    placement = random_placement(seed)
    pods = some_pods(Draw(seed), placement.columns, 30)
    assert_equal_sequences(placement, pods, {DEFAULT_SCHEDULER: PROFILES["since 1.36"]}, arithmetic)


def test_many_pods_of_few_kinds(arithmetic: BatchArithmetic) -> None:
    """Totals that are kept stay true over hundreds of changes, and when room runs out."""
    draw = Draw(7)
    nodes = [node(f"n{number:03d}", cpu=draw.one(("2", "4", "8")), memory="8Gi") for number in range(60)]
    pods = [
        pod(f"p{number:04d}", cpu=draw.one(("0", "300m", "1")), memory=draw.one(("0", "500Mi")), owner=None, labels={})
        for number in range(1200)
    ]
    placement = Placement(columns_of(cluster(*nodes, *pods)))
    numbers = draw.random.sample(range(1200), 1200)
    assert_equal_sequences(placement, numbers + numbers[:300], {DEFAULT_SCHEDULER: PROFILES["since 1.36"]}, arithmetic)
    assert (placement.node_of == NOWHERE).any()


def test_nothing_to_place(arithmetic: BatchArithmetic) -> None:
    """No pods, no destinations."""
    columns = columns_of(cluster(node("n1"), pod("x")))
    model = SchedulerModel(columns, arithmetic=arithmetic)
    assert replace_in_sequence(model, Placement(columns), []).tolist() == []
