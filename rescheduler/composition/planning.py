"""What a cycle needs that a command asks for, and plans for other times and rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Final, TypeVar

from msgspec.structs import replace as with_changes

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.cycle import CycleOptions, make_plan, observed_load
from rescheduler.disruption.methods.could_surge import with_surge_for_the_rest
from rescheduler.extension_points import NOTHING_EARLIER, Clock, LedgerReading, Progress, no_progress
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.foretold_plan import ForetoldPlan
from rescheduler.model.plan.plan import Plan
from rescheduler.model.usage.observed_use import ObservedUse
from rescheduler.planning.lexicographic.document import summary_of
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers
from rescheduler.usage.observed_use import FELL_BACK

SomePlan = TypeVar("SomePlan", Plan, ForetoldPlan)

_LOAD_AT_REST: Final = "the measured load stays as it was when the cluster was read"


def as_if_at(cluster: Cluster, schedulers: Schedulers, at: float) -> tuple[Cluster, Schedulers]:
    """The cluster with another time as its now, so that ages, windows and budgets are those of then; load stands still.

    ``at``: seconds since the epoch.
    """
    from rescheduler.composition.load.recorded_load import LoadAtRest

    load = LoadAtRest(schedulers.load, cluster.taken_at, _LOAD_AT_REST)
    return replace(cluster, taken_at=at), replace(schedulers, load=load)


def told_as_if_at(proposed: SomePlan, cluster: Cluster, at: float) -> SomePlan:
    """A plan that was made for another time: it says so, and when the cluster was read in truth."""
    taken_at, then = (summary_of(one).taken_at for one in (cluster, replace(cluster, taken_at=at)))
    said = f"planned as if it were {then}; the cluster is that of {taken_at}"
    snapshot = with_changes(proposed.snapshot, taken_at=taken_at)
    return with_changes(proposed, snapshot=snapshot, warnings=(said, *proposed.warnings))


def measured_load(cluster: Cluster, policy: Policy, schedulers: Schedulers) -> ObservedUse | None:
    """What the policy's SpreadLoad judges the nodes by; None without such an objective, or where requests stand in."""
    windows = schedulers.load.windows(cluster)
    observed = None if windows is None else observed_load(policy, windows, columns_of(cluster))
    return None if observed is None or FELL_BACK in observed.notes else observed


def with_surges(cluster: Cluster, policy: Policy, options: CycleOptions) -> Plan:
    """What would be proposed if a rule let all pods move by surge that can and that no rule names."""
    return make_plan(cluster, with_surge_for_the_rest(policy) or policy, options)


def cycle_options(
    policy: Policy,
    *,
    selection: Selection,
    schedulers: Schedulers = DEFAULTS,
    seed: int = 0,
    clock: Clock | None = None,
    earlier: LedgerReading = NOTHING_EARLIER,
    progress: Progress = no_progress,
    start: Plan | None = None,
) -> CycleOptions:
    """What a cycle needs besides cluster and policy, with the kill switch on this machine as it stands now.

    ``earlier``: what is known of earlier evictions; ``start``: another plan, where the search begins.
    """
    stop = stop_file(policy.stop.file) or earlier.stop
    return CycleOptions(
        clock or SystemClock(), schedulers, selection, seed, progress, ledger=earlier.ledger, stop=stop, start=start
    )
