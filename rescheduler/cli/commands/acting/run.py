"""``run``: the daemon, until it is asked to stop."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.options import LARGEST_SEED, LiveOptions, policies, with_options
from rescheduler.cli.parameters import duration, parsed, whole_number

if TYPE_CHECKING:
    from rescheduler.daemon.assembly import DaemonOptions


class LogLevel(StrEnum):
    """How much is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


@dataclass(frozen=True)
class RunFlags(LiveOptions):
    """Where the cluster is, and the policy's files."""

    policy: Annotated[
        list[str] | None,
        policies(
            "A ReschedulerPolicy, or the name of a shipped one; repeatable, a later one wins "
            "field by field; read anew when it changes [default: the defaults of docs/policy-reference.md, a dry run]"
        ),
    ] = None
    seed: Annotated[
        int,
        typer.Option(
            parser=parsed(whole_number(0, LARGEST_SEED)), metavar="N", rich_help_panel="Limits",
            help="Seed of every random choice of the planner",
        ),
    ] = 0  # fmt: skip
    once: Annotated[
        bool,
        typer.Option(
            "--once", help="Run one round at once, whatever the triggers say, and end, with exit code 1 where it "
            "fails; for a CronJob",
            show_default=False, rich_help_panel="Limits",
        ),
    ] = False  # fmt: skip
    descheduling_interval: Annotated[
        float | None,
        typer.Option(
            metavar="DURATION", parser=parsed(duration), help="With a DeschedulerPolicy: time between two cycles, in "
            "place of triggers; 0 runs one and ends [default: 5m, or what a trigger beside it says]",
            show_default=False, rich_help_panel="Limits",
        ),
    ] = None  # fmt: skip
    log_level: Annotated[
        LogLevel,
        typer.Option(metavar="LEVEL", help="debug, info, warning or error", rich_help_panel="Output"),
    ] = LogLevel.INFO


@with_options
def run(options: RunFlags) -> int:
    """Watch a live cluster and act when a trigger of the policy fires; what it may do, the policy's mode says.

    Under DryRun, the default, nothing is ever written. SIGTERM and Ctrl-C end it: an eviction under way is finished,
    what was held is let go, and the lease is given up. SIGUSR1 asks for a round, SIGHUP reads the policy anew.
    """
    from rescheduler.adapters.telemetry.log import configure_logging
    from rescheduler.daemon.api.daemon_running import run_daemon

    log = configure_logging(options.log_level.value)
    try:
        return run_daemon(_daemon_options(options), log)
    finally:
        log.close()


def _daemon_options(options: RunFlags) -> DaemonOptions:
    from rescheduler.composition.live.cluster_source import ClusterOptions
    from rescheduler.daemon.assembly import DaemonOptions

    return DaemonOptions(
        where=ClusterOptions(kubeconfig=options.kubeconfig, context=options.context),
        policy_files=tuple(options.policy or ()),
        seed=options.seed,
        is_once=options.once or options.descheduling_interval == 0,
        descheduling_interval=options.descheduling_interval,
    )
