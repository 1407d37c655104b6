"""In large clusters the scheduler scores a sample, and the verdict says so."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.prediction.node_sample import nodes_scored, possible_choices
from rescheduler.scheduling.profile import default_profile
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.builders import cluster, node, pod


@pytest.mark.parametrize(
    ("nodes", "percentage", "scored"),
    [
        (1, 0, 1), (99, 0, 99), (99, 5, 99), (100, 0, 100), (150, 0, 100), (250, 0, 120), (1000, 0, 420),
        (5000, 0, 500), (6000, 0, 300), (50000, 0, 2500), (1000, 30, 300), (1000, 5, 100), (1000, 100, 1000),
    ],
)  # fmt: skip
def test_how_many_nodes_are_scored(nodes: int, percentage: int, scored: int) -> None:
    """All below 100; else at least 100, by the share that is set or one that falls from 50 to 5 percent."""
    assert nodes_scored(nodes, percentage) == scored


@given(st.lists(st.integers(0, 6), min_size=1, max_size=7), st.integers(1, 8), st.integers(0, 127))
def test_a_node_is_possible_if_some_sample_has_it_as_its_best(totals: list[int], scored: int, mask: int) -> None:
    """By trying all samples."""
    feasible = np.array([bool(mask >> number & 1) for number in range(len(totals))])
    nodes = np.flatnonzero(feasible).tolist()
    winners = set()
    for sample in combinations(nodes, min(scored, len(nodes))):
        highest = max((totals[number] for number in sample), default=0)
        winners |= {number for number in sample if totals[number] == highest}
    found = possible_choices(np.array(totals), feasible, scored)
    assert set(np.flatnonzero(found).tolist()) == winners


def test_the_verdict_says_whether_a_sample_is_scored() -> None:
    """Of 130 nodes of falling size 100 are scored: any of the 31 best may be chosen; with all scored only the best."""
    world = cluster(*(node(f"n{number:03}", cpu=str(400 - 2 * number)) for number in range(130)), pod("x", "100"))
    columns = columns_of(world)
    verdict = SchedulerModel(columns).verdict(0, Placement(columns))
    assert (verdict.scored, verdict.is_sampled) == (100, True)
    assert len(verdict.best) < 5
    assert len(verdict.possible) >= 31
    assert set(verdict.best) < set(verdict.possible)
    all_scored = replace(default_profile(None), percentage_of_nodes_to_score=100)
    verdict = SchedulerModel(columns, {all_scored.scheduler_name: all_scored}).verdict(0, Placement(columns))
    assert (verdict.scored, verdict.is_sampled) == (130, False)
    assert verdict.possible.tolist() == verdict.best.tolist()


def test_few_feasible_nodes_are_all_scored() -> None:
    """The search goes on until enough are found, so nothing is left out."""
    nodes = [node(f"n{number:03}", cpu="8" if number < 50 else "1") for number in range(130)]
    columns = columns_of(cluster(*nodes, pod("x", "2")))
    assert not SchedulerModel(columns).verdict(0, Placement(columns)).is_sampled


def test_an_unknown_scheduler_scores_nobody_knows_what() -> None:
    """Nothing is said of it."""
    columns = columns_of(cluster(node("n"), pod("x", scheduler_name="other")))
    assert SchedulerModel(columns).verdict(0, Placement(columns)).scored is None
