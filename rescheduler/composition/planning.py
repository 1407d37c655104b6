"""Proposes moves for a snapshot."""

from __future__ import annotations

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.stop_file import stop_file
from rescheduler.cycle import CycleOptions, make_plan
from rescheduler.extension_points import NOTHING_EARLIER, Clock, LedgerReading, Progress, no_progress
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.disruption import Selection
from rescheduler.model.plan.plan import Plan
from rescheduler.policy.fields.policy import Policy
from rescheduler.scheduling.schedulers import DEFAULTS, Schedulers


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
