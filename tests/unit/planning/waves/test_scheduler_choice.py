"""What the scheduler would do by itself: the quick look at what it liked of late says the same as the whole one."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.model.columns.arrays import NOWHERE
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice, close
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.planning_requests import problem_of
from tests.unit.planning.tiny import request_for, tiny_clusters


@given(tiny_clusters(), st.integers(0, 2**32))
@settings(deadline=None, max_examples=60)
def test_a_node_is_liked_where_it_is_among_the_best(tiny: TinyCluster, seed: int) -> None:
    """Through moves and waves, with closed nodes, for pods with relations and without."""
    problem = problem_of(request_for(tiny))
    draw = random.Random(seed)
    placement = problem.start.copy()
    if problem.node_count > 2:
        close(placement, [draw.randrange(problem.node_count)])
    choice = SchedulerChoice(problem, placement)
    for pod in problem.movable.tolist() * 2:
        if placement.leaving[pod] != NOWHERE:
            placement.settle()
        nodes = [node for node in range(problem.node_count) if node != placement.node_of[pod]]
        if not nodes:
            return
        node = draw.choice(nodes)
        before = placement.used.copy()
        assert choice.is_liked(pod, node) == (node in choice.elsewhere(pod))
        assert (placement.used == before).all()
        if node in choice.elsewhere(pod):
            choice.send(pod, node)
