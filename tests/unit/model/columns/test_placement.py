"""A placement counts a moved pod at both ends until the wave ends."""

from __future__ import annotations

from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement, changes, placed_totals
from rescheduler.model.usage.demand import trimaran_demands
from tests.builders import cluster, node, pod
from tests.unit.scheduling.random_clusters import placements

# How a placement differs from its snapshot, and the sums that follow.

RANDOM = settings(max_examples=150, deadline=None)


@RANDOM
@given(placement=placements)
def test_applying_the_changes_gives_the_placement(placement: Placement) -> None:
    """Home and departures and arrivals together are where each pod stands, and the pod left out is nowhere."""
    columns = placement.columns
    for without in (NOWHERE, *range(columns.pod_count)):
        found = changes(placement, without)
        stands = {(number, int(home)) for number, home in enumerate(columns.initial_node_of) if home != NOWHERE}
        left = set(zip(found.left.tolist(), found.left_nodes.tolist(), strict=True))
        arrived = set(zip(found.arrived.tolist(), found.arrived_nodes.tolist(), strict=True))
        assert left <= stands
        assert not arrived & stands
        wanted = {
            (number, place)
            for number in range(columns.pod_count)
            if number != without
            for place in placement.places(number)
        }
        assert (stands - left) | arrived == wanted


@RANDOM
@given(placement=placements)
def test_totals_are_sums_over_the_pods_of_each_node(placement: Placement) -> None:
    """A pod that moves counts at both ends, the pod left out nowhere."""
    columns = placement.columns
    by_shape = columns.facts(trimaran_demands)
    for without in (NOWHERE, *range(columns.pod_count)):
        found = placed_totals(placement, trimaran_demands, without)
        wanted = [[0] * columns.node_count for _ in by_shape]
        for number in range(columns.pod_count):
            for place in placement.places(number) if number != without else ():
                for row in range(len(by_shape)):
                    wanted[row][place] += int(by_shape[row][columns.shape_of[number]])
        assert found.tolist() == wanted


def test_a_moved_pod_counts_at_both_ends_until_the_wave_settles() -> None:
    """Arrive before depart: room at the origin is free only once the wave has ended."""
    columns = columns_of(cluster(node("n1"), node("n2"), pod("a-1", node="n1"), pod("a-2", node="n1")))
    placement = Placement(columns)
    before = placement.used.copy()
    first = columns.pod_index["default/a-1"]
    placement.move(first, 1)
    cpu = columns.resource_index["cpu"]
    assert placement.used[cpu].tolist() == [2000, 1000]
    placement.settle()
    assert placement.used[cpu].tolist() == [1000, 1000]
    placement.forget(first)
    assert placement.node_of[first] == NOWHERE
    placement.assume(first, 0)
    assert np.array_equal(placement.used, before)


def test_counts_follow_every_change() -> None:
    """Kept counts of pods by label set equal counts made afresh."""
    columns = columns_of(cluster(node("n1"), node("n2"), pod("a-1", node="n1"), pod("b-1", node="n2"), pod("a-2")))
    placement = Placement(columns)
    mask = np.array([labels.get("app") == "a" for _, labels in columns.label_sets])
    assert placement.count("a", mask).tolist() == [1, 0]
    placement.assume(columns.pod_index["default/a-2"], 1)
    placement.move(columns.pod_index["default/a-1"], 1)
    assert placement.count("a", mask).tolist() == [1, 2]
    assert placement.copy().count("a", mask).tolist() == [1, 2]
    placement.settle()
    assert placement.count("a", mask).tolist() == [0, 2]


def test_sites_name_every_place_of_every_pod_but_the_one_left_out() -> None:
    """A moving pod has two places, a pending one none."""
    columns = columns_of(cluster(node("n1"), node("n2"), pod("a-1", node="n1"), pod("a-2", node="n2"), pod("a-3")))
    placement = Placement(columns)
    everyone = np.arange(3)
    assert sorted(placement.sites(everyone).tolist()) == [0, 1]
    placement.move(0, 1)
    assert sorted(placement.sites(everyone).tolist()) == [0, 1, 1]
    assert placement.sites(everyone, without=0).tolist() == [1]
    assert placement.tally(everyone).tolist() == [1, 2]
    assert placement.places(0) == (1, 0)
    assert placement.places(2) == ()
    other = placement.copy()
    placement.settle()
    assert placement.sites(everyone).tolist() == [1, 1]
    assert sorted(other.sites(everyone).tolist()) == [0, 1, 1]


def test_scored_use_adds_the_defaults_of_missing_requests() -> None:
    """100m and 200 MiB a pod that asks for nothing, beside what is really held."""
    columns = columns_of(cluster(node("n1"), node("n2"), pod("a-1", "0", "0", node="n1"), pod("b-1", "2", node="n1")))
    placement = Placement(columns)
    assert placement.scored_used.tolist() == [[2100, 0], [(200 << 20) + (1 << 30), 0]]
    placement.move(0, 1)
    assert placement.scored_used[0].tolist() == [2100, 100]
    placement.settle()
    assert placement.scored_used[0].tolist() == [2000, 100]


@given(seed=st.integers(0, 2**32))
def test_accounts_after_any_moves_equal_those_made_afresh(seed: int) -> None:
    """Trials are undone by their opposite, resized pods (which hold more or less than they ask for) too."""
    random = Random(seed)
    held = [None, (("cpu", 700),), (("cpu", 5000), ("memory", 7))]
    homes = [random.choice((None, "n1", "n2")) for _ in range(5)]
    pods = [
        pod(f"p{n}", random.choice(("0", "1")), node=home, held=random.choice(held) if home else None)
        for n, home in enumerate(homes)
    ]
    columns = columns_of(cluster(node("n1"), node("n2"), node("n3"), *pods))
    placement = Placement(columns)
    before = placement.copy()
    for _ in range(10):
        number, target = random.randrange(5), random.randrange(3)
        if placement.node_of[number] == NOWHERE:
            placement.assume(number, target)
        elif placement.leaving[number] == NOWHERE and placement.node_of[number] != target and random.random() < 0.6:
            placement.move(number, target)
        elif random.random() < 0.5:
            placement.settle()
        else:
            placement.forget(number)
    for number, home in enumerate(columns.initial_node_of):
        placement.forget(number)
        if home != NOWHERE:
            placement.assume(number, int(home))
    assert np.array_equal(placement.used, before.used)
    assert np.array_equal(placement.scored_used, before.scored_used)
    assert np.array_equal(placement.node_of, before.node_of)
