"""Plans, and carries the plans out, in the embedded cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.composition.live.carrying_out import executor_for
from rescheduler.composition.live.ledgers import Ledgers
from rescheduler.composition.load.recorded_load import LoadAtRest
from rescheduler.composition.planning import cycle_options
from rescheduler.cycle import make_plan
from rescheduler.execution.ledger.open_evictions import READY_SECONDS, settled
from rescheduler.execution.run.executor import plan_id_of
from rescheduler.extension_points import NOTHING_EARLIER, LedgerReading, Progress, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import PlanResult, PodReference
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers


@dataclass(frozen=True)
class SimulationReport:
    """A cluster before and after, and each cycle's plan with what became of it.

    ``ties``: by pod, the nodes that the scheduler scored alike, of which it drew one.
    """

    before: Cluster
    results: tuple[PlanResult, ...]
    after: Cluster
    ties: Mapping[str, Sequence[str]] = field(default_factory=dict)


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
    # What is not recorded is not there, in the embedded cluster; plans go on saying that it was not read.
    policies = cluster.network_policies
    world = SimulatedCluster(replace(cluster, network_policies=policies or ()), seed=seed, schedulers=schedulers)
    ledger = SimulatedLedger(world.clock, earlier.ledger)
    ledger.stop = earlier.stop
    results: list[PlanResult] = []
    for number in range(cycles):
        if number:
            world.clock.sleep(READY_SECONDS)  # so that the debts of the cycle before can be closed
        known = earlier._replace(ledger=settled(ledger.ledger, now := world.read(), _standing_in(now)))
        asked = cycle_options(
            policy, selection=selection, schedulers=schedulers, seed=seed, earlier=known, progress=progress
        )
        proposed = make_plan(replace(now, network_policies=policies), policy, asked)
        executor = executor_for(
            world, world.clock, policy, selection, schedulers, 600.0, progress, Ledgers(ledger, None), proposed,
            plan_id_of(proposed),
        )  # fmt: skip
        results.append(executor.carry_out(proposed))
        world.settle()
        if not proposed.moves:
            break
    return SimulationReport(before=cluster, results=tuple(results), after=world.read(), ties=world.ties)


def _standing_in(cluster: Cluster) -> Callable[[PodReference], Pod | None]:
    return lambda reference: cluster.pod_by_key.get(reference.key)
