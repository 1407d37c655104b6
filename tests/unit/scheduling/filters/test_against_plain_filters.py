"""The vectorised filters say what the plain rules say, on random clusters, half-way through moves too."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from rescheduler.model.columns.placement import Placement
from rescheduler.scheduling.filters import DEFAULT_FILTERS
from rescheduler.scheduling.scheduler_model import SchedulerModel
from tests.unit.scheduling.filters.plain_filters import PLAIN_FILTERS
from tests.unit.scheduling.plain_world import world_without
from tests.unit.scheduling.random_clusters import placements

BY_NAME = {plugin.name: plugin for plugin in DEFAULT_FILTERS}
RANDOM = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", sorted(PLAIN_FILTERS))
@RANDOM
@given(placement=placements)
def test_reasons_equal_those_of_the_plain_rule(name: str, placement: Placement) -> None:
    """For every pod and node: the same reasons, and the same judgement whether evictions could help."""
    cluster = placement.columns.cluster
    for number, pod in enumerate(cluster.pods):
        world = world_without(number, placement)
        rejections = BY_NAME[name].reject(number, placement)
        for index, node in enumerate(cluster.nodes):
            found = {(r.reason, r.is_resolvable) for r in rejections if r.nodes[index]}
            assert found == set(PLAIN_FILTERS[name](world, pod, node)), (pod, node)


@RANDOM
@given(placement=placements)
def test_feasible_nodes_pass_every_plain_rule(placement: Placement) -> None:
    """All filters together agree with all plain rules together, and evaluating changes no placement."""
    cluster = placement.columns.cluster
    model = SchedulerModel(placement.columns)
    before = placement.copy()
    for number, pod in enumerate(cluster.pods):
        world = world_without(number, placement)
        plain = [not any(rule(world, pod, node) for rule in PLAIN_FILTERS.values()) for node in cluster.nodes]
        assert model.feasible(number, placement).tolist() == plain
    assert (before.used == placement.used).all()
    assert (before.node_of == placement.node_of).all()


@RANDOM
@given(placement=placements)
def test_pods_that_are_not_entangled_fit_by_static_rules_and_resources_alone(placement: Placement) -> None:
    """What planners rely on: for such pods, wherever the others are, only room decides."""
    columns = placement.columns
    model = SchedulerModel(columns)
    for number in range(columns.pod_count):
        if not model.is_entangled(number):
            used = placement.used.copy()
            for node in placement.places(number):
                used[:, node] -= placement.held_at(number, node)
            request = columns.requests[:, columns.shape_of[number]][:, None]
            has_room = ((columns.allocatable - used >= request) | (request == 0)).all(axis=0)
            assert (model.feasible(number, placement) == (model.static_feasible(number) & has_room)).all()
