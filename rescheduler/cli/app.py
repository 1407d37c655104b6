"""All commands in the order in which one learns them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer

from rescheduler import __version__
from rescheduler.cli.failures import WRONG_USE
from rescheduler.cli.help_screens import GroupedCommand, OrderedGroup
from rescheduler.cli.streams import say, write

HELP_NAMES = {"help_option_names": ["-h", "--help"]}

COMMANDS = {
    "demo": "watch the whole loop on the embedded cluster; needs no Kubernetes",
    "check": "read a policy, or a scheduler's configuration, and say what it does",
    "doctor": "say what on a live cluster would keep it from working, each with the fix",
    "simulate": "try a policy on the embedded cluster",
    "plan": "propose moves for a cluster or a recording",
    "costs": "say what the nodes cost, whom, and what each rule costs that keeps them in use",
    "diff": "show what differs between two plans",
    "score": "show what the scheduler thinks of every node for a pod",
    "schedule": "show where the scheduler would put each pending pod",
    "snapshot": "record a cluster in a file",
    "record": "keep snapshots with load in an archive",
    "backtest": "ask what policies would have done over an archive",
    "apply": "carry out one reviewed plan",
    "history": "show what was moved, why, and where it landed",
    "clean": "remove what a killed process left behind",
    "run": "keep going: wait for triggers, plan, and carry out what the policy allows",
    "watcher": "collect measured load and tell it over REST",
    "ui": "show the daemon's page in a browser",
}
"""Each is the function of its name in the module of its name, in one of the rooms under ``cli/commands``."""
GROUPS_OF_COMMANDS = {
    "fleet": "plan for many clusters side by side",
    "policy": "list and show the shipped policies, and begin one of your own",
    "explain": "say why a pod or a node would or would not move",
    "top": "show measured load of nodes and pods, with trust and age",
    "ledger": "let evictions go on whose record of earlier ones was lost",
}
_ROOMS = {
    "archives": ("record", "backtest", "fleet"),
    "acting": ("apply", "run", "clean", "history", "ledger"),
    "looking": ("doctor", "snapshot", "top", "ui", "watcher"),
    "planning": ("costs", "demo", "diff", "explain", "plan", "schedule", "score", "simulate"),
    "policies": ("check", "policy"),
}


def _show_version(value: bool) -> None:
    if value:
        write(f"rescheduler {__version__}\n")
        raise typer.Exit


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


def application(words: Sequence[str]) -> typer.Typer:
    """The command line for ``words``: of all commands, or only of the one that they begin with, to load no other."""
    app = typer.Typer(
        name="rescheduler",
        cls=OrderedGroup,
        help="Move running pods to better nodes, when the gain is worth the disturbance.",
        epilog="Every command but apply, clean, ledger and run only reads. COMMAND --help tells more of one.",
        rich_markup_mode=None,
        invoke_without_command=True,
        pretty_exceptions_enable=False,
        context_settings=HELP_NAMES,
    )
    app.callback()(rescheduler)
    known = COMMANDS | GROUPS_OF_COMMANDS
    for name in words[:1] if words and words[0] in known else known:
        (room,) = (room for room, names in _ROOMS.items() if name in names)
        module = import_module(f"rescheduler.cli.commands.{room}.{name}")
        if name in COMMANDS:
            command = app.command(cls=GroupedCommand, short_help=COMMANDS[name], context_settings=HELP_NAMES)
            command(getattr(module, name))
        else:
            app.add_typer(module.commands, name=name, short_help=GROUPS_OF_COMMANDS[name])
    return app
