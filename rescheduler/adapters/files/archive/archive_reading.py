"""What an archive holds, and one of its snapshots as the recording that it was."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Final, NamedTuple

import msgspec

from rescheduler.adapters.files.archive.archive_form import (
    Difference,
    FileHead,
    content_of,
    difference_of,
    head_of,
    objects_of,
    pool_objects,
)
from rescheduler.adapters.files.archive.archive_source import ArchiveSource, archive_source
from rescheduler.adapters.files.archive.snapshot_names import (
    ArchivedName,
    SnapshotFile,
    is_pool,
    snapshot_file,
    written_time,
)
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.extension_points import SnapshotError

FUTURE_SECONDS: Final = 300.0
"""A snapshot further ahead of the clock than this is a mistake."""
_OBJECTS_IN_A_CHUNK: Final = 2000


class ArchivedSnapshot(NamedTuple):
    """One snapshot. ``bytes``: its own file's, and its pool's where it is the first that needs it."""

    time: int
    files: tuple[str, ...]
    bytes: int
    nodes: int
    pods: int
    names: str


class ArchiveProblem(NamedTuple):
    """What of an archive cannot be used, and why; ``time``: of which snapshot, where that is known."""

    time: int | None
    reason: str


class ArchiveListing(NamedTuple):
    """What an archive holds, by time, and what of it cannot be used."""

    snapshots: tuple[ArchivedSnapshot, ...]
    problems: tuple[ArchiveProblem, ...]


def list_archive(source: ArchiveSource, now: float) -> ArchiveListing:
    """Look at every file. Raises SnapshotError where there is no archive; damage in it is among the problems."""
    sizes = source.sizes()
    found = sorted(filter(None, map(snapshot_file, sizes)), key=lambda file: (file.time, file.name))
    pools = {name: _problem(source, name, "Pool") for name in sizes if is_pool(name)}
    snapshots: list[ArchivedSnapshot] = []
    problems = [ArchiveProblem(None, why) for why in pools.values() if why is not None]
    used: set[str] = set()
    for file in found:
        try:
            one = _listed(source, file, sizes, pools, used, now)
        except SnapshotError as error:
            problems.append(ArchiveProblem(file.time, f"{written_time(file.time)}: {error}"))
            continue
        if snapshots and snapshots[-1].time == file.time:
            text = f"{file.name} is another snapshot of the same time; {snapshots[-1].files[-1]} is used"
            problems.append(ArchiveProblem(file.time, f"{written_time(file.time)}: {text}"))
            continue
        used.add(file.pool)
        snapshots.append(one)
    return ArchiveListing(tuple(snapshots), tuple(problems))


def _listed(
    source: ArchiveSource,
    file: SnapshotFile,
    sizes: dict[str, int],
    pools: dict[str, str | None],
    used: set[str],
    now: float,
) -> ArchivedSnapshot:
    if file.pool not in pools:
        raise SnapshotError(f"{file.name}: what it is a difference from, {file.pool}, is missing")
    if pools[file.pool] is not None:
        raise SnapshotError(f"{file.name}: what it is a difference from cannot be read: {pools[file.pool]}")
    if file.time > now + FUTURE_SECONDS:
        raise SnapshotError(f"{file.name}: is of a time to come (now it is {written_time(now)})")
    head = _checked_head(source.read(file.name), file)
    size = sizes[file.name] + (0 if file.pool in used else sizes[file.pool])
    return ArchivedSnapshot(file.time, (file.pool, file.name), size, head.nodes, head.pods, head.names)


def _checked_head(text: bytes, file: SnapshotFile) -> FileHead:
    head = head_of(text, file.name)
    if head.kind != "Snapshot" or int(head.time // 1) != file.time:
        raise SnapshotError(
            f"{file.name}: its name does not say what it is: a {head.kind} of {written_time(head.time)}"
        )
    return head


def _problem(source: ArchiveSource, name: str, kind: str) -> str | None:
    try:
        found = head_of(source.read(name), name)
    except SnapshotError as error:
        return str(error)
    return None if found.kind == kind else f"{name}: holds a {found.kind}"


def snapshot_head(source: ArchiveSource, file: SnapshotFile) -> FileHead | None:
    """What a snapshot says of itself; None if it, or its pool, cannot be read."""
    try:
        head = _checked_head(source.read(file.name), file)
    except SnapshotError:
        return None
    return head if is_whole_pool(source, file.pool) else None


def is_whole_pool(source: ArchiveSource, name: str) -> bool:
    """Whether a pool is there and as it was written, now."""
    return _problem(source, name, "Pool") is None


def archived_text(named: ArchivedName) -> Iterator[bytes]:
    """A snapshot as the text of a recording. Raises SnapshotError."""
    found, pool, name = _opened(named)
    marks = msgspec.json.encode(found.marks)
    yield b'{"apiVersion":"v1","kind":"List","metadata":{"annotations":' + marks + b'},"items":['
    objects = iter([*objects_of(pool, found, name), *map(_none_of, found.empty)])
    separator = b"\n"
    while chunk := list(islice(objects, _OBJECTS_IN_A_CHUNK)):
        yield separator + b",\n".join(chunk)
        separator = b",\n"
    yield b"\n]}\n"


def archived_load(named: ArchivedName) -> bytes | None:
    """The load of a snapshot, as GET /watcher would tell it; None where none was recorded. Raises SnapshotError."""
    return _opened(named)[0].load


def _opened(named: ArchivedName) -> tuple[Difference, tuple[bytes, ...], str]:
    source = archive_source(named.archive)
    files = sorted(file for file in map(snapshot_file, source.names()) if file is not None and file.time == named.time)
    if not files:
        raise SnapshotError(
            f"{named.archive}: holds no snapshot of {written_time(named.time)}; record --list tells which there are"
        )
    failure: SnapshotError | None = None
    for file in files:  # of two of one time the first that can be read, as in a listing
        try:
            return _difference_and_pool(source, file)
        except SnapshotError as error:
            failure = failure or error
    raise SnapshotError(f"{named.archive}: {failure}") from failure


def _difference_and_pool(source: ArchiveSource, file: SnapshotFile) -> tuple[Difference, tuple[bytes, ...], str]:
    pool = pool_of(source, file.pool)
    text = source.read(file.name)
    _checked_head(text, file)
    return difference_of(content_of(text, file.name), file.name), pool, file.name


def _none_of(kind: str) -> bytes:
    """An empty list says that the cluster has none."""
    version = KIND_BY_NAME[kind].api_version if kind in KIND_BY_NAME else "v1"
    return f'{{"apiVersion":"{version}","kind":"{kind}List","metadata":{{}},"items":[]}}'.encode()


def pool_of(source: ArchiveSource, name: str) -> tuple[bytes, ...]:
    """The objects of a pool. Raises SnapshotError."""
    return _pool(source.location, name)


@lru_cache(maxsize=2)
def _pool(location: str, name: str) -> tuple[bytes, ...]:
    # Files of an archive never change, so what was read once holds as long as it is remembered.
    return pool_objects(content_of(archive_source(location).read(name), name))
