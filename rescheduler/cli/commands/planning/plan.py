"""``plan``: propose moves, write nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Final

import typer

from rescheduler.cli.failures import DONE, NOT_EMPTY, UsageError
from rescheduler.cli.options import with_options
from rescheduler.cli.parameters import MomentInTime, OutputFormat, moment, parsed
from rescheduler.cli.plan_output import print_plan
from rescheduler.cli.plans.replacing_flags import (
    ReplacingFlags,
    refuse_bad_replacing,
    refuse_buying_under_predict,
    refuse_without_sizes,
    replaces,
    wanted_of,
)
from rescheduler.cli.preparation import (
    cluster_options_from,
    cycle_options_from,
    given_files,
    own_policy_from,
    read_world,
    time_in,
)
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import warn
from rescheduler.model.objects.resources import CPU, MEMORY, PODS, QuantityError, offered_amount, resources
from rescheduler.model.plan.what_if import NodeShape
from rescheduler.model.prices import KEYS, Place
from rescheduler.model.printable import printable

if TYPE_CHECKING:
    from rescheduler.composition.given_policies import GivenFiles
    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.plan.plan import Plan
    from rescheduler.model.usage.observed_use import ObservedUse
    from rescheduler.policy.fields.policy import Policy


# Shapes of nodes as people write them: ``cpu=16,memory=64Gi``, ``like:NODE``, ``3xlike:NODE``.

MOST_ADDED: Final = 1000
NATIVE: Final = (CPU, MEMORY, PODS, "ephemeral-storage")
WANTED: Final = "wanted a shape such as cpu=16,memory=64Gi, like:NODE, type:TYPE or 2xlike:NODE"
KEYS_OF_TYPE: Final = {"capacity": "capacityType", "zone": "zone", "pool": "nodePool"}
"""What may stand behind a type, as people write it."""
_COUNTED: Final = re.compile(r"([0-9]{1,9})x(.*)", re.ASCII | re.DOTALL)
_RESOURCE: Final = re.compile(r"[a-zA-Z0-9]([-a-zA-Z0-9_./]{0,250}[a-zA-Z0-9])?", re.ASCII)


def parse_node_shape(text: str) -> NodeShape:
    """Read one shape. Raises ValueError naming what was found and what was wanted."""
    text = text.strip()
    counted = _COUNTED.fullmatch(text)
    count, shape = (int(counted[1]), counted[2].strip()) if counted else (1, text)
    if not 1 <= count <= MOST_ADDED:
        raise ValueError(f"found {count} nodes; wanted 1 to {MOST_ADDED}")
    if shape.startswith("like:"):
        like = shape.removeprefix("like:").strip()
        if not like:
            raise ValueError(f"found {printable(text, 60)!r}, which names no node; {WANTED}")
        return NodeShape(count, like=like)
    if shape.startswith("type:"):
        return NodeShape(count, place=_place(shape.removeprefix("type:")))
    return NodeShape(count, resources=resources(_amounts(shape).items()))


def _place(text: str) -> Place:
    """``TYPE[,zone=…][,capacity=…][,pool=…]``."""
    name, *parts = (part.strip() for part in text.split(","))
    if not name or "=" in name:
        raise ValueError(f"found {printable(name, 60)!r}, which names no type; {WANTED}")
    said = {"instanceType": name}
    for part in parts:
        key, _, value = (item.strip() for item in part.partition("="))
        if key not in KEYS_OF_TYPE or not value:
            raise ValueError(
                f"found {printable(part, 60)!r}; behind a type stand {', '.join(KEYS_OF_TYPE)}, each =VALUE"
            )
        if KEYS_OF_TYPE[key] in said:
            raise ValueError(f"{key} stands twice; write it once")
        said[KEYS_OF_TYPE[key]] = value
    return tuple(said.get(key) for key in KEYS)


def _amounts(shape: str) -> dict[str, int]:
    found: dict[str, int] = {}
    for part in shape.split(","):
        name, equals, quantity = (item.strip() for item in part.partition("="))
        if not equals or _RESOURCE.fullmatch(name) is None or not quantity:
            raise ValueError(f"found {printable(part, 60)!r}; {WANTED}")
        _refuse_unknown(name)
        if name in found:
            raise ValueError(f"{name} stands twice; write it once")
        try:
            found[name] = offered_amount(name, quantity)
        except QuantityError as error:
            raise ValueError(f"{name}: {error}") from None
    for name in (CPU, MEMORY):
        if not found.get(name):
            raise ValueError(f"{name}: {'0' if name in found else 'missing'}; a node needs some of it to take a pod")
    if PODS in found and not found[PODS]:
        raise ValueError("pods: 0; a node that takes no pod helps nobody; leave it out for 110")
    return found


def _refuse_unknown(name: str) -> None:
    """Raise for a name that is none of Kubernetes' own and has no domain, as every extended resource has."""
    if name in NATIVE or "/" in name or name.startswith("hugepages-"):
        return
    from difflib import get_close_matches

    near = get_close_matches(name, NATIVE, n=1, cutoff=0.5)
    meant = f"did you mean {near[0]}? There" if near else "there"
    native = ", ".join(NATIVE)
    raise ValueError(f"{printable(name, 60)}: no such resource; {meant} are {native}, and others like nvidia.com/gpu")


