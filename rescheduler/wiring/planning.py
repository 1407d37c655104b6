"""The commands that plan: on a snapshot, in the embedded cluster, on a live cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from rescheduler.adapters.clock import SystemClock
from rescheduler.cycle import CycleOptions, make_plan, prove_rest
from rescheduler.disruption.gate import PolicyGate
from rescheduler.execution.executor import Executor, HoldSettings
from rescheduler.extension_points import Clock, ExecutionTarget, Progress, no_progress
from rescheduler.model.cluster import Cluster
from rescheduler.model.disruption import Selection
from rescheduler.model.plan import Plan, PlanResult
from rescheduler.policy.models import Policy
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers
from rescheduler.simulation.simulated_cluster import SimulatedCluster
from rescheduler.wiring.cluster_source import ClusterOptions, connected, read_cluster
from rescheduler.wiring.usage import LoadAtRest


@dataclass(frozen=True)
class SimulationReport:
    """A cluster before and after, and each cycle's plan with what became of it."""

    before: Cluster
    results: tuple[PlanResult, ...]
    after: Cluster


def plan(
    cluster: Cluster,
    policy: Policy,
    *,
    selection: Selection,
    schedulers: Schedulers = DEFAULTS,
    seed: int = 0,
    clock: Clock | None = None,
    progress: Progress = no_progress,
) -> Plan:
    """Propose moves; writes nothing."""
    return make_plan(cluster, policy, CycleOptions(clock or SystemClock(), schedulers, selection, seed, progress))


def simulate(
    cluster: Cluster,
    policy: Policy,
    *,
    selection: Selection,
    schedulers: Schedulers = DEFAULTS,
    seed: int = 0,
    cycles: int = 1,
    progress: Progress = no_progress,
) -> SimulationReport:
    """Plan and carry out in the embedded cluster, ``cycles`` times or until a plan is empty."""
    schedulers = Schedulers(schedulers.configuration, LoadAtRest(schedulers.load, cluster.taken_at))
    world = SimulatedCluster(cluster, seed=seed, schedulers=schedulers)
    results: list[PlanResult] = []
    for _ in range(cycles):
        proposed = plan(world.read(), policy, selection=selection, schedulers=schedulers, seed=seed, progress=progress)
        executor = _executor(world, world.clock, policy, selection, schedulers, 600.0, progress)
        results.append(executor.carry_out(proposed))
        world.settle()
        if not proposed.moves:
            break
    return SimulationReport(before=cluster, results=tuple(results), after=world.read())


def apply(
    options: ClusterOptions,
    policy: Policy,
    *,
    confirm: Callable[[Plan, Cluster], bool],
    reviewed: Plan | None = None,
    selection: Selection,
    schedulers: Callable[[Cluster], Schedulers] = lambda _: DEFAULTS,
    seed: int = 0,
    timeout_seconds: float = 600.0,
    progress: Progress = no_progress,
) -> PlanResult | None:
    """Carry out one plan on a live cluster; None if ``confirm`` said no.

    Until it says yes the connection refuses every mutating request. ``schedulers`` of the cluster that was read first
    hold for the whole plan.
    """
    from rescheduler.adapters.kubernetes.reader import LiveReader
    from rescheduler.adapters.kubernetes.target import KubernetesTarget

    cluster = read_cluster(options, progress)
    known = schedulers(cluster)
    proposed = reviewed or plan(cluster, policy, selection=selection, schedulers=known, seed=seed, progress=progress)
    if not confirm(proposed, cluster):
        return None
    connection = connected(options, read_only=False)
    clock = SystemClock()
    target = KubernetesTarget(connection, LiveReader(connection), clock=clock, hold_namespace=policy.hold.namespace)
    return _executor(target, clock, policy, selection, known, timeout_seconds, progress).carry_out(proposed)


def _executor(
    target: ExecutionTarget,
    clock: Clock,
    policy: Policy,
    selection: Selection,
    schedulers: Schedulers,
    timeout_seconds: float,
    progress: Progress,
) -> Executor:
    return Executor(
        target,
        PolicyGate(policy, selection, schedulers=schedulers.names),
        clock,
        hold=HoldSettings(policy.hold.deadline, policy.hold.namespace),
        guidance=policy.guidance.value,
        timeout_seconds=timeout_seconds,
        proof=lambda cluster, rest: prove_rest(cluster, rest, policy, selection, schedulers),
        as_seen=schedulers.configured,
        progress=progress,
    )
