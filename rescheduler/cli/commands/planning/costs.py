"""``costs``: what the cluster's nodes cost, by whom, and what each rule costs."""

from __future__ import annotations

from rescheduler.cli.failures import DONE, UsageError
from rescheduler.cli.options import PlanningFlags, with_options
from rescheduler.cli.parameters import OutputFormat
from rescheduler.cli.plan_output import print_report
from rescheduler.cli.preparation import cycle_options_from, policy_from, read_world, refuse_formats
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import warn


@with_options
def costs(options: PlanningFlags) -> int:
    """Say what the nodes of a live cluster or a recording cost a month: by pool, namespace and owner, and what is idle.

    And for each rule that keeps nodes in use (a PodDisruptionBudget, an annotation, single replicas, a limit) what a
    plan without it saves beyond one with it, and the proven most. Prices come from the policy or --prices. Nothing is
    written.
    """
    refuse_formats(options.output, "costs", OutputFormat.HTML)
    policy = policy_from(options)
    if not policy.prices.is_asked_for:
        raise UsageError("costs needs prices: give --prices FILE, or write prices into the policy")
    with shown_progress() as progress:
        from rescheduler.composition.costing.costing import costs_of
        from rescheduler.report.costs import costs_report

        cluster, schedulers = read_world(options, policy, progress)
        found = costs_of(cluster, policy, cycle_options_from(options, policy, cluster, schedulers, progress))
    warn(found.warnings)
    print_report(found, options.output, lambda wide: costs_report(found, wide=wide))
    return DONE
