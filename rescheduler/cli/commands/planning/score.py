"""``score``: filter verdict, scores and total of one pod on every node."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.failures import DONE, UsageError
from rescheduler.cli.options import PlanFlags, with_options
from rescheduler.cli.parameters import OutputFormat, pod_key
from rescheduler.cli.plan_output import print_document, print_page
from rescheduler.cli.preparation import policy_from, read_world
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import console, show, warn
from rescheduler.model.printable import printable

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.scheduling.reports import NodeScores, Sample, ScoreDetails, ScoreLine, Scores
    from rescheduler.scheduling.scheduler_model import SchedulerModel


# How the scores of one pod come about, node by node, for people.

NARROWEST_TEXT = 50


def sample_line(sample: Sample) -> str:
    """What it means that the scheduler stops looking once it has found enough feasible nodes."""
    return (
        f"the scheduler scores {sample.scored} of the {sample.feasible} feasible nodes, and which cannot be known: "
        f"the pod may go to any of the {sample.possible} nodes with a total of {sample.least} and more"
    )


def details_by_node(details: ScoreDetails, nodes: Sequence[NodeScores]) -> Iterator[RenderableType]:
    """Under the name and total of each feasible node a line for each plugin."""
    from rich.text import Text

    from rescheduler.report.cells import cell

    lines = details.lines({node.node for node in nodes})
    for node in nodes:
        if lines.get(node.node):
            yield Text()
            yield cell(f"{node.node}: {node.total}", "bold")
            yield _Lines(lines[node.node])


class _Lines:
    """Plugin, points and text side by side, or the text below the others where there is little room for it."""

    def __init__(self, lines: Sequence[ScoreLine]) -> None:
        self._rows = [
            (printable(line.plugin), f"{line.weight} x {line.score} = {line.weight * line.score}", printable(line.text))
            for line in lines
        ]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        # Laid out by hand: for thousands of nodes a rich table takes tens of seconds.
        names, numbers = (max(len(row[column]) for row in self._rows) for column in (0, 1))
        is_narrow = names + numbers + NARROWEST_TEXT > options.max_width
        width = max(options.max_width, NARROWEST_TEXT)
        told = []
        for plugin, points, text in self._rows:
            lead = f"  {plugin:<{names}}  {points:>{numbers}}  "
            if is_narrow:
                told.append(f"  {plugin}: {points}")
                lead = "    "
            told.extend(
                wrap(text, width, initial_indent=lead, subsequent_indent=" " * len(lead), break_on_hyphens=False)
            )
        yield Text("\n".join(told), no_wrap=True, overflow="ignore")


NARROWEST_REASON = 30
GAP = 2


@with_options
def score(
    options: PlanFlags,
    pod: Annotated[str, typer.Argument(metavar="NS/NAME", help="Namespace and name of the pod", show_default=False)],
    nodes: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Show these nodes only; repeatable, or several with commas between [default: all]",
            show_default=False, rich_help_panel="Output",
        ),
    ] = None,
) -> int:  # fmt: skip
    """Show what the predicted scheduler thinks of every node for one pod: may it sit there, and how well.

    A running pod is judged as if it were placed anew.
    """
    from rescheduler.scheduling.reports import ScoreDetails, scores_of

    key = pod_key(pod)
    policy = policy_from(options)
    with shown_progress() as progress:
        cluster, schedulers = read_world(options, policy, progress)
        progress("scoring")
        model = schedulers.model(schedulers.configured(cluster))
        scores = _chosen(scores_of(model, key), nodes or (), cluster)
    warn((*cluster.warnings, *schedulers.warnings(cluster), *_remarks(model, key)))
    if options.output in (OutputFormat.JSON, OutputFormat.YAML):
        print_document(scores, options.output)
        return DONE
    details = ScoreDetails(model, model.columns.pod_index[key])
    report = _report(scores, _weights(model, key), details, options.output)
    if options.output is OutputFormat.HTML:
        print_page(f"Scores of {key}", report)
    else:
        show(report)
    return DONE


def _chosen(scores: Scores, given: Sequence[str], cluster: Cluster) -> Scores:
    """The scores of the nodes asked for. Raises UsageError for one that there is not."""
    from difflib import get_close_matches

    from msgspec.structs import replace

    names = [name.strip() for text in given for name in text.split(",")]
    for name in names:
        if name not in cluster.node_by_name:
            near = get_close_matches(name, list(cluster.node_by_name), n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"--nodes: the cluster has no node {name[:300]!r}{hint}")
    return replace(scores, nodes=tuple(node for node in scores.nodes if node.node in names)) if names else scores


def _remarks(model: SchedulerModel, key: str) -> Iterator[str]:
    """What of the pod's scheduler is not modelled."""
    name = _scheduler_name(model, key)
    profile = model.profiles.get(name)
    for remark in profile.remarks if profile else ():
        yield f"scheduler {name}: {remark}"


