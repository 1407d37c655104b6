"""``fleet plan``: many clusters side by side, read only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.commands.archives.backtest import EngineFlags, EngineName, engine_of
from rescheduler.cli.failures import DONE, FAILED, UsageError
from rescheduler.cli.help_screens import GroupedCommand, OrderedGroup
from rescheduler.cli.options import Kubeconfig, PricesFile, form, policies, with_options
from rescheduler.cli.parameters import OutputFormat
from rescheduler.cli.plan_output import print_report
from rescheduler.cli.preparation import refuse_formats
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import say

if TYPE_CHECKING:
    from rescheduler.batch.fleet_plan import FleetMember

commands = typer.Typer(
    cls=OrderedGroup, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)


@dataclass(frozen=True)
class FleetFlags(EngineFlags):
    """Which clusters, and by which policy."""

    contexts: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB", help="Live clusters: contexts of the kubeconfig, such as 'prod-*'", show_default=False,
            rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip
    archives: Annotated[
        str | None,
        typer.Option(
            metavar="GLOB", help="Recorded clusters: the newest snapshot of each archive, such as 'archives/*'",
            show_default=False, rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip
    kubeconfig: Kubeconfig = None
    policy: Annotated[
        list[str] | None,
        policies("A ReschedulerPolicy, or the name of a shipped one; repeatable, a later one wins field by field"),
    ] = None
    prices: PricesFile = None
    output: Annotated[
        OutputFormat,
        form("table, json or yaml"),
    ] = OutputFormat.TABLE


@commands.command("plan", cls=GroupedCommand, short_help="what could be gained where, and what stands in the way")
@with_options
def plan(options: FleetFlags) -> int:
    """Plan for each of many clusters by itself; nothing is written.

    A cluster that does not answer, or whose newest snapshot cannot be read, is told as failed (exit 1); the others are
    on standard output all the same.
    """
    from rescheduler.batch.fleet_plan import plan_fleet
    from rescheduler.report.fleet.clusters import clusters

    refuse_formats(options.output, "fleet plan", OutputFormat.HTML, OutputFormat.WIDE)
    members, is_live = _members(options)
    with shown_progress() as progress:
        document = plan_fleet(members, engine_of(options), is_live=is_live, progress=progress)
    for one in document["clusters"]:
        if one["error"] is not None:
            say(f"error: {one['name']}: {one['error']}")
    print_report(document, options.output, lambda _: clusters(document))
    return FAILED if any(one["error"] is not None for one in document["clusters"]) else DONE


def _members(options: FleetFlags) -> tuple[list[FleetMember], bool]:
    from rescheduler.batch.backtest.policy_variants import read_variants
    from rescheduler.batch.fleet_plan import members_of_archives, members_of_contexts

    if (options.contexts is None) == (options.archives is None):
        raise UsageError("give --contexts GLOB for live clusters, or --archives GLOB for recorded ones")
    if options.contexts is not None and options.engine is not EngineName.LOCAL:
        raise UsageError("--contexts: Dask's workers have no kubeconfig of yours; leave --engine dask out")
    (case,) = read_variants([",".join(options.policy or [])], [], options.prices).cases
    if options.contexts is not None:
        return members_of_contexts(options.contexts, options.kubeconfig, case), True
    return members_of_archives(options.archives or "", case), False