@dataclass(frozen=True)
class WhatIfFlags(ReplacingFlags):
    """The options of every plan, and nodes that come or go in thought."""

    remove_node: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Could this node go? Plan to empty it, in place of the policy's objectives; "
            "repeatable",
            show_default=False, rich_help_panel="What if",
        ),
    ] = None  # fmt: skip
    add_node: Annotated[
        list[NodeShape] | None,
        typer.Option(
            metavar="SHAPE", parser=parsed(parse_node_shape), help="Would one more of these help? Plan as if there was "
            "a further node, such as cpu=16,memory=64Gi,nvidia.com/gpu=1, like:NODE, 2xlike:NODE or, by the table of "
            "prices, type:TYPE,zone=ZONE; repeatable",
            show_default=False, rich_help_panel="What if",
        ),
    ] = None  # fmt: skip
    at: Annotated[
        MomentInTime | None,
        typer.Option(
            metavar="TIME", parser=parsed(moment), help="Plan as if it were then: windows, ages and budgets; RFC 3339, "
            "or such as +2h from when the cluster was read [default: when it was read]",
            show_default=False, rich_help_panel="What if",
        ),
    ] = None  # fmt: skip
    watch: Annotated[
        bool,
        typer.Option(
            "--watch", help="Plan anew whenever the cluster, the recording or the policy has changed, until Ctrl-C; "
            "with -o json and yaml one document after another",
            show_default=False, rich_help_panel="Output",
        ),
    ] = False  # fmt: skip
    start: Annotated[
        str | None,
        typer.Option(
            metavar="PLAN", help="Begin the search where another plan ended: a file as -o json or yaml writes it, of "
            "this or another snapshot. What it moves and cannot be moved any more is left out and said; what is left "
            "of it is the least that is reached",
            show_default=False, rich_help_panel="Limits",
        ),
    ] = None  # fmt: skip


@with_options
def plan(options: WhatIfFlags) -> int:
    """Propose moves for a live cluster or a recording; nothing is written.

    The answer says what gets better, at which price, how far it is from the proven best, and why what is left alone
    is left alone. An answer that nothing can help is an answer too: exit 0.
    """
    _refuse_what_cannot_be(options)
    latest = LatestPlan(_start_of(options))
    if not options.watch:
        return _plan_once(options, latest)
    from rescheduler.adapters.clock import SystemClock
    from rescheduler.cli.plans.repeating import repeated
    from rescheduler.composition.changes import changes_of

    files = [*(options.policy or ()), *([options.usage] if options.usage else ())]
    with changes_of(cluster_options_from(options), files, SystemClock()) as changes:
        return repeated(lambda: _plan_once(options, latest), changes)


@dataclass
class LatestPlan:
    """The plan with which the next one begins; None: there is none yet."""

    plan: Plan | None = None


def _start_of(options: WhatIfFlags) -> Plan | None:
    from rescheduler.cli.plans.plan_file import read_plan_file

    return None if options.start is None else read_plan_file(options.start, is_to_be_carried_out=False)


