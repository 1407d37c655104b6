"""``score``: filter verdict, scores and total of one pod on every node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.failures import DONE
from rescheduler.cli.options import PlanFlags, with_options
from rescheduler.cli.parameters import OutputFormat, pod_key
from rescheduler.cli.plan_output import print_document
from rescheduler.cli.preparation import policy_from, read_cluster, refuse_formats
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import show, warn

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rescheduler.scheduling.reports import NodeScores, Scores


@with_options
def score(
    options: PlanFlags,
    pod: Annotated[str, typer.Argument(metavar="NS/NAME", help="Namespace and name of the pod", show_default=False)],
) -> int:
    """Show what the predicted scheduler thinks of every node for one pod: may it sit there, and how well.

    A running pod is judged as if it were placed anew.
    """
    from rescheduler.model.columns import columns_of
    from rescheduler.scheduling.reports import scores_of
    from rescheduler.scheduling.scheduler_model import SchedulerModel

    key = pod_key(pod)
    refuse_formats(options.output, "score", OutputFormat.HTML)
    policy_from(options)
    with shown_progress() as progress:
        cluster = read_cluster(options, progress)
        progress("scoring")
        model = SchedulerModel(columns_of(cluster))
        scores = scores_of(model, key)
    warn(cluster.warnings)
    if options.output in (OutputFormat.JSON, OutputFormat.YAML):
        print_document(scores, options.output)
    else:
        show(_report(scores, wide=options.output is OutputFormat.WIDE))
    return DONE


def _report(scores: Scores, *, wide: bool) -> Iterator[RenderableType]:
    from rescheduler.report.cells import cell, table

    yield cell(f"{scores.pod.key} on {len(scores.nodes)} nodes", "bold")
    plugins = sorted({name for node in scores.nodes for name in node.scores}) if wide else []
    headings = ["NODE", "FITS", "TOTAL", *plugins, "REASON"]
    rows = (
        _row(node, plugins) for node in sorted(scores.nodes, key=lambda node: (not node.feasible, -(node.total or 0)))
    )
    yield table(headings, rows, right=["TOTAL", *plugins])


def _row(node: NodeScores, plugins: list[str]) -> list[object]:
    total = "" if node.total is None else node.total
    fits = "yes" if node.feasible else "no"
    return [node.node, fits, total, *(node.scores.get(name, "") for name in plugins), "; ".join(node.reasons)]
