"""The parts of the search: whatever a construction does can be carried out, and every bound holds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.planning.objectives.empty_nodes import relaxation as shapes_of_pods
from rescheduler.planning.objectives.empty_nodes.least_evictions import whole_prices
from rescheduler.planning.objectives.empty_nodes.node_by_node import NodeByNode
from rescheduler.planning.objectives.empty_nodes.relaxation import relax
from rescheduler.planning.objectives.empty_nodes.repacking.repacking import repacked
from rescheduler.planning.objectives.empty_nodes.solution import keeps_limits, solution_of
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.solvers.emptied_share import EmptiedShareProgram
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.wave_packing import packed
from rescheduler.planning.waves.waves import GroupsOfPods
from tests import builders
from tests.clocks import FakeClock
from tests.unit.planning.asked import situation_of
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.empty_nodes.brute_force import best_emptying
from tests.unit.planning.objectives.empty_nodes.questions import emptied_names, question, question_for, violations
from tests.unit.planning.planning_requests import endless
from tests.unit.planning.tiny import tiny_clusters

SLOW = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))


@SLOW
@given(tiny_clusters(most_running=8), st.booleans(), st.booleans())
def test_nodes_emptied_one_by_one_have_an_order(tiny: TinyCluster, may_eject: bool, is_reversed: bool) -> None:
    """Every order of nodes gives moves that can be packed into waves, and every filter allows them."""
    situation = situation_of(question_for(tiny))
    work = NodeByNode(situation, situation.is_empty)
    nodes = situation.candidates.tolist()
    work.run(nodes[::-1] if is_reversed else nodes, endless(), may_eject=may_eject)
    schedule = packed(situation.problem, GroupsOfPods(situation.problem), work.order, endless())
    assert schedule is not None
    assert replay(situation.problem, schedule) == []
    assert keeps_limits(situation, schedule)
    assert set(work.emptied) <= set(solution_of(situation, schedule).emptied)


@SLOW
@given(tiny_clusters(most_running=8), st.integers(0, 3))
def test_nodes_emptied_together_stay_within_every_filter(tiny: TinyCluster, seed: int) -> None:
    """Seating the pods of all nodes at once gives waves that every filter allows, whatever reopens."""
    situation = situation_of(question_for(tiny))
    groups = GroupsOfPods(situation.problem)
    schedule = repacked(situation, groups, situation.candidates, endless(), np.random.default_rng(seed))
    found = [text for text in replay(situation.problem, schedule) if not text.startswith("limits")]
    assert found == []


@SLOW
@given(tiny_clusters(most_running=6), st.booleans(), st.sampled_from((0, 20_000)))
def test_the_linear_bound_holds_however_pods_are_put_together(tiny: TinyCluster, is_whole: bool, pairs: int) -> None:
    """No plan empties more than the linear program says, with pods as shapes or as streams of like proportions."""
    situation = situation_of(question_for(tiny))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes_of_pods, "_MOST_PAIRS", pairs)
        program = EmptiedShareProgram(relax(situation)) if len(situation.candidates) else None
    if program is not None:
        found = program.solve(0.0, endless(), is_whole=is_whole)
        assert found is not None
        assert found.bound >= best_emptying(tiny).value - 1e-6


@given(st.lists(st.floats(0.0, 1e9), min_size=1, max_size=5))
def test_whole_prices_are_never_below_the_real_ones(prices: list[float]) -> None:
    """Rounded up, so that what bounds whole prices bounds the real ones."""
    whole = whole_prices(np.array(prices))
    real = whole.price / whole.scale
    assert (real >= np.array(prices) * (1 - 1e-9) - 1e-6).all()
    assert whole.price.max() <= 10**6 + 1


def test_a_half_empty_cluster_is_halved_without_guidance() -> None:
    """24 nodes, three of ten cores in use on each: at least twelve are emptied, and the scheduler spreads the pods."""
    nodes = [builders.node(f"n{number:02d}", cpu="10") for number in range(24)]
    pods = [
        builders.pod(f"web-{number:02d}-{replica}", memory="1Mi", node=f"n{number:02d}")
        for number in range(24)
        for replica in range(3)
    ]
    request = question(builders.cluster(*nodes, *pods))
    names, answer = emptied_names(request)
    assert len(names) == answer.value == answer.bound == 16
    assert len(answer.moves) == 48
    assert violations(request, answer) == []


def test_time_that_is_over_ends_the_work() -> None:
    """Once time is over no further node is tried."""
    request = question(builders.cluster(*(builders.node(n) for n in "ab"), builders.pod("web-1", node="a")))
    situation = situation_of(request)
    work = NodeByNode(situation, situation.is_empty)
    work.run([0], Deadline(FakeClock(), 0.0), may_eject=True)
    assert work.order == []
