"""Carries one plan out on a live cluster, and puts together what carries plans out."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from secrets import token_hex
from typing import Final

from msgspec.structs import replace as with_changes

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.composition.live.cluster_source import ClusterOptions, connected, read_cluster, with_network_policies
from rescheduler.composition.live.executors import OWN_WAYS, Ways, executor_under
from rescheduler.composition.live.ledgers import Ledgers, book_rules, earlier_evictions, ledgers_of
from rescheduler.composition.live.owed_room import OwedRoom
from rescheduler.composition.planning import cycle_options
from rescheduler.cycle import make_plan
from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.disruption.karpenter import taints_objection
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.run.executor import Executor, plan_id_of
from rescheduler.execution.run.resuming import what_is_left
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import (
    Clock,
    ClusterError,
    ExecutionTarget,
    HearMoves,
    Progress,
    no_progress,
    nobody_hears,
)
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan, PlanResult
from rescheduler.policy.fields.policy import Guidance, Policy, may_surge
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers

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
    hear_moves: HearMoves = nobody_hears,
) -> PlanResult | None:
    """Carry out one plan on a live cluster; None if ``confirm`` said no.

    Until then the connection refuses to write. ``schedulers`` of the cluster that was read first hold for all of it.
    """
    cluster = read_cluster(options, progress)
    if may_surge(policy):
        cluster = with_network_policies(connected(options, read_only=True), policy, cluster)
    known, told = schedulers(cluster), list[str]()
    if reviewed is None:
        earlier = earlier_evictions(options, policy, cluster, told.append)
        asked = cycle_options(
            policy, selection=selection, schedulers=known, seed=seed, earlier=earlier, progress=progress
        )
        proposed = make_plan(cluster, policy, asked)
    else:
        proposed = reviewed
    refuse_taints(proposed, cluster, policy)
    if not confirm(proposed, cluster):
        return None
    run_id = plan_id_of(proposed) + token_hex(2)

    def executor(target: ExecutionTarget, clock: Clock, ledgers: Ledgers) -> Executor:
        return executor_for(
            target, clock, policy, selection, known, timeout_seconds, progress, ledgers, proposed, run_id, hear_moves
        )

    return carried_out(proposed, run_id, cluster, options, policy, executor, told)


def carried_out(
    proposed: Plan,
    run_id: str,
    cluster: Cluster,
    options: ClusterOptions,
    policy: Policy,
    executor: Callable[[ExecutionTarget, Clock, Ledgers], Executor],
    told: list[str],
    grace_seconds: int | None = None,
) -> PlanResult:
    """Look at rights, version and what earlier runs left, then carry out under a guardian. Raises ClusterError.

    ``grace_seconds``: given to each pod that is evicted; None: its own.
    """
    from rescheduler.adapters.kubernetes.eviction.target import KubernetesTarget
    from rescheduler.composition.live.guarding import freed_of_earlier_runs, guarded
    from rescheduler.composition.live.standing_rights import checked_rights, reader_for

    connection = connected(options, read_only=False)
    clock = SystemClock()
    untested = untested_version(cluster.server_version)
    rights = checked_rights(connection, proposed) if _has_work(proposed, cluster) else ()
    warnings = (*rights, *([untested] if untested else ()))
    if policy.guidance is not Guidance.PREDICT:
        warnings += freed_of_earlier_runs(connection, cluster, policy)
    with guarded(options, policy, run_id, connection, proposed) as guard:
        target = KubernetesTarget(
            connection, reader_for(connection, proposed), clock=clock, hold_namespace=policy.hold.namespace,
            scope=policy.scope.namespaces.include or (), guard=guard.start, grace_seconds=grace_seconds,
        )  # fmt: skip
        result = executor(target, clock, ledgers_of(connection, policy, clock, told.append)).carry_out(proposed)
    return with_changes(result, warnings=(*warnings, *dict.fromkeys(told), *result.warnings))


def refuse_taints(proposed: Plan, cluster: Cluster, policy: Policy) -> None:
    """Raise ClusterError, before anybody is asked, where taints would make an autoscaler buy nodes."""
    objection = taints_objection(cluster, policy)
    if objection is not None and _has_work(proposed, cluster):
        raise ClusterError(objection)


def _has_work(plan: Plan, cluster: Cluster) -> bool:
    """Whether anything may be evicted: a plan that was carried out before asks for nothing, not even for its rights."""
    if any(move.destination is None and move.pod.key in cluster.pod_by_key for move in plan.moves):
        return True
    try:
        return bool(what_is_left(plan, cluster, Outcomes(plan)).moves)
    except PlanStoppedError:
        return True  # the executor finds the same, and tells it


def executor_for(
    target: ExecutionTarget,
    clock: Clock,
    policy: Policy,
    selection: Selection,
    schedulers: Schedulers,
    timeout_seconds: float,
    progress: Progress,
    ledgers: Ledgers,
    plan: Plan,
    run_id: str | None = None,
    hear_moves: HearMoves = nobody_hears,
    ways: Ways = OWN_WAYS,
) -> Executor:
    """What carries one plan of a policy out, with everything that it asks on the way.

    ``run_id``: see ``executor_under``; ``ways``: of whoever planned.
    """
    stopped, names, lenient = partial(stop_file, policy.stop.file), schedulers.names, ways.lenient
    return executor_under(
        policy,
        ways,
        target,
        PolicyGate(policy, selection, schedulers=names, stop=stopped, surges_of=run_id, lenient=lenient),
        clock,
        selection=selection,
        schedulers=schedulers,
        run_id=run_id,
        timeout_seconds=timeout_seconds,
        as_seen=OwedRoom(ways.seen_by(schedulers), ledgers.shared, plan).as_seen,
        progress=progress,
        ledger=ledgers.shared,
        audit=ledgers.audit,
        stopped=stopped,
        rules=book_rules(policy),
        hear_moves=hear_moves,
    )
