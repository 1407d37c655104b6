"""Prints a plan or a result in the form that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rescheduler.cli.parameters import OutputFormat
from rescheduler.cli.streams import show, write

if TYPE_CHECKING:
    from rich.console import RenderableType

    from rescheduler.model.objects.cluster import Cluster
    from rescheduler.model.plan.plan import Plan, PlanResult
    from rescheduler.model.usage.observed_use import ObservedUse


def print_plan(
    plan: Plan | PlanResult, cluster: Cluster | None, output: OutputFormat, observed: ObservedUse | None = None
) -> None:
    """Data to standard output: table, wide table, JSON, YAML or one page of HTML.

    ``observed``: measured load of the cluster, which the page draws.
    """
    if output is OutputFormat.HTML:
        from rescheduler.report.html import plan_page

        write(plan_page(plan, cluster, observed))
    elif output in (OutputFormat.JSON, OutputFormat.YAML):
        print_document(plan, output)
    else:
        from rescheduler.report.plan.table import plan_report

        show(plan_report(plan, cluster, wide=output is OutputFormat.WIDE))


def print_report(
    document: object, output: OutputFormat, report: Callable[[bool], Iterable[RenderableType]], title: str = ""
) -> None:
    """A document as JSON or YAML; else what ``report`` makes of it, wide or not: a table, or a page of this title."""
    if output in (OutputFormat.JSON, OutputFormat.YAML):
        print_document(document, output)
    elif output is OutputFormat.HTML:
        print_page(title, report(True))
    else:
        show(report(output is OutputFormat.WIDE))


def print_page(title: str, parts: Iterable[RenderableType]) -> None:
    """A report as one page of HTML."""
    from rescheduler.report.text_page import text_page

    write(text_page(title, parts))


def print_document(document: object, output: OutputFormat) -> None:
    """A struct or plain data as JSON or YAML."""
    from rescheduler.report import documents

    as_text = documents.to_json if output is OutputFormat.JSON else documents.to_yaml
    write(as_text(document))  # type: ignore[arg-type]
