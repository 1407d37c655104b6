"""``top``: measured load of nodes and pods, with its trust and age."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from rescheduler.cli.failures import DONE, UsageError
from rescheduler.cli.help_screens import GroupedCommand, OrderedGroup
from rescheduler.cli.options import ClusterFlags, form, policies, with_options
from rescheduler.cli.parameters import OutputFormat, parsed, positive_duration
from rescheduler.cli.plan_output import print_document
from rescheduler.cli.preparation import cluster_options_from, refuse_formats
from rescheduler.cli.streams import console, is_terminal, show, warn

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rescheduler.composition.load.usage_view import UsageGlance
    from rescheduler.policy.fields.policy import Policy
    from rescheduler.report.plan.bars import BarStyle
    from rescheduler.report.usage import UsageView


DEFAULT_WINDOW: Final = 300.0
LONGEST_WINDOW: Final = 86400.0
SHORTEST_PAUSE_SECONDS: Final = 2.0

commands = typer.Typer(
    cls=OrderedGroup, rich_markup_mode=None, context_settings={"help_option_names": ["-h", "--help"]}
)


@dataclass(frozen=True)
class TopFlags(ClusterFlags):
    """Whose load is shown, over which window, and how."""

    policy: Annotated[
        list[str] | None, policies("A ReschedulerPolicy with usage.providers; repeatable, a later one wins by field")
    ] = None
    usage: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Measured load from a recording, the JSON that GET /watcher returns, in place of a "
            "provider; it has one window of its own",
            show_default=False, rich_help_panel="Policy",
        ),
    ] = None  # fmt: skip
    window: Annotated[
        float,
        typer.Option(
            metavar="DURATION", parser=parsed(positive_duration), rich_help_panel="Output", show_default=False,
            help="Time over which load is averaged, such as 5m or 1h [default: 5m]",
        ),
    ] = DEFAULT_WINDOW  # fmt: skip
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Show it anew every usage.interval until Ctrl-C", show_default=False,
            rich_help_panel="Output",
        ),
    ] = False  # fmt: skip
    output: Annotated[
        OutputFormat,
        form("table, wide, json or yaml"),
    ] = OutputFormat.TABLE


@commands.command("nodes", cls=GroupedCommand, short_help="load of each node, how old it is and whether to believe it")
@with_options
def top_nodes(options: TopFlags) -> int:
    """Show the measured load of each node over a window, the age of its newest sample, and whether it is believed.

    Taken from the file of a running watcher if the policy names one, else from the policy's providers.
    """
    return _top(options, with_pods=False)


@commands.command("pods", cls=GroupedCommand, short_help="load of each pod, and its share of the node")
@with_options
def top_pods(options: TopFlags) -> int:
    """Show the measured load of each pod over a window, and its share of the node's capacity."""
    return _top(options, with_pods=True)


def _top(options: TopFlags, *, with_pods: bool) -> int:
    from rescheduler.adapters.clock import SystemClock

    refuse_formats(options.output, "top", OutputFormat.HTML)
    policy = _policy(options)
    clock = SystemClock()
    glance = _glance(options, policy, clock, with_pods=with_pods)
    pause = max(SHORTEST_PAUSE_SECONDS, policy.usage.interval)
    while True:
        view = glance.look()
        if options.watch and is_terminal(sys.stdout):
            console(sys.stdout).clear()
        _show(view, options.output, with_pods=with_pods)
        if not options.watch:
            return DONE
        clock.sleep(pause)


def _policy(options: TopFlags) -> Policy:
    """The policy. Raises PolicyError, and UsageError for a window that cannot be kept."""
    from rescheduler.daemon.plugins import load_policy
    from rescheduler.policy.fields.values import format_duration

    policy = load_policy(options.policy or [])
    if options.usage == "":
        raise UsageError("--usage: an empty file name; name a recording of load")
    if not policy.usage.interval <= options.window <= LONGEST_WINDOW:
        found, shortest = format_duration(options.window), format_duration(policy.usage.interval)
        raise UsageError(f"--window: found {found}; wanted {shortest} (usage.interval) to 24h")
    return policy


def _glance(options: TopFlags, policy: Policy, clock: Any, *, with_pods: bool) -> UsageGlance:
    from rescheduler.composition.load.usage_view import UsageGlance
    from rescheduler.policy.reading.errors import named

    where = cluster_options_from(options)
    with named(options.policy or []):
        return UsageGlance(
            policy,
            where,
            options.window,
            clock,
            lambda text: warn([text]),
            usage_file=options.usage,
            with_pods=with_pods,
        )


def _show(view: UsageView, output: OutputFormat, *, with_pods: bool) -> None:
    from rescheduler.report.usage import node_usage, pod_usage

    found = pod_usage(view) if with_pods else node_usage(view)
    if output in (OutputFormat.JSON, OutputFormat.YAML):
        print_document(found, output)
        return
    warn(view.warnings)
    show(_tables(found, wide=output is OutputFormat.WIDE))


def _tables(found: Any, *, wide: bool) -> Iterator[RenderableType]:
    from rescheduler.report.usage import NodeUsageList, node_usage_table, pod_usage_table

    style = _style()
    if isinstance(found, NodeUsageList):
        return node_usage_table(found, style=style, wide=wide)
    return pod_usage_table(found, style=style)


def _style() -> BarStyle | None:
    """Bars are for a person at a terminal."""
    from rescheduler.report.plan.bars import BarStyle

    if not is_terminal(sys.stdout):
        return None
    out = console(sys.stdout)
    return BarStyle(width=out.width, is_ascii=not out.encoding.lower().startswith("utf"))