def _plan_once(options: WhatIfFlags, latest: LatestPlan) -> int:
    files = given_files(options)
    if files.theirs or options.improve:
        if options.start is not None:
            raise UsageError("--start begins our own planner; leave the DeschedulerPolicy and --improve out")
        return _plan_of_descheduler_policy(options, files)
    policy = own_policy_from(options)
    _refuse_without_prices(options, policy)
    refuse_buying_under_predict(options, policy)
    with shown_progress() as progress:
        from rescheduler.composition import planning
        from rescheduler.cycle import make_plan

        cluster, schedulers = read_world(options, policy, progress)
        asked = cycle_options_from(options, policy, cluster, schedulers, progress)
        read, at = cluster, time_in(cluster, options.at)
        if at is not None:
            cluster, schedulers = planning.as_if_at(cluster, schedulers, at)
            asked = replace(asked, schedulers=schedulers)
        removed, added = tuple(dict.fromkeys(options.remove_node or ())), tuple(options.add_node or ())
        if replaces(options):
            from rescheduler.composition import replacing

            proposed, imagined = replacing.plan_replacement(cluster, policy, wanted_of(options), asked)
            if options.buy:
                proposed = replacing.told_what_is_asked(proposed, cluster, policy)
            cluster = imagined
        elif removed or added:
            from rescheduler.composition import what_if

            change = what_if.NodeChange(removed, added, keeps_objectives=bool(options.objective))
            proposed, cluster = what_if.plan_what_if(cluster, policy, change, asked)
        else:
            proposed = make_plan(cluster, policy, replace(asked, start=latest.plan))
            latest.plan = proposed
        if at is not None:
            proposed = planning.told_as_if_at(proposed, read, at)
        is_drawn = options.output is OutputFormat.HTML
        observed = planning.measured_load(cluster, policy, schedulers) if is_drawn else None
    return _told(options, proposed, cluster, observed)


def _plan_of_descheduler_policy(options: WhatIfFlags, files: GivenFiles) -> int:
    from rescheduler.cli.plans.descheduler_plan import foretold, improved

    if files.theirs and (options.remove_node or options.add_node):
        raise UsageError("--remove-node and --add-node ask our own planner; leave the DeschedulerPolicy out")
    if replaces(options):
        raise UsageError("--replace-node and --replace-pool ask our own planner; leave the DeschedulerPolicy out")
    if not options.improve:
        return foretold(options, files, options.at)
    cluster, proposed = improved(options, files, options.at)[:2]
    return _told(options, proposed, cluster)


def _refuse_without_prices(options: WhatIfFlags, policy: Policy) -> None:
    """Raise UsageError for a question about machines that no table of prices knows."""
    if replaces(options):
        refuse_without_sizes(policy, "--replace-node and --replace-pool")
    elif policy.prices.file is None and any(shape.place for shape in options.add_node or ()):
        refuse_without_sizes(policy, "--add-node type:")


def _told(options: WhatIfFlags, proposed: Plan, cluster: Cluster, observed: ObservedUse | None = None) -> int:
    warn(proposed.warnings)
    print_plan(proposed, cluster, options.output, observed)
    return NOT_EMPTY if options.exit_code and proposed.moves else DONE


def _refuse_what_cannot_be(options: WhatIfFlags) -> None:
    """Raise UsageError, before anything is read, for what cannot be asked, or not together."""
    removed, added = options.remove_node or (), options.add_node or ()
    if options.watch and (options.exit_code or "-" in (options.filename or ())):
        what = "--exit-code, for it has no end" if options.exit_code else "-f -, which is read once"
        raise UsageError(f"--watch does not go with {what}; leave one out")
    if "" in removed:
        raise UsageError("--remove-node: an empty name; name a node")
    _refuse_replacing_with(options)
    if options.start is not None and (removed or added or replaces(options)):
        raise UsageError("--start begins with a plan for the cluster as it is; leave it out, or the nodes that are not")
    if removed and options.objective:
        raise UsageError("--remove-node asks whether nodes can be emptied, --objective asks for others; give one")
    if sum(shape.count for shape in added) > MOST_ADDED:
        raise UsageError(f"--add-node: more than {MOST_ADDED} nodes in all; ask for fewer")
    same = sorted({shape.like for shape in added}.intersection(removed))
    if same:
        raise UsageError(
            f"--add-node like:{same[0]} and --remove-node {same[0]} together change nothing; leave one out"
        )


def _refuse_replacing_with(options: WhatIfFlags) -> None:
    refuse_bad_replacing(options)
    if replaces(options) and (options.remove_node or options.add_node):
        raise UsageError(
            "--replace-node and --replace-pool choose the nodes to add themselves; leave --remove-node and --add-node "
            "out"
        )
    if options.buy and not replaces(options):
        raise UsageError("--buy is for machines that replace nodes; name some with --replace-node or --replace-pool")
