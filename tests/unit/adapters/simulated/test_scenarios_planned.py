"""The scenarios under the whole planning cycle: each is as solvable as its name says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.adapters.simulated.identity import Identity
from rescheduler.adapters.simulated.scenarios import chain, fragmented, infeasible, several_pending
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import ObjectiveResult, Plan, Status
from rescheduler.policy.fields.policy import Policy


def planned(cluster: Cluster) -> tuple[Plan, ObjectiveResult]:
    """The plan for a scenario under the default policy. The clock stands still, so no deadline passes."""
    plan = make_plan(cluster, Policy(), CycleOptions(SimulatedClock()))
    return plan, plan.objectives[0]


@pytest.mark.parametrize(("scenario", "wanted", "fewest"), [(fragmented, 1, 2), (several_pending, 2, 3), (chain, 1, 2)])
@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_all_pending_pods_can_be_helped(
    scenario: Callable[[int], Cluster], wanted: int, fewest: int, seed: int
) -> None:
    """Proven, with no fewer moves than the scenario is made for."""
    plan, objective = planned(scenario(seed))
    assert (objective.status, objective.helped, objective.wanted) == (Status.OPTIMAL, wanted, wanted)
    assert objective.bound is not None
    assert objective.bound >= fewest
    assert len(plan.placements) == wanted


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_chain_is_taken_link_by_link(seed: int) -> None:
    """The archive leaves in the first wave, the index takes its room in the second, then the pending pod follows."""
    plan, _ = planned(chain(seed))
    assert [(move.pod.name.split("-")[0], move.from_node, move.wave) for move in plan.moves] == [
        ("archive", "fast-2", 1),
        ("index", "fast-1", 2),
    ]
    assert [(place.node, place.wave) for place in plan.placements] == [("fast-1", 2)]


@settings(max_examples=6, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_the_infeasible_scenario_has_no_plan(seed: int) -> None:
    """Nothing moves, and that nothing can help is proven."""
    plan, objective = planned(infeasible(seed))
    assert objective.status is Status.INFEASIBLE
    assert not plan.moves
    assert not plan.placements


@pytest.mark.parametrize("seed", [0, 8, 10, 12])
def test_what_is_made_in_a_scenario_never_has_the_uid_of_one_of_its_pods(seed: int) -> None:
    """Though both are drawn under one seed: what an eviction names must be one pod alone."""
    cluster, made = several_pending(seed), Identity(np.random.default_rng(seed))
    drawn = {made.uid() for _ in range(200) if made.suffix()}
    assert drawn.isdisjoint(pod.uid for pod in cluster.pods)
