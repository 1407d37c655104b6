"""Whole loops in memory: plans of the real planner, its checker and gate, carried out on the simulated cluster."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.cycle import CycleOptions, make_plan, prove_rest
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.policy.fields.policy import Disruption, Limits, Permission, Policy, Workloads
from tests.builders import cluster, node, pod, workload

POLICY = Policy(
    disruption=Disruption(single_replicas=Permission.ALLOW, workloads=Workloads(max_unavailable="50%")),
    limits=Limits(deadline=5.0),
)


@st.composite
def crowded(draw: st.DrawFn) -> Cluster:
    """A few nodes, filled at random, and one or two pending pods."""
    sizes = st.sampled_from([500, 1000, 1500, 2000, 3000])
    count = draw(st.integers(2, 4))
    objects = [node(f"n{number}", "4") for number in range(count)]
    pods, owners = [], []
    for number in range(count):
        free = 4000
        for index in range(draw(st.integers(2, 5))):
            size = draw(sizes)
            if size <= free:
                free -= size
                name = f"app{number}{index}"
                pods.append(pod(f"{name}-0", f"{size}m", "64Mi", node=f"n{number}"))
                owners.append(workload(name, 1))
    for number in range(draw(st.integers(1, 2))):
        pods.append(pod(f"late{number}-0", f"{draw(st.sampled_from([1500, 2000, 2500, 3000]))}m", "64Mi"))
        owners.append(workload(f"late{number}", 1))
    return cluster(*objects, *pods, *owners)


@settings(max_examples=60, deadline=None)
@given(start=crowded(), seed=st.integers(0, 3))
def test_what_the_planner_promises_comes_true_with_holds(start: Cluster, seed: int) -> None:
    """Every pending pod that the plan helps runs, by exactly the plan's evictions; nobody is left without a place."""
    world = SimulatedCluster(start, seed=seed)
    world.settle()
    before = world.read()
    plan = make_plan(before, POLICY, CycleOptions(world.clock, seed=seed))
    executor = Executor(
        world,
        PolicyGate(POLICY, Selection()),
        world.clock,
        hold=HoldSettings(60.0, "rescheduler-holds"),
        guidance="Hold",
        timeout_seconds=600.0,
        proof=lambda fresh, rest: prove_rest(fresh, rest, POLICY, Selection()),
    )
    result = executor.carry_out(plan)
    world.settle()
    after = world.read()
    evicted = [write.name for write in world.writes if write.resource == "pods/eviction"]
    assert sorted(evicted) == sorted(move.pod.name for move in plan.moves), result
    assert {item.outcome.value for item in (*result.moves, *result.placements)} <= {"Landed", "LandedElsewhere"}, result
    helped = len(plan.placements)
    assert len(after.pending_pods) == len(before.pending_pods) - helped
    assert len(after.pods) == len(before.pods)
    assert world.leftovers() == []
