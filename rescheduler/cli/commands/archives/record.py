"""``record``: keep snapshots with load in an archive, which ``backtest`` and ``-f DIR@TIME`` read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from rescheduler.cli.failures import DONE, FAILED, UsageError
from rescheduler.cli.options import ClusterFlags, form, policies, with_options
from rescheduler.cli.parameters import OutputFormat, duration_in_days, parsed, positive_duration, size_in_bytes
from rescheduler.cli.plan_output import print_report
from rescheduler.cli.preparation import cluster_options_from, refuse_formats
from rescheduler.cli.progress import shown_progress
from rescheduler.cli.streams import say, warn

if TYPE_CHECKING:
    from rescheduler.adapters.files.archive.archive_reading import ArchiveListing
    from rescheduler.composition.archiving.recording import ArchiveSettings, Recorder
    from rescheduler.policy.fields.policy import Policy


@dataclass(frozen=True)
class RecordFlags(ClusterFlags):
    """What is recorded, where to, and how long it is kept."""

    archive: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="The archive, a folder; it is made if it is not there", show_default=False),
    ] = None
    usage: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE", help="The load of a recording, the JSON that GET /watcher returns: as many as -f, in order",
            show_default=False, rich_help_panel="Cluster",
        ),
    ] = None  # fmt: skip
    policy: Annotated[
        list[str] | None,
        policies(
            "A policy that says where the load of a live cluster is measured (usage) [default: MetricsServer]",
            panel="Cluster",
        ),
    ] = None
    every: Annotated[
        float | None,
        typer.Option(
            metavar="DURATION", parser=parsed(positive_duration), show_default=False,
            help="Record the live cluster again and again, such as every 5m [default: once]",
        ),
    ] = None  # fmt: skip
    keep: Annotated[
        float | None,
        typer.Option(
            metavar="DURATION", parser=parsed(duration_in_days), show_default=False,
            help="Remove snapshots that are older than this, counted before the newest; such as 30d [default: none]",
        ),
    ] = None  # fmt: skip
    max_size: Annotated[
        int | None,
        typer.Option(
            metavar="SIZE", parser=parsed(size_in_bytes), show_default=False,
            help="Remove the oldest snapshots while the archive is larger, such as 10Gi [default: none]",
        ),
    ] = None  # fmt: skip
    anonymize: Annotated[
        bool, typer.Option("--anonymize", help="Replace names, by the same ones all through the archive")
    ] = False
    salt: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="What names are replaced by; made if it is not there, outside the archive",
            show_default=False,
        ),
    ] = None  # fmt: skip
    list_: Annotated[bool, typer.Option("--list", help="Tell what the archive holds")] = False
    output: Annotated[
        OutputFormat,
        form("With --list: table, json or yaml"),
    ] = OutputFormat.TABLE


@with_options
def record(options: RecordFlags) -> int:
    """Keep snapshots of a cluster, or recordings of it, with load in an archive.

    Each -f is one snapshot. Neighbours are stored as differences; files are written whole and never changed, so the
    archive can be read while it is added to. The cluster is only read.
    """
    from rescheduler.composition.archiving import recording

    archive = _checked(options)
    if options.list_:
        return _listed(recording.listing_of(archive), options.output)
    settings = _settings(options, archive)
    from rescheduler.adapters.files.archive.archive_writing import MixedNamesError

    with shown_progress() as progress:
        try:
            recorder = recording.Recorder(settings, progress=progress)
            return _files(recorder, options) if options.filename else _live(recorder, options)
        except MixedNamesError as error:
            raise UsageError(f"--archive {error}") from None


def _checked(options: RecordFlags) -> str:
    """The archive. Raises UsageError for what cannot be asked, or not together."""
    refuse_formats(options.output, "record", OutputFormat.HTML, OutputFormat.WIDE)
    if not options.archive:
        raise UsageError("--archive: missing; name the folder of the archive")
    files, usage = options.filename or [], options.usage or []
    if options.list_:
        if files or options.every or options.keep or options.max_size:
            raise UsageError("--list only tells what is there; leave -f, --every, --keep and --max-size out")
        return options.archive
    if "://" in options.archive:
        raise UsageError(f"--archive {options.archive}: a URL can be read from; record into a folder")
    if usage and len(usage) != len(files):
        raise UsageError(f"--usage: found {len(usage)} for {len(files)} -f; wanted as many, in the same order")
    if options.every and files:
        raise UsageError("--every records a live cluster again and again; leave -f out")
    if options.anonymize != (options.salt is not None):
        raise UsageError(
            "--anonymize and --salt FILE go together: the salt makes names the same all through the archive"
        )
    return options.archive


def _settings(options: RecordFlags, archive: str) -> ArchiveSettings:
    from rescheduler.composition.archiving.recording import ArchiveSettings, salt_of

    try:
        salt = None if options.salt is None else salt_of(options.salt, archive)
    except ValueError as error:
        raise UsageError(f"--salt {error}") from None
    return ArchiveSettings(archive, options.keep, options.max_size, salt)


def _files(recorder: Recorder, options: RecordFlags) -> int:
    """Add each; what cannot be added is told, and keeps nothing else out."""
    from rescheduler.extension_points import SnapshotError

    cluster_options_from(options)  # refuses names that cannot be, and -f beside --context
    files = options.filename or []
    usage: list[str | None] = [*(options.usage or [])] or [None] * len(files)
    failed = 0
    for name, load in zip(files, usage, strict=True):
        try:
            recorder.add_file(name, load)
        except SnapshotError as error:
            failed += 1
            say(f"error: {error}")
    pruned = recorder.prune()
    say(f"recorded {len(files) - failed} of {len(files)} snapshots{_told_pruned(pruned)}")
    return FAILED if failed else DONE


def _live(recorder: Recorder, options: RecordFlags) -> int:
    """Add the live cluster, once or again and again; then a failure is told, and the next time tried anew."""
    from rescheduler.adapters.clock import SystemClock
    from rescheduler.extension_points import ReschedulerError

    where, clock = cluster_options_from(options), SystemClock()
    policy = _policy(options)
    while True:
        began = clock.monotonic()
        try:
            time = recorder.add_live(where, policy, lambda text: warn([text]))
            say(f"recorded {time}{_told_pruned(recorder.prune())}")
        except ReschedulerError as error:
            if options.every is None:
                raise
            say(f"error: {error}")
        if options.every is None:
            return DONE
        clock.sleep(options.every - (clock.monotonic() - began))


def _policy(options: RecordFlags) -> Policy:
    """Where load is measured; a policy that does not say leaves it to the metrics server."""
    from rescheduler.daemon.plugins import load_policy
    from rescheduler.policy.fields.usage import Provider

    policy = load_policy(options.policy or [])
    if policy.usage.providers:
        return policy
    usage = policy.usage.model_copy(update={"providers": (Provider(name="MetricsServer"),)})
    return policy.model_copy(update={"usage": usage})


def _told_pruned(count: int) -> str:
    return f"; {count} old ones removed" if count else ""


def _listed(listing: ArchiveListing, output: OutputFormat) -> int:
    from rescheduler.composition.archiving.recording import archive_document

    for problem in listing.problems:
        say(f"error: {problem.reason}")
    document = archive_document(listing)
    rows = [(one["time"], one["nodes"], one["pods"], one["bytes"]) for one in document["snapshots"]]
    lines = [f"{time}  {nodes:>7} nodes {pods:>8} pods {size:>12,} bytes" for time, nodes, pods, size in rows]
    total = f"{len(rows)} snapshots, {sum(row[3] for row in rows):,} bytes"
    print_report(document, output, lambda _: [*lines, total])
    return FAILED if listing.problems else DONE
