"""What a round does with the ledger before it plans: debts that are over are closed, the breaker is judged."""

from __future__ import annotations

from msgspec import structs

from rescheduler.daemon.rounds.world import RoundContext
from rescheduler.disruption.budgets.workload_budgets import BereftWorkloads
from rescheduler.disruption.earlier.ramp_up import remembering
from rescheduler.disruption.gate.breaker import judge_breaker
from rescheduler.execution.ledger.ledger_rules import LedgerRules
from rescheduler.execution.ledger.open_evictions import settled
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.model.daemon.ledger import Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.policy.fields.policy import Mode, Policy


def settled_ledger(world: RoundContext, policy: Policy, rules: LedgerRules, cluster: Cluster) -> Ledger:
    """The ledger with what the snapshot proves, kept so, but for a dry run, which keeps nothing.

    Raises as LedgerWriter, and PlanStoppedError where somebody has marked the ledger.
    """

    def change(ledger: Ledger) -> Ledger | None:
        _refuse_when_stopped(writer.stop)
        new = _settled(world, policy, ledger, cluster)
        return None if new == ledger else new

    if policy.mode is Mode.DRY_RUN:
        reading = world.ledger.read()
        _refuse_when_stopped(reading.stop)
        return _settled(world, policy, reading.ledger, cluster)
    writer = rules.writer(world.ledger, world.clock)
    writer.update(change, lambda _: False, cluster.taken_at)
    return writer.ledger


def _settled(world: RoundContext, policy: Policy, ledger: Ledger, cluster: Cluster) -> Ledger:
    disruption, now = policy.disruption, cluster.taken_at
    new = settled(ledger, cluster, lambda pod: world.target.read_pod(pod.namespace, pod.name))
    new = structs.replace(new, breaker=judge_breaker(new, disruption.breaker, now, BereftWorkloads(cluster)))
    if policy.mode is Mode.DRY_RUN:
        return new
    return remembering(new, disruption.ramp_up, now, begins=policy.mode is Mode.EXECUTE)


def _refuse_when_stopped(mark: str | None) -> None:
    if mark is not None:
        raise PlanStoppedError(f"stopped by the mark on the ledger: {mark}")
