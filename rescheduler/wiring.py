"""Puts concrete parts together for each command; the only file that names adapters, simulator and executor at once."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rescheduler.adapters.clock import SystemClock
from rescheduler.cycle import CycleOptions, make_plan, prove_rest
from rescheduler.disruption.gate import PolicyGate
from rescheduler.execution.executor import Executor, HoldSettings
from rescheduler.extension_points import Clock, ExecutionTarget, Progress, no_progress
from rescheduler.model.cluster import Cluster
from rescheduler.model.disruption import Selection
from rescheduler.model.plan import Plan, PlanResult
from rescheduler.policy.models import Policy
from rescheduler.simulation.simulated_cluster import SimulatedCluster

if TYPE_CHECKING:
    from rescheduler.adapters.kubernetes.connection import Connection


@dataclass(frozen=True)
class ClusterOptions:
    """Where the cluster is: recordings (``-`` is standard input), or a kubeconfig and context as kubectl reads them."""

    filenames: tuple[str, ...] = ()
    kubeconfig: str | None = None
    context: str | None = None


@dataclass(frozen=True)
class SimulationReport:
    """A cluster before and after, and each cycle's plan with what became of it."""

    before: Cluster
    results: tuple[PlanResult, ...]
    after: Cluster


def read_cluster(options: ClusterOptions, progress: Progress = no_progress) -> Cluster:
    """Read the whole cluster once. Raises SnapshotError or ClusterError."""
    if options.filenames:
        from rescheduler.adapters.snapshot_file import read_recording

        stdin = sys.stdin.buffer if "-" in options.filenames else None
        return read_recording(options.filenames, stdin, progress)
    from rescheduler.adapters.kubernetes.reader import LiveReader

    return LiveReader(_connect(options, read_only=True), progress).read()


def plan(
    cluster: Cluster,
    policy: Policy,
    *,
    selection: Selection,
    seed: int = 0,
    clock: Clock | None = None,
    progress: Progress = no_progress,
) -> Plan:
    """Propose moves; writes nothing."""
    return make_plan(cluster, policy, CycleOptions(clock or SystemClock(), selection, seed, progress))


def simulate(
    cluster: Cluster,
    policy: Policy,
    *,
    selection: Selection,
    seed: int = 0,
    cycles: int = 1,
    progress: Progress = no_progress,
) -> SimulationReport:
    """Plan and carry out in the embedded cluster, ``cycles`` times or until a plan is empty."""
    world = SimulatedCluster(cluster, seed=seed)
    results: list[PlanResult] = []
    for _ in range(cycles):
        proposed = plan(world.read(), policy, selection=selection, seed=seed, progress=progress)
        executor = _executor(world, world.clock, policy, selection, 600.0, progress)
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
    seed: int = 0,
    timeout_seconds: float = 600.0,
    progress: Progress = no_progress,
) -> PlanResult | None:
    """Carry out one plan on a live cluster; None if ``confirm`` said no.

    Until it says yes the connection refuses every mutating request.
    """
    from rescheduler.adapters.kubernetes.reader import LiveReader
    from rescheduler.adapters.kubernetes.target import KubernetesTarget

    cluster = LiveReader(_connect(options, read_only=True), progress).read()
    proposed = reviewed or plan(cluster, policy, selection=selection, seed=seed, progress=progress)
    if not confirm(proposed, cluster):
        return None
    connection = _connect(options, read_only=False)
    clock = SystemClock()
    target = KubernetesTarget(connection, LiveReader(connection), clock=clock, hold_namespace=policy.hold.namespace)
    return _executor(target, clock, policy, selection, timeout_seconds, progress).carry_out(proposed)


def record(options: ClusterOptions, file: str, *, anonymize: bool, progress: Progress = no_progress) -> str:
    """Record a live cluster to a file (``-``: standard output); what was recorded, in words."""
    from rescheduler.adapters.snapshot_file import record as record_cluster

    counts = record_cluster(_connect(options, read_only=True), file, anonymize=anonymize, progress=progress)
    where = "standard output" if file == "-" else file
    return f"{counts.get('Node', 0)} nodes, {counts.get('Pod', 0)} pods and what bears on them in {where}"


def clean(
    options: ClusterOptions,
    policy: Policy,
    *,
    confirm: Callable[[Sequence[str]], bool],
    progress: Progress = no_progress,
) -> tuple[str, ...] | None:
    """Remove what earlier runs left behind, by name; None if ``confirm`` said no."""
    from rescheduler.adapters.kubernetes.cleaning import find_leftovers, remove_leftovers

    progress("looking for placeholders")
    leftovers = find_leftovers(_connect(options, read_only=True), policy.hold.namespace)
    if leftovers and not confirm([leftover.text for leftover in leftovers]):
        return None
    removed = remove_leftovers(_connect(options, read_only=False), leftovers)
    return tuple(leftover.text for leftover in removed)


def _executor(
    target: ExecutionTarget,
    clock: Clock,
    policy: Policy,
    selection: Selection,
    timeout_seconds: float,
    progress: Progress,
) -> Executor:
    return Executor(
        target,
        PolicyGate(policy, selection),
        clock,
        hold=HoldSettings(policy.hold.deadline, policy.hold.namespace),
        guidance=policy.guidance.value,
        timeout_seconds=timeout_seconds,
        proof=lambda cluster, rest: prove_rest(cluster, rest, policy, selection),
        progress=progress,
    )


def _connect(options: ClusterOptions, *, read_only: bool) -> Connection:
    from rescheduler.adapters.kubernetes.connection import connect

    return connect(options.kubeconfig, options.context, read_only=read_only)
