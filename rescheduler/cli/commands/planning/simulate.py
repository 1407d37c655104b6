"""``simulate``: plan, then carry the plan out in the embedded cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.failures import DONE, FAILED, NOT_EMPTY
from rescheduler.cli.options import PlanFlags, with_options
from rescheduler.cli.parameters import OutputFormat, parsed, whole_number
from rescheduler.cli.plan_output import print_document, print_plan
from rescheduler.cli.preparation import earlier_evictions, policy_from, read_world, refuse_formats, selection_from
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import show, warn

if TYPE_CHECKING:
    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.plan.plan import PlanResult


MOST_CYCLES = 1000


@with_options
def simulate(
    options: PlanFlags,
    cycles: Annotated[
        int,
        typer.Option(
            parser=parsed(whole_number(1, MOST_CYCLES)), metavar="N", rich_help_panel="Limits",
            help="Plan and carry out up to so often, until a plan is empty",
        ),
    ] = 1,
) -> int:  # fmt: skip
    """Try a policy: plan, and carry the plan out in an embedded cluster that begins as the one that was read.

    The embedded cluster recreates evicted pods, obeys PodDisruptionBudgets and places pods as the scheduler would.
    The real cluster is only read.
    """
    from rescheduler.composition import simulating
    from rescheduler.model.plan.attempts import is_as_planned

    refuse_formats(options.output, "simulate", *([OutputFormat.HTML] if cycles > 1 else []))
    policy = policy_from(options)
    with shown_progress() as progress:
        cluster, schedulers = read_world(options, policy, progress)
        report = simulating.simulate(
            cluster,
            policy,
            selection=selection_from(options),
            schedulers=schedulers,
            seed=options.seed,
            cycles=cycles,
            earlier=earlier_evictions(options, policy, cluster),
            progress=progress,
        )
    warn(dict.fromkeys(warning for result in report.results for warning in result.warnings))
    _print(report.results, cluster, options.output)
    if not all(is_as_planned(result) for result in report.results):
        return FAILED
    return NOT_EMPTY if options.exit_code and any(result.moves for result in report.results) else DONE


def _print(results: tuple[PlanResult, ...], cluster: Cluster, output: OutputFormat) -> None:
    """One result as ``apply`` prints it; of several, a list of them."""
    if len(results) == 1:
        print_plan(results[0], cluster, output)
    elif output in (OutputFormat.JSON, OutputFormat.YAML):
        from rescheduler.report.documents import to_data

        items = [to_data(result) for result in results]
        print_document({"apiVersion": "rescheduler/v1alpha1", "kind": "PlanResultList", "items": items}, output)
    else:
        for number, result in enumerate(results, 1):
            show([f"Cycle {number}"])
            print_plan(result, cluster if number == 1 else None, output)
            show([""])
