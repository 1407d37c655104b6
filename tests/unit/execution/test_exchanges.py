"""Pods of full nodes that change places: plans of the real planner, carried out on the simulated cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.composition import simulating
from rescheduler.model.objects.annotations import GUIDE_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import OutcomeKind, WaveMark
from rescheduler.policy.fields.policy import Guidance, Objective, Permission, Policy
from tests.builders import cluster, node, pod, workload
from tests.unit.cycle.test_cycle_exchanges import CASES
from tests.unit.planning.test_exchanges_brute_force import full_clusters
from tests.unit.planning.tiny import as_cluster


def policy_for(objective: str, arguments: dict[str, object]) -> Policy:
    """Guide, with everything allowed to move."""
    return Policy.model_validate(
        {
            "objectives": (Objective(name=objective, args=arguments),),  # type: ignore[arg-type]
            "guidance": Guidance.GUIDE,
            "disruption": {"workloads": {"max_unavailable": 5}, "single_replicas": Permission.ALLOW},
        }
    )


@pytest.mark.parametrize("objective", CASES)
@pytest.mark.parametrize("seed", [0, 1])
def test_every_pod_lands_where_the_plan_has_it(objective: str, seed: int) -> None:
    """Both pods of the swap too, and nothing of ours is left."""
    world, arguments = CASES[objective]
    report = simulating.simulate(world, policy_for(objective, arguments), selection=Selection(), seed=seed)
    (result,) = report.results
    assert result.moves, result.message
    assert [move.outcome for move in result.moves] == [OutcomeKind.LANDED] * len(result.moves), result
    assert all(place.outcome is OutcomeKind.LANDED for place in result.placements)
    assert result.waves == (WaveMark(result.moves[0].wave, evict_first=True),)
    assert not any(GUIDE_GATE in pod.scheduling_gates for pod in report.after.pods)


def test_pods_of_stateful_sets_change_places() -> None:
    """Their replacements have the same names and come only once the old pods are gone."""
    world = cluster(
        node("n1", cpu="6"), node("n2", cpu="5"), pod("large-0", "5", node="n1", kind="StatefulSet"),
        pod("small-0", "4", node="n2", kind="StatefulSet"), pod("x-0", "2"),
        workload("large", 1, kind="StatefulSet"), workload("small", 1, kind="StatefulSet"),
    )  # fmt: skip
    report = simulating.simulate(world, policy_for("MakeRoom", {}), selection=Selection())
    (result,) = report.results
    assert [(move.pod.name, move.landed_on) for move in result.moves] == [("large-0", "n2"), ("small-0", "n1")]
    assert result.placements[0].landed_on == "n1"


@st.composite
def full_worlds(draw: st.DrawFn) -> Cluster:
    """Nodes with a core left at most, pods larger than that, and one that waits; pods of one owner are alike."""
    tiny = draw(full_clusters())
    alike = tuple(replace(item, workload=f"{item.workload}{item.cores}") for item in tiny.pods)
    found = as_cluster(replace(tiny, pods=alike))
    names = sorted({item.controller.name for item in found.pods if item.controller})
    owners = [
        workload(name, sum(item.controller.name == name for item in found.pods if item.controller)) for name in names
    ]
    return cluster(*found.nodes, *found.pods, *owners)


@settings(max_examples=40, deadline=None)
@given(full_worlds(), st.integers(0, 3))
def test_what_the_planner_promises_comes_true(world: Cluster, seed: int) -> None:
    """Pods land where the plan has them whenever it needs an exchange; nobody is lost or left at the gate."""
    report = simulating.simulate(world, policy_for("MakeRoom", {}), selection=Selection(), seed=seed)
    (result,) = report.results
    assert {item.outcome.value for item in (*result.moves, *result.placements)} <= {"Landed", "LandedElsewhere"}, result
    exchanged = [move for move in result.moves if move.evict_first]
    assert [move.outcome for move in exchanged] == [OutcomeKind.LANDED] * len(exchanged)
    assert len(report.after.pods) == len(world.pods)
    assert len(report.after.pending_pods) == len(world.pending_pods) - len(result.placements)
    assert not any(GUIDE_GATE in item.scheduling_gates for item in report.after.pods)