def _weights(model: SchedulerModel, key: str) -> Mapping[str, int]:
    """Weight of each score of the pod's scheduler, in its order."""
    profile = model.profiles.get(_scheduler_name(model, key))
    return {score.plugin.name: score.weight for score in profile.scores} if profile else {}


def _scheduler_name(model: SchedulerModel, key: str) -> str:
    return model.columns.cluster.pod_by_key[key].spec.scheduler_name


def _report(
    scores: Scores, weights: Mapping[str, int], details: ScoreDetails, output: OutputFormat
) -> Iterator[RenderableType]:
    """The best nodes first; wide with how each score comes about."""
    from rescheduler.report.cells import cell, plural

    yield cell(f"{scores.pod.key} on {plural(len(scores.nodes), 'node')}", "bold")
    if weights:
        yield cell(f"total = {' + '.join(f'{weight} x {name}' for name, weight in weights.items())}")
    sample = details.sample()
    if sample is not None:
        yield cell(sample_line(sample))
    nodes = sorted(scores.nodes, key=lambda node: (not node.feasible, -(node.total or 0)))
    yield from _table(nodes, list(weights) if any(node.feasible for node in nodes) else [], output)
    if output is not OutputFormat.TABLE:
        yield from details_by_node(details, nodes)


def _table(nodes: Sequence[NodeScores], plugins: Sequence[str], output: OutputFormat) -> Iterator[RenderableType]:
    """One column a plugin where there is room for it."""
    import sys

    from rescheduler.report.cells import cell, table

    rows = [_row(node, plugins) for node in nodes]
    if output is OutputFormat.HTML or not plugins:
        yield table(["NODE", "FITS", "TOTAL", *plugins, "REASON"], rows, right=["TOTAL", *plugins])
        return
    headings = ["NODE", "FITS", "TOTAL", *("\n".join(_words(name)) for name in plugins), "REASON"]
    columns = zip(headings, *([str(one) for one in row] for row in rows), strict=True)
    widths = [max(len(line) for text in column for line in text.split("\n")) + GAP for column in columns]
    if sum(widths[:-1]) + min(widths[-1], NARROWEST_REASON) <= console(sys.stdout).width:
        yield _columns(headings, rows)
        return
    yield table(["NODE", "FITS", "TOTAL", "REASON"], [_row(node, []) for node in nodes], right=["TOTAL"])
    if output is OutputFormat.TABLE:
        yield cell("there is no room here for the scores of each plugin; -o wide shows them")


def _columns(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> RenderableType:
    from rich.table import Table

    from rescheduler.report.cells import cell

    answer = Table(box=None, pad_edge=False, padding=(0, GAP, 0, 0), header_style="bold")
    for heading in headings:
        is_text = heading in ("NODE", "FITS", "REASON")
        answer.add_column(heading, justify="left" if is_text else "right", vertical="bottom", overflow="fold")
    for row in rows:
        answer.add_row(*(cell(one) for one in row))
    return answer


def _words(name: str) -> list[str]:
    """``NodeResourcesFit`` as Node, Resources, Fit."""
    return re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+", name) or [name]


def _row(node: NodeScores, plugins: Sequence[str]) -> list[object]:
    total = "" if node.total is None else node.total
    fits = "yes" if node.feasible else "no"
    return [node.node, fits, total, *(node.scores.get(name, "") for name in plugins), "; ".join(node.reasons)]
