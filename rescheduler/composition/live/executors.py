"""What carries plans out under a policy, made in one place: for ``apply``, for a daemon's round, for a simulation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rescheduler.cycle import prove_rest
from rescheduler.execution.migration.migration_core import MigrationRules
from rescheduler.execution.run.executor import Executor, HoldSettings
from rescheduler.execution.run.proving import Objection, Proof
from rescheduler.execution.surge.surge_core import SurgeRules
from rescheduler.extension_points import Clock, ExecutionTarget, Gate
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Move, Plan
from rescheduler.planning.problem.moving_together import groups_moving_together
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import Schedulers


@dataclass(frozen=True)
class Ways:
    """How plans are proven and carried out. ``lenient``: moves whose pods need not be Ready, for the gate."""

    executor: Callable[..., Executor] = Executor
    proof: Proof | None = None
    as_seen: Callable[[Cluster], Cluster] | None = None
    lenient: Callable[[Move], bool] = lambda _: False

    def seen_by(self, schedulers: Schedulers) -> Callable[[Cluster], Cluster]:
        """What is made of each snapshot."""
        return self.as_seen or schedulers.configured


def nobody(_: Cluster) -> tuple[()]:
    """Pods that plugins of a DeschedulerPolicy choose go one by one."""
    return ()


OWN_WAYS = Ways()
"""Plans of our own objectives."""


def executor_under(
    policy: Policy,
    ways: Ways,
    target: ExecutionTarget,
    gate: Gate,
    clock: Clock,
    *,
    selection: Selection,
    schedulers: Schedulers,
    run_id: str | None,
    surges_under: str = "",
    as_seen: Callable[[Cluster], Cluster] | None = None,
    **settings: Any,
) -> Executor:
    """``run_id``: of the one run that it is for; without it pods move by eviction alone: whose one that moves by surge
    is stands on it.

    ``surges_under``: the Lease that such a run holds; ``as_seen``: where more is made of a snapshot than the ways do;
    ``settings``: see ``Executor``.
    """
    surge, migration = policy.disruption.surge, policy.disruption.migration

    def own_proof(cluster: Cluster, rest: Plan) -> Sequence[Objection]:
        return prove_rest(cluster, rest, policy, selection, schedulers)

    return ways.executor(
        target,
        gate,
        clock,
        hold=HoldSettings(policy.hold.deadline, policy.hold.namespace),
        guidance=policy.guidance.value,
        proof=ways.proof or own_proof,
        as_seen=as_seen or ways.seen_by(schedulers),
        run_id=run_id,
        in_flight=policy.limits.in_flight,
        surge=None if run_id is None else SurgeRules(surge.ready_within, surge.settle, surges_under),
        migration=None if run_id is None else MigrationRules(migration.within),
        together=nobody if ways.proof else partial(groups_moving_together, label=policy.disruption.move_together),
        **settings,
    )
