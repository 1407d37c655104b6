"""``history``: what was moved, why, and where it landed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from rescheduler.cli.failures import DONE
from rescheduler.cli.options import LiveOptions, form, policies, with_options
from rescheduler.cli.parameters import OutputFormat, parsed, positive_duration
from rescheduler.cli.plan_output import print_report
from rescheduler.cli.preparation import refuse_formats
from rescheduler.cli.streams import warn


@dataclass(frozen=True)
class HistoryFlags(LiveOptions):
    """Whose history, how much of it, and in which form."""

    namespace: Annotated[
        list[str] | None,
        typer.Option(
            "-n", "--namespace", metavar="NAME", help="Only pods of this namespace; repeatable [default: all]",
            show_default=False, rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip
    policy: Annotated[
        list[str] | None, policies("Policies; they name the ledger [default: rescheduler-holds/rescheduler-ledger]")
    ] = None
    since: Annotated[
        float | None,
        typer.Option(
            metavar="DURATION", parser=parsed(positive_duration), show_default=False, rich_help_panel="Output",
            help="Only what was moved within this time, such as 1h or 24h [default: all that is kept]",
        ),
    ] = None  # fmt: skip
    output: Annotated[
        OutputFormat,
        form("table, wide, json or yaml"),
    ] = OutputFormat.TABLE


@with_options
def history(options: HistoryFlags) -> int:
    """Show what was moved, from where, where it was expected and where it landed, and why.

    From the cluster's ledger, and from what this machine remembers of its own runs (for 90 days, also without a
    cluster). Refused evictions are listed too.
    """
    from rescheduler.composition.live import cluster_source, history
    from rescheduler.daemon.plugins import load_policy
    from rescheduler.report.history import history_of, history_report

    refuse_formats(options.output, "history", OutputFormat.HTML)
    policy = load_policy(options.policy or [])
    found = history_of(
        history.past(
            cluster_source.ClusterOptions(kubeconfig=options.kubeconfig, context=options.context),
            policy,
            since_seconds=options.since,
            namespaces=options.namespace or (),
            tell=lambda text: warn([text]),
        )
    )
    print_report(found, options.output, lambda wide: history_report(found, wide=wide))
    return DONE
