"""``plan`` with a DeschedulerPolicy: what descheduler would do, and what would come of it."""

from __future__ import annotations

from dataclasses import replace

from rescheduler.cli.failures import DONE, NOT_EMPTY, UsageError
from rescheduler.cli.options import PlanFlags
from rescheduler.cli.parameters import OutputFormat
from rescheduler.cli.plan_output import print_document
from rescheduler.cli.preparation import earlier_evictions, policy_from, read_world, refuse_formats, selection_from
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import show, warn


def foretold(options: PlanFlags, files: tuple[str, ...]) -> int:
    """Walk one cycle of the policy among ``files``; nothing is written."""
    from rescheduler.composition import foretelling
    from rescheduler.report.foretold import foretold_report

    refuse_formats(options.output, "a plan of a DeschedulerPolicy", OutputFormat.HTML)
    if options.objective:
        raise UsageError("--objective: a DeschedulerPolicy brings its own plugins; leave it out")
    foretelling.only_one(files)
    written = foretelling.read_file(files[0])
    beside = replace(options, policy=[file for file in options.policy or [] if file not in files])
    policy = policy_from(beside)
    _refuse_objectives(beside.policy or [])
    with shown_progress() as progress:
        cluster, schedulers = read_world(beside, policy, progress, with_details=True)
        plan = foretelling.plan(
            cluster,
            written,
            policy,
            selection=selection_from(options),
            schedulers=schedulers,
            earlier=earlier_evictions(beside, policy, cluster),
        )
    warn(plan.warnings)
    if options.output in (OutputFormat.JSON, OutputFormat.YAML):
        print_document(plan, options.output)
    else:
        show(foretold_report(plan, wide=options.output is OutputFormat.WIDE))
    return NOT_EMPTY if options.exit_code and plan.moves else DONE


def _refuse_objectives(files: list[str]) -> None:
    """Raise UsageError where the policies beside ask for objectives of their own."""
    from rescheduler.daemon.plugins import load_policy

    if "objectives" in load_policy(files).model_fields_set:
        raise UsageError(f"{', '.join(files)}: objectives beside a DeschedulerPolicy, whose plugins are the objectives")
