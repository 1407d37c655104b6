"""The commands that plan: on a snapshot, in the embedded cluster, on a live cluster."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex
from typing import Final

from msgspec.structs import replace as with_changes

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.composition.cluster_source import ClusterOptions, connected, read_cluster
from rescheduler.composition.ledgers import Ledgers, book_rules, earlier_evictions, ledgers_of
from rescheduler.composition.recorded_load import LoadAtRest
from rescheduler.cycle import CycleOptions, make_plan, prove_rest
from rescheduler.disruption.policy_gate import PolicyGate
from rescheduler.execution.ledger.open_evictions import READY_SECONDS, settled
from rescheduler.execution.run.executor import Executor, HoldSettings, plan_id_of
from rescheduler.execution.run.outcomes import Outcomes
from rescheduler.execution.run.resuming import what_is_left
from rescheduler.execution.run.stopping import PlanStoppedError
from rescheduler.extension_points import NOTHING_EARLIER, Clock, ExecutionTarget, LedgerReading, Progress, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan, PlanResult, PodReference
from rescheduler.policy.fields.policy import Guidance, Policy
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers

# Servers that this version was not tested with.

TESTED: Final = (35, 36)
"""Minor versions of Kubernetes 1 whose real control planes the tests run on, oldest and newest."""


def untested_version(server_version: str | None) -> str | None:
    """A warning about a server that is older or newer than those, with the versions; None otherwise, or if unknown."""
    found = re.match(r"v?(\d+)\.(\d+)", server_version or "")
    if found is None:
        return None
    major, minor = int(found.group(1)), int(found.group(2))
    if major == 1 and TESTED[0] <= minor <= TESTED[1]:
        return None
    side = "older" if (major, minor) < (1, TESTED[0]) else "newer"
    return (
        f"the API server is Kubernetes {server_version}, {side} than what this version was tested with "
        f"(1.{TESTED[0]} to 1.{TESTED[1]})"
    )


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
    earlier: LedgerReading = NOTHING_EARLIER,
    progress: Progress = no_progress,
) -> Plan:
    """Propose moves; writes nothing. ``earlier``: what is known of earlier evictions."""
    stop = stop_file(policy.stop.file) or earlier.stop
    options = CycleOptions(
        clock or SystemClock(), schedulers, selection, seed, progress, ledger=earlier.ledger, stop=stop
    )
    return make_plan(cluster, policy, options)


def simulate(
    cluster: Cluster,
    policy: Policy,
    *,
    selection: Selection,
    schedulers: Schedulers = DEFAULTS,
    seed: int = 0,
    cycles: int = 1,
    earlier: LedgerReading = NOTHING_EARLIER,
    progress: Progress = no_progress,
) -> SimulationReport:
    """Plan and carry out in the embedded cluster, ``cycles`` times or until a plan is empty.

    ``earlier``: what is known of earlier evictions in the cluster that it begins as.
    """
    schedulers = Schedulers(schedulers.configuration, LoadAtRest(schedulers.load, cluster.taken_at))
    world = SimulatedCluster(cluster, seed=seed, schedulers=schedulers)
    ledger = SimulatedLedger(world.clock, earlier.ledger)
    ledger.stop = earlier.stop
    results: list[PlanResult] = []
    for number in range(cycles):
        if number:
            world.clock.sleep(READY_SECONDS)  # so that the debts of the cycle before can be closed
        known = earlier._replace(ledger=settled(ledger.ledger, now := world.read(), _standing_in(now)))
        proposed = plan(
            now, policy, selection=selection, schedulers=schedulers, seed=seed, earlier=known, progress=progress
        )
        executor = _executor(world, world.clock, policy, selection, schedulers, 600.0, progress, Ledgers(ledger, None))
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
    cluster = read_cluster(options, progress)
    known = schedulers(cluster)
    told: list[str] = []
    proposed = reviewed or plan(
        cluster,
        policy,
        selection=selection,
        schedulers=known,
        seed=seed,
        earlier=earlier_evictions(options, policy, cluster, told.append),
        progress=progress,
    )
    if not confirm(proposed, cluster):
        return None

    run_id = plan_id_of(proposed) + token_hex(2)

    def executor(target: ExecutionTarget, clock: Clock, ledgers: Ledgers) -> Executor:
        return _executor(target, clock, policy, selection, known, timeout_seconds, progress, ledgers, run_id)

    return _carried_out(proposed, run_id, cluster, options, policy, executor, told)


def _carried_out(
    proposed: Plan,
    run_id: str,
    cluster: Cluster,
    options: ClusterOptions,
    policy: Policy,
    executor: Callable[[ExecutionTarget, Clock, Ledgers], Executor],
    told: list[str],
) -> PlanResult:
    """Look at rights, version and what earlier runs left, then carry out under a guardian. Raises ClusterError."""
    from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
    from rescheduler.adapters.kubernetes.reader import LiveReader
    from rescheduler.composition.guarding import freed_of_earlier_runs, guarded
    from rescheduler.composition.standing_rights import checked_rights

    connection = connected(options, read_only=False)
    clock = SystemClock()
    untested = untested_version(cluster.server_version)
    rights = checked_rights(connection, proposed) if _has_work(proposed, cluster) else ()
    warnings = (*rights, *([untested] if untested else ()))
    if policy.guidance is not Guidance.PREDICT:
        warnings += freed_of_earlier_runs(connection, cluster, policy)
    with guarded(options, policy, run_id, connection) as guard:
        target = KubernetesTarget(
            connection, LiveReader(connection), clock=clock, hold_namespace=policy.hold.namespace, guard=guard.start
        )
        result = executor(target, clock, ledgers_of(connection, policy, clock, told.append)).carry_out(proposed)
    return with_changes(result, warnings=(*warnings, *dict.fromkeys(told), *result.warnings))


def _has_work(plan: Plan, cluster: Cluster) -> bool:
    """Whether anything may be evicted: a plan that was carried out before asks for nothing, not even for its rights."""
    try:
        return bool(what_is_left(plan, cluster, Outcomes(plan)).moves)
    except PlanStoppedError:
        return True  # the executor finds the same, and tells it


def _executor(
    target: ExecutionTarget,
    clock: Clock,
    policy: Policy,
    selection: Selection,
    schedulers: Schedulers,
    timeout_seconds: float,
    progress: Progress,
    ledgers: Ledgers,
    run_id: str | None = None,
) -> Executor:
    return Executor(
        target,
        PolicyGate(policy, selection, schedulers=schedulers.names, stop=lambda: stop_file(policy.stop.file)),
        clock,
        hold=HoldSettings(policy.hold.deadline, policy.hold.namespace),
        guidance=policy.guidance.value,
        timeout_seconds=timeout_seconds,
        proof=lambda cluster, rest: prove_rest(cluster, rest, policy, selection, schedulers),
        as_seen=schedulers.configured,
        progress=progress,
        ledger=ledgers.shared,
        audit=ledgers.audit,
        stopped=lambda: stop_file(policy.stop.file),
        rules=book_rules(policy),
        run_id=run_id,
    )


def _standing_in(cluster: Cluster) -> Callable[[PodReference], Pod | None]:
    return lambda reference: cluster.pod_by_key.get(reference.key)
