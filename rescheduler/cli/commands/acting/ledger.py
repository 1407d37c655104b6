"""``ledger accept-loss``: let a daemon go on whose record of past evictions was lost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from rescheduler.cli.failures import DONE, FAILED, UsageError
from rescheduler.cli.help_screens import GroupedCommand, OrderedGroup
from rescheduler.cli.options import LiveOptions, Yes, policies, with_options
from rescheduler.cli.streams import confirmed, is_terminal, say, write
from rescheduler.model.printable import printable

commands = typer.Typer(
    cls=OrderedGroup, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)


@dataclass(frozen=True)
class LossFlags(LiveOptions):
    """Which ledger, and whether to ask."""

    policy: Annotated[
        list[str] | None, policies("Policies; they name the ledger [default: rescheduler-holds/rescheduler-ledger]")
    ] = None
    yes: Yes = False


@commands.command("accept-loss", cls=GroupedCommand, short_help="go on although records of past evictions are lost")
@with_options
def accept_loss(options: LossFlags) -> int:
    """Let evictions go on although records of earlier ones are lost: they count in no budget any more.

    What can still be read of the ledger goes on counting. A circuit breaker that was open is closed by this where it
    stood in what is lost. Evictions that are under way are not known any more: wait until pods are Ready.
    """
    from rescheduler.composition.live import cluster_source, ledgers
    from rescheduler.daemon.plugins import load_policy

    if not options.yes and not is_terminal(sys.stdin):
        raise UsageError(
            "ledger accept-loss asks before it writes, and there is no terminal to ask on; repeat with --yes"
        )
    policy = load_policy(options.policy or [])
    where = cluster_source.ClusterOptions(kubeconfig=options.kubeconfig, context=options.context)

    def confirm(name: str, lost: Sequence[str]) -> bool:
        for text in lost or ["nothing is missing from it; a daemon may remember more than stands in it"]:
            say(f"ConfigMap {printable(name)}: {printable(text)}")
        return options.yes or confirmed("Let evictions go on without what is lost? [y/N] ")

    accepted = ledgers.accept_loss(where, policy, confirm=confirm)
    if accepted is None:
        say("nothing was written")
        return FAILED
    write(f"accepted: evictions go on by what stands in ConfigMap {printable(accepted)}\n")
    return DONE
