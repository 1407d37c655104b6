"""The vectorised scores equal the plain ones, on random clusters, half-way through moves too."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.model.columns.arrays import BoolArray
from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.profile import default_profile
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.unit.scheduling.plain_world import world_without
from tests.unit.scheduling.random_clusters import placements
from tests.unit.scheduling.scores.plain_scores import PLAIN_SCORES, WEIGHTS

RANDOM = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
BY_NAME = {score.plugin.name: score.plugin for score in default_profile(None).scores}


@pytest.mark.parametrize("name", sorted(PLAIN_SCORES))
@RANDOM
@given(placement=placements, data=st.data())
def test_points_equal_those_of_the_plain_score(name: str, placement: Placement, data: st.DataObject) -> None:
    """For every pod and any set of feasible nodes, point by point."""
    cluster = placement.columns.cluster
    width = len(cluster.nodes)
    feasible: BoolArray = np.array(data.draw(st.lists(st.booleans(), min_size=width, max_size=width)))
    nodes = [node for node, is_feasible in zip(cluster.nodes, feasible, strict=True) if is_feasible]
    for number, pod in enumerate(cluster.pods):
        found = BY_NAME[name].score(number, placement, feasible)[feasible]
        assert found.tolist() == PLAIN_SCORES[name](world_without(number, placement), pod, nodes), pod


@RANDOM
@given(placement=placements)
def test_the_best_nodes_have_the_highest_weighted_sum(placement: Placement) -> None:
    """Totals are sums of weight times score, and all nodes that tie for the highest are best."""
    cluster = placement.columns.cluster
    model = SchedulerModel(placement.columns)
    for number, pod in enumerate(cluster.pods):
        indices = np.flatnonzero(model.feasible(number, placement)).tolist()
        nodes = [cluster.nodes[index] for index in indices]
        world = world_without(number, placement)
        totals = [0 for _ in nodes]
        for name, plain in PLAIN_SCORES.items():
            totals = [
                total + WEIGHTS.get(name, 1) * points
                for total, points in zip(totals, plain(world, pod, nodes), strict=True)
            ]
        best = [index for index, total in zip(indices, totals, strict=True) if total == max(totals)]
        assert model.best_nodes(number, placement).tolist() == best
