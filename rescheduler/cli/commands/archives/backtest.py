"""``backtest``: what policies would have done over an archive."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rescheduler.cli.failures import DONE, FAILED, UsageError
from rescheduler.cli.options import LARGEST_SEED, PricesFile, form, objective_names, policies, with_options
from rescheduler.cli.parameters import parsed, point_in_time, positive_duration, size_in_bytes, whole_number
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import is_terminal, say, show, write

if TYPE_CHECKING:
    from rescheduler.batch.engine.tasks import Engine

MOST_PROCESSES = 1024


class EngineName(StrEnum):
    """Where plans are made."""

    LOCAL = "local"
    DASK = "dask"


class BacktestOutput(StrEnum):
    """Forms of the answer."""

    TABLE = "table"
    JSON = "json"
    PARQUET = "parquet"
    HTML = "html"


def field_to_set(text: str) -> Any:
    """``FIELD=A,B``. Raises ValueError."""
    from rescheduler.batch.backtest.policy_variants import parse_set

    return parse_set(text)


@dataclass(frozen=True)
class EngineFlags:
    """Where tasks are done."""

    engine: Annotated[
        EngineName,
        typer.Option(
            metavar="NAME", help="Where plans are made: local processes or a dask cluster", rich_help_panel="Engine"
        ),
    ] = EngineName.LOCAL
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS", help="Dask's scheduler [default: $DASK_SCHEDULER_ADDRESS]",
            show_default=False, rich_help_panel="Engine",
        ),
    ] = None  # fmt: skip
    processes: Annotated[
        int | None,
        typer.Option(
            parser=parsed(whole_number(1, MOST_PROCESSES)), metavar="N", show_default=False,
            help="Local processes [default: one for each processor]", rich_help_panel="Engine",
        ),
    ] = None  # fmt: skip
    memory: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE", parser=parsed(size_in_bytes), show_default=False, rich_help_panel="Engine",
            help="What each local process may take, such as 2Gi [default: no limit]",
        ),
    ] = None  # fmt: skip


@dataclass(frozen=True)
class BacktestFlags(EngineFlags):
    """What is asked of which archive."""

    archive: Annotated[
        str | None, typer.Option(metavar="DIR", help="The archive: a folder or an fsspec URL", show_default=False)
    ] = None
    policy: Annotated[
        list[str] | None,
        policies(
            "A policy to try, or the name of a shipped one; A,B: B laid over A; repeatable, each is one of its own"
        ),
    ] = None
    set_: Annotated[
        list[Any] | None,
        typer.Option(
            "--set", metavar="FIELD=A,B", parser=parsed(field_to_set), show_default=False, rich_help_panel="Policy",
            help="Try a field of the policies with each of these values; repeatable: all combinations",
        ),
    ] = None  # fmt: skip
    objective: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="In place of the policies' objectives; repeatable, in order",
            autocompletion=objective_names, show_default=False, rich_help_panel="Policy",
        ),
    ] = None  # fmt: skip
    deadline: Annotated[
        float | None,
        typer.Option(
            metavar="DURATION", parser=parsed(positive_duration), show_default=False, rich_help_panel="Policy",
            help="In place of limits.deadline; counted in work, not by the clock",
        ),
    ] = None  # fmt: skip
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            "-n", "--namespace", metavar="NAME", show_default=False, rich_help_panel="Policy",
            help="Only pods of this namespace may be moved or helped; repeatable",
        ),
    ] = None  # fmt: skip
    selector: Annotated[
        str | None,
        typer.Option(
            "-l", "--selector", metavar="SELECTOR", show_default=False, rich_help_panel="Policy",
            help="Only pods with these labels may be moved or helped",
        ),
    ] = None  # fmt: skip
    prices: PricesFile = None
    seed: Annotated[
        int, typer.Option(parser=parsed(whole_number(0, LARGEST_SEED)), metavar="N", help="Seed of every random choice")
    ] = 0
    from_: Annotated[
        float | None,
        typer.Option(
            "--from", metavar="TIME", parser=parsed(point_in_time), help="The first snapshot", show_default=False
        ),
    ] = None
    to: Annotated[
        float | None,
        typer.Option(
            "--to", metavar="TIME", parser=parsed(point_in_time), help="The last snapshot", show_default=False
        ),
    ] = None
    every: Annotated[
        float | None,
        typer.Option(
            metavar="DURATION", parser=parsed(positive_duration), show_default=False,
            help="Only the first snapshot of each stretch, such as 1h [default: all]",
        ),
    ] = None  # fmt: skip
    replay: Annotated[
        bool,
        typer.Option(
            "--replay", help="Carry one history on for each policy: its moves stay, and the rules of run bind"
        ),
    ] = False
    resume: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Write each result down at once, and go on from what stands there", show_default=False
        ),
    ] = None
    output: Annotated[
        BacktestOutput,
        form("table, json, parquet or html"),
    ] = BacktestOutput.TABLE


@with_options
def backtest(options: BacktestFlags) -> int:
    """Ask what policies would have done over an archive, for how many evictions, and whether one is better.

    Each snapshot is planned for by itself, as plan -f would; with --replay moves add up, in an embedded cluster to
    which pods come and from which they go as the archive has it. Nothing is written but the answer. Exit 1: a
    part failed, and the rest is on standard output.
    """
    from rescheduler.batch.backtest.policy_variants import read_variants
    from rescheduler.batch.backtest.results_file import OtherQuestionError
    from rescheduler.batch.backtest.running import BacktestRequest, BacktestSpan, run_backtest

    if not options.archive:
        raise UsageError("--archive: missing; name the archive that record made")
    if options.output is BacktestOutput.PARQUET and is_terminal(sys.stdout):
        raise UsageError("-o parquet: binary; send it to a file or a pipe")
    request = BacktestRequest(_like(options), BacktestSpan(options.from_, options.to, options.every), options.resume)
    cases = read_variants(options.policy or [], options.set_ or [], options.prices)
    _check_objectives(options, cases.cases[0].text)
    with shown_progress() as progress:
        try:
            found = run_backtest(request, cases, engine_of(options), progress=progress)
        except OtherQuestionError as error:
            raise UsageError(str(error)) from None
    for text in found.failures:
        say(f"error: {text}")
    _print(found.document, options.output)
    return FAILED if found.failures else DONE


def _like(options: BacktestFlags) -> Any:
    from rescheduler.batch.backtest.task import Task
    from rescheduler.model.label_selector_text import parse_label_selector

    if options.selector is not None:
        try:
            parse_label_selector(options.selector)
        except ValueError as error:
            raise UsageError(f"--selector: {error}") from None
    return Task(
        archive=options.archive or "",
        times=(),
        policy="",
        objectives=tuple(options.objective or ()),
        deadline_seconds=options.deadline,
        seed=options.seed,
        namespaces=tuple(dict.fromkeys(options.namespace or ())),
        selector=options.selector,
        replay=options.replay,
    )


def _check_objectives(options: BacktestFlags, policy: str) -> None:
    """Raise UsageError for an objective that there is not, before anything is planned."""
    from rescheduler.batch.backtest.task import Task

    try:
        Task("", (), policy, objectives=tuple(options.objective or ())).policy_in_force()
    except ValueError as error:
        raise UsageError(f"--objective: {error}") from None


def engine_of(options: EngineFlags) -> Engine:
    """The engine that was asked for. Raises EngineError, UsageError."""
    if options.engine is EngineName.DASK:
        if options.processes or options.memory:
            raise UsageError("--processes and --memory are of local processes; Dask's workers have their own")
        from rescheduler.batch.engine.dask_cluster import DaskCluster

        return DaskCluster(options.scheduler)
    if options.scheduler:
        raise UsageError("--scheduler is for --engine dask")
    from rescheduler.batch.engine.local_processes import LocalProcesses

    return LocalProcesses(options.processes, options.memory)


def _print(document: dict[str, Any], output: BacktestOutput) -> None:
    if output is BacktestOutput.JSON:
        from rescheduler.report.documents import to_json

        write(to_json(document))
    elif output is BacktestOutput.PARQUET:
        from rescheduler.report.backtest.parquet import parquet_bytes

        sys.stdout.flush()
        sys.stdout.buffer.write(parquet_bytes(document))
        sys.stdout.buffer.flush()
    elif output is BacktestOutput.HTML:
        from rescheduler.report.backtest.page import backtest_page

        write(backtest_page(document))
    else:
        from rescheduler.report.backtest.comparison import comparison

        show(comparison(document))
