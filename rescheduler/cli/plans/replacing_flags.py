"""The options that ask for cheaper machines in place of nodes, and whether they are to be made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.failures import UsageError
from rescheduler.cli.options import ImprovingFlags

if TYPE_CHECKING:
    from rescheduler.composition.replacing import NodesToReplace
    from rescheduler.policy.fields.policy import Policy


@dataclass(frozen=True)
class ReplacingFlags(ImprovingFlags):
    """The options of every plan, and nodes that cheaper machines are to replace."""

    replace_node: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Which cheaper machines of the table of prices could take its pods? Plan as if they "
            "were there; repeatable, for all of them together",
            show_default=False, rich_help_panel="What if",
        ),
    ] = None  # fmt: skip
    replace_pool: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="The same for the nodes of a NodePool whose pods may all be moved; repeatable",
            show_default=False, rich_help_panel="What if",
        ),
    ] = None  # fmt: skip
    buy: Annotated[
        bool,
        typer.Option(
            "--buy", help="With such a plan: a placeholder asks the autoscaler for each machine, and nothing is moved "
            "before all of them are Ready; `plan` says what would be asked for",
            show_default=False, rich_help_panel="What if",
        ),
    ] = False  # fmt: skip


def replaces(options: ReplacingFlags) -> bool:
    """Whether nodes are to be replaced."""
    return bool(options.replace_node or options.replace_pool)


def wanted_of(options: ReplacingFlags) -> NodesToReplace:
    """Which ones."""
    from rescheduler.composition.replacing import NodesToReplace

    return NodesToReplace(tuple(options.replace_node or ()), tuple(options.replace_pool or ()))


def refuse_bad_replacing(options: ReplacingFlags) -> None:
    """Raise UsageError, before anything is read, for what cannot be asked."""
    if "" in (*(options.replace_node or ()), *(options.replace_pool or ())):
        raise UsageError("--replace-node, --replace-pool: an empty name; name a node or a NodePool")
    if replaces(options) and options.objective:
        raise UsageError("--replace-node and --replace-pool have an objective of their own; leave --objective out")


def refuse_without_sizes(policy: Policy, needed: str) -> None:
    """Raise UsageError where the table of prices knows no machine; ``needed``: by which options it is."""
    if not any(row.resources and row.place[0] for row in policy.prices.table.rows()):
        raise UsageError(f"{needed}: wanted a table of prices that says instanceType and resources; give --prices FILE")


def refuse_buying_under_predict(options: ReplacingFlags, policy: Policy) -> None:
    """Raise UsageError where placeholders are wanted, and the policy lets nothing be written but evictions."""
    from rescheduler.policy.fields.policy import Guidance

    if options.buy and policy.guidance is Guidance.PREDICT:
        raise UsageError(
            "--buy asks by placeholders, and guidance: Predict writes nothing but evictions; change one of them"
        )
