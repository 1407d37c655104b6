"""``clean``: remove what we left behind."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from rescheduler.cli.failures import DONE, FAILED, UsageError
from rescheduler.cli.options import LiveOptions, with_options
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import confirmed, is_terminal, say, write
from rescheduler.model.printable import printable


@dataclass(frozen=True)
class CleanFlags(LiveOptions):
    """Which cluster, and whether to ask."""

    policy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="Policies; they name the namespace of placeholders [default: rescheduler-holds]",
            show_default=False, rich_help_panel="Policy",
        ),
    ] = None  # fmt: skip
    yes: Annotated[
        bool,
        typer.Option("--yes", "-y", help="Do not ask; off a terminal nothing is done without it",
                     rich_help_panel="Limits"),
    ] = False  # fmt: skip


@with_options
def clean(options: CleanFlags) -> int:
    """Remove the placeholders that a killed process left behind; nothing else is touched.

    They would go by themselves when their deadline is over. Only what carries our own label is removed.
    """
    from rescheduler import wiring
    from rescheduler.policy.loader import load_policy
    from rescheduler.report.cells import plural

    if not options.yes and not is_terminal(sys.stdin):
        raise UsageError("clean asks before it removes, and there is no terminal to ask on; repeat with --yes")
    policy = load_policy(options.policy or [])
    where = wiring.ClusterOptions(kubeconfig=options.kubeconfig, context=options.context)
    with shown_progress() as progress:

        def confirm(names: Sequence[str]) -> bool:
            progress.pause()
            for name in names:
                say(f"left behind: {printable(name)}")
            return options.yes or confirmed(f"Remove {plural(len(names), 'placeholder')}? [y/N] ")

        removed = wiring.clean(where, policy, confirm=confirm, progress=progress)
    if removed is None:
        say("nothing was removed")
        return FAILED
    write("".join(f"removed {printable(name)}\n" for name in removed) or "nothing was left behind\n")
    return DONE
