"""``snapshot``: record a cluster in a file that every other command reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from rescheduler.cli.failures import DONE, UsageError
from rescheduler.cli.options import ClusterFlags, with_options
from rescheduler.cli.preparation import cluster_options_from
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import say


@dataclass(frozen=True)
class SnapshotFlags(ClusterFlags):
    """What is recorded, and where to."""

    output: Annotated[
        str,
        typer.Option(
            "-o", "--output", metavar="FILE", show_default=False, rich_help_panel="Output",
            help="File to write; .json, also .json.gz and .json.xz; - is standard output [default: standard output]",
        ),
    ] = "-"  # fmt: skip
    anonymize: Annotated[
        bool,
        typer.Option(
            "--anonymize", help="Replace names and label values by others, the same ones everywhere",
            rich_help_panel="Output",
        ),
    ] = False  # fmt: skip
    force: Annotated[bool, typer.Option("--force", help="Write over a file that exists", rich_help_panel="Output")] = (
        False
    )


@with_options
def snapshot(options: SnapshotFlags) -> int:
    """Record what a plan needs of a live cluster, so that it can be planned for and simulated anywhere.

    The cluster is only read. No secret, no environment variable and no command line of a container is recorded.
    """
    from rescheduler.composition.live import cluster_source

    where = cluster_options_from(options)
    _refuse_existing(options)
    with shown_progress() as progress:
        recorded = cluster_source.record(where, options.output, anonymize=options.anonymize, progress=progress)
    say(f"recorded {recorded}")
    return DONE


def _refuse_existing(options: SnapshotFlags) -> None:
    """Raise UsageError before the cluster is read for what could not be written afterwards."""
    if options.output == "-":
        return
    target = Path(options.output)
    if target.is_dir():
        raise UsageError(f"-o {options.output}: a folder; name a file in it")
    if target.exists() and target.is_file() and not options.force:
        raise UsageError(f"-o {options.output}: the file exists; name another, or repeat with --force")
    if not target.absolute().parent.is_dir():
        raise UsageError(f"-o {options.output}: there is no folder {target.absolute().parent}")
