"""Options that commands share, in groups, each with its default and unit."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer

from rescheduler.cli.parameters import OutputFormat, parsed, positive_duration, whole_number
from rescheduler.model.label_selector_text import parse_label_selector
from rescheduler.model.objects.constraints import LabelSelector

LARGEST_SEED = 2**31 - 1
LARGEST_EVICTIONS = 1_000_000


# Choices that the shell offers where they are no enumeration: plugins, shipped files.


def objective_names(incomplete: str) -> list[str]:
    """Objectives, by what was typed so far; those of other packages too."""
    from rescheduler.planning.objectives import OBJECTIVES

    return [name for name in OBJECTIVES.names() if name.startswith(incomplete)]


def policy_names(incomplete: str) -> list[str]:
    """Policies that are shipped; files are offered by the shell itself."""
    from rescheduler.policy.shipped import shipped_policies

    return [name for name in shipped_policies() if name.startswith(incomplete)]


def policies(text: str, panel: str = "Policy") -> Any:
    """The option that names policy files, or shipped policies; ``text``: its help."""
    return typer.Option(
        metavar="FILE", help=text, autocompletion=policy_names, show_default=False, rich_help_panel=panel
    )


def form(text: str) -> Any:
    """The option for the form of output; ``text``: its help."""
    return typer.Option("-o", "--output", metavar="FORM", help=text, rich_help_panel="Output")


Kubeconfig = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Kubeconfig file [default: as kubectl, $KUBECONFIG or ~/.kube/config]",
        show_default=False, rich_help_panel="Cluster",
    ),
]  # fmt: skip
PricesFile = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="What nodes cost, as JSON, YAML or CSV, in place of prices.file [default: what the "
        "policy's prices say]",
        show_default=False, rich_help_panel="Policy",
    ),
]  # fmt: skip
Yes = Annotated[
    bool,
    typer.Option("--yes", "-y", help="Do not ask; off a terminal nothing is done without it", rich_help_panel="Limits"),
]


@dataclass(frozen=True)
class LiveOptions:
    """How to reach a live cluster."""

    kubeconfig: Kubeconfig = None
    context: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Context of the kubeconfig [default: its current one]",
            show_default=False, rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip


@dataclass(frozen=True)
class ClusterFlags(LiveOptions):
    """Where the cluster is read from."""

    filename: Annotated[
        list[str] | None,
        typer.Option(
            "-f", "--filename", metavar="FILE",
            help="Read the cluster from a recording in place of a server; repeatable, - is standard input; JSON or "
            "YAML, also .gz and .xz; DIR@TIME is a snapshot of an archive [default: the live cluster]",
            show_default=False, rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip


@dataclass(frozen=True)
class SelectionFlags(ClusterFlags):
    """Which pods may be moved or helped, and the policy's files."""

    namespace: Annotated[
        list[str] | None,
        typer.Option(
            "-n", "--namespace", metavar="NAME",
            help="Only pods of this namespace may be moved or helped; repeatable; the cluster is always read whole "
            "[default: all namespaces]",
            show_default=False, rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip
    selector: Annotated[
        LabelSelector | None,
        typer.Option(
            "-l", "--selector", metavar="SELECTOR", parser=parsed(parse_label_selector),
            help="Only pods with these labels may be moved or helped, such as app=web,tier!=db [default: all pods]",
            show_default=False, rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip
    policy: Annotated[
        list[str] | None,
        policies(
            "A ReschedulerPolicy, or the name of a shipped one; repeatable, a later one wins "
            "field by field [default: the defaults of docs/policy-reference.md]"
        ),
    ] = None
    usage: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Measured load from a recording, the JSON that GET /watcher returns, in place of a "
            "provider; also .gz and .xz [default: what the policy's usage says]",
            show_default=False, rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip


@dataclass(frozen=True)
class PlanningFlags(SelectionFlags):
    """How long to plan, with which seed and prices, and how the answer is shown."""

    deadline: Annotated[
        float | None,
        typer.Option(
            metavar="DURATION", parser=parsed(positive_duration),
            help="Planning time such as 5s or 1m30s, in place of limits.deadline [default: 10s]",
            show_default=False, rich_help_panel="Limits",
        ),
    ] = None  # fmt: skip
    seed: Annotated[
        int,
        typer.Option(
            parser=parsed(whole_number(0, LARGEST_SEED)), metavar="N", rich_help_panel="Limits",
            help="Seed of every random choice: the same input and seed give the same answer",
        ),
    ] = 0  # fmt: skip
    prices: PricesFile = None
    output: Annotated[
        OutputFormat,
        form("table, wide, json, yaml or html"),
    ] = OutputFormat.TABLE


@dataclass(frozen=True)
class PlanFlags(PlanningFlags):
    """What one plan is made from, and within which limits."""

    objective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="In place of the policy's objectives; repeatable, in order [default: MakeRoom]",
            autocompletion=objective_names, show_default=False, rich_help_panel="Policy",
        ),
    ] = None  # fmt: skip
    max_evictions: Annotated[
        int | None,
        typer.Option(
            parser=parsed(whole_number(0, LARGEST_EVICTIONS)), metavar="N",
            help="Evictions in one plan, in place of limits.maxEvictions [default: 20]",
            show_default=False, rich_help_panel="Limits",
        ),
    ] = None  # fmt: skip
    exit_code: Annotated[
        bool,
        typer.Option(
            "--exit-code", help="Exit 3 in place of 0 when the plan has moves", show_default=False,
            rich_help_panel="Output",
        ),
    ] = False  # fmt: skip


@dataclass(frozen=True)
class ImprovingFlags(PlanFlags):
    """The options of every plan, and what becomes of a DeschedulerPolicy."""

    improve: Annotated[
        bool,
        typer.Option(
            "--improve", help="With a DeschedulerPolicy: plan for the end that each of its plugins is after, in place "
            "of foretelling what descheduler does",
            show_default=False, rich_help_panel="Policy",
        ),
    ] = False  # fmt: skip


def with_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Spread the command's parameter ``options``, one of the classes here, out into options of the command line."""
    hints = get_type_hints(command, include_extras=True)
    options_class = hints.pop("options")
    names = [field.name for field in fields(options_class)]
    own = [item for name, item in inspect.signature(command).parameters.items() if name != "options"]

    @wraps(command)
    def spread(**given: Any) -> Any:
        options = options_class(**{name: given.pop(name) for name in names if name in given})
        return command(options=options, **given)

    option_hints = get_type_hints(options_class, include_extras=True)
    parameters = [item.replace(annotation=hints[item.name], kind=inspect.Parameter.KEYWORD_ONLY) for item in own]
    parameters += [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=option_hints[field.name],
        )
        for field in fields(options_class)
    ]
    spread.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    spread.__annotations__ = {item.name: item.annotation for item in parameters}
    del spread.__wrapped__  # else the signature of ``command`` would be read
    return spread
