"""``clean``: remove what we left behind."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from rescheduler.cli.failures import DONE, FAILED, UsageError
from rescheduler.cli.options import LiveOptions, Yes, policies, with_options
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import confirmed, is_terminal, say, write
from rescheduler.model.printable import printable


@dataclass(frozen=True)
class CleanFlags(LiveOptions):
    """Which cluster, and whether to ask."""

    policy: Annotated[
        list[str] | None, policies("Policies; they name the namespace of placeholders [default: rescheduler-holds]")
    ] = None
    yes: Yes = False
    stale: Annotated[
        bool,
        typer.Option("--stale", help="Only what has run out and belongs to no plan that runs; asks nothing, so that a "
                     "CronJob can do it", rich_help_panel="Limits"),
    ] = False  # fmt: skip


@with_options
def clean(options: CleanFlags) -> int:
    """Remove placeholders, gates and taints that a killed process left behind; nothing else is touched.

    Placeholders would go by themselves when their deadline is over. Only what carries our own label is removed. Without
    --stale that is everything, also of a plan that runs at this moment.
    """
    from rescheduler.composition.live import cluster_source
    from rescheduler.daemon.plugins import load_policy
    from rescheduler.report.cells import plural

    if not options.yes and not options.stale and not is_terminal(sys.stdin):
        raise UsageError(
            "clean asks before it removes, and there is no terminal to ask on; repeat with --yes, or with --stale for "
            "what has run out"
        )
    policy = load_policy(options.policy or [])
    where = cluster_source.ClusterOptions(kubeconfig=options.kubeconfig, context=options.context)
    if options.stale:
        with shown_progress() as progress:
            return _told(*cluster_source.clean_stale(where, policy, progress))
    with shown_progress() as progress:

        def confirm(names: Sequence[str]) -> bool:
            progress.pause()
            for name in names:
                say(f"left behind: {printable(name)}")
            return options.yes or confirmed(f"Remove {plural(len(names), 'leftover')}? [y/N] ")

        removed = cluster_source.clean(where, policy, confirm=confirm, progress=progress)
    if removed is None:
        say("nothing was removed")
        return FAILED
    return _told(removed, ())


def _told(removed: Sequence[str], failures: Sequence[str]) -> int:
    """Say what was removed and what could not be; the exit code."""
    for failure in failures:
        say(failure)
    nothing = "" if failures else "nothing was left behind\n"
    write("".join(f"removed {printable(name)}\n" for name in removed) or nothing)
    return FAILED if failures else DONE
