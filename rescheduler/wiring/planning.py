"""The commands that plan: on a snapshot, in the embedded cluster, on a live cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from secrets import token_hex

from msgspec.structs import replace as with_changes

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.stop_file import stop_file
from rescheduler.cycle import CycleOptions, make_plan, prove_rest
from rescheduler.disruption.policy_gate import PolicyGate
from rescheduler.execution.debts import READY_SECONDS, settled
from rescheduler.execution.executor import Executor, HoldSettings, plan_id_of
from rescheduler.execution.outcomes import Outcomes
from rescheduler.execution.resuming import what_is_left
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import (
    NOTHING_EARLIER,
    Clock,
    ExecutionTarget,
    LedgerReading,
    Progress,
    no_progress,
)
from rescheduler.model.cluster import Cluster
from rescheduler.model.disruption import Selection
from rescheduler.model.plan import Plan, PlanResult, PodReference
from rescheduler.model.pod import Pod
from rescheduler.policy.models import Guidance, Policy
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers
from rescheduler.simulation.ledger_object import SimulatedLedger
from rescheduler.simulation.simulated_cluster import SimulatedCluster
from rescheduler.wiring.cluster_source import ClusterOptions, connected, read_cluster
from rescheduler.wiring.ledgers import Ledgers, book_rules, earlier_evictions, ledgers_of
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
    from rescheduler.adapters.kubernetes.reader import LiveReader
    from rescheduler.adapters.kubernetes.target import KubernetesTarget
    from rescheduler.wiring.guarding import freed_of_earlier_runs, guarded
    from rescheduler.wiring.permissions import checked_rights
    from rescheduler.wiring.server_versions import untested_version

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
