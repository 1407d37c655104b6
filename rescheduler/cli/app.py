"""All commands in the order in which one learns them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from rescheduler import __version__
from rescheduler.cli.commands.apply import apply
from rescheduler.cli.commands.check import check
from rescheduler.cli.commands.clean import clean
from rescheduler.cli.commands.demo import demo
from rescheduler.cli.commands.explain import commands as explain
from rescheduler.cli.commands.history import history
from rescheduler.cli.commands.plan import plan
from rescheduler.cli.commands.run import run
from rescheduler.cli.commands.schedule import schedule
from rescheduler.cli.commands.score import score
from rescheduler.cli.commands.simulate import simulate
from rescheduler.cli.commands.snapshot import snapshot
from rescheduler.cli.commands.top import commands as top
from rescheduler.cli.commands.watcher import watcher
from rescheduler.cli.failures import WRONG_USE
from rescheduler.cli.help_screens import GroupedCommand, OrderedGroup
from rescheduler.cli.streams import say, write

HELP_NAMES = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="rescheduler",
    cls=OrderedGroup,
    help="Move running pods to better nodes, when the gain is worth the disturbance.",
    epilog="Every command but apply, clean and run only reads. rescheduler COMMAND --help tells more of one.",
    rich_markup_mode=None,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings=HELP_NAMES,
)


def _show_version(value: bool) -> None:
    if value:
        write(f"rescheduler {__version__}\n")
        raise typer.Exit


@app.callback()
def rescheduler(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001 - acts through its callback
        bool, typer.Option("--version", help="Show the version", callback=_show_version, is_eager=True)
    ] = False,
) -> Any:
    """Without a command: the help screen, as wrong use."""
    if context.invoked_subcommand is None:
        say(context.get_help())
        raise typer.Exit(WRONG_USE)


for command, short_help in (
    (demo, "watch the whole loop on the embedded cluster; needs no Kubernetes"),
    (check, "read a policy, or a scheduler's configuration, and say what it does"),
    (simulate, "try a policy on the embedded cluster"),
    (plan, "propose moves for a cluster or a recorded snapshot"),
    (score, "show what the scheduler thinks of every node for a pod"),
    (schedule, "show where the scheduler would put each pending pod"),
    (snapshot, "record a cluster in a file"),
    (apply, "carry out one reviewed plan"),
    (history, "show what was moved, why, and where it landed"),
    (clean, "remove what a killed process left behind"),
    (run, "keep going: wait for triggers, plan, and carry out what the policy allows"),
    (watcher, "collect measured load and tell it over REST"),
):
    app.command(cls=GroupedCommand, short_help=short_help, context_settings=HELP_NAMES)(command)
app.add_typer(explain, name="explain", short_help="say why a pod or a node would or would not move")
app.add_typer(top, name="top", short_help="show measured load of nodes and pods, with trust and age")
