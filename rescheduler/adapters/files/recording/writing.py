"""Records a live cluster as a plain List of API objects that kubectl and we can read."""

from __future__ import annotations

import gzip
import lzma
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any, Final, cast

import msgspec

from rescheduler.adapters.clock import SystemClock
from rescheduler.adapters.files.recording.anonymize import Anonymizer
from rescheduler.adapters.files.recording.reading import SERVER_VERSION, TAKEN_AT
from rescheduler.adapters.files.recording.slim import slim_bytes
from rescheduler.adapters.files.whole_file import whole_file
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError, NotServedError, PagesExpiredError
from rescheduler.adapters.kubernetes.kinds import DISPENSABLE, KINDS, REQUIRED, ObjectKind
from rescheduler.adapters.kubernetes.objects.decoding.decode import BrokenTextError, ObjectError
from rescheduler.adapters.kubernetes.objects.decoding.pages import decode_page
from rescheduler.adapters.kubernetes.reading.reader import server_version
from rescheduler.extension_points import Clock, ClusterError, Progress, SnapshotError, no_progress
from rescheduler.model.printable import shortened
from rescheduler.model.times import rfc3339

STANDARD_OUTPUT: Final = "-"


def record(
    connection: Connection,
    path: str,
    *,
    anonymize: bool = False,
    salt: bytes | None = None,
    progress: Progress = no_progress,
    clock: Clock | None = None,
) -> Mapping[str, int]:
    """Write a recording of the cluster to ``path``; how many objects of each kind.

    ``path``: packed for ``.gz`` and ``.xz``, ``-`` is standard output. A file appears whole or not at all.
    ``anonymize`` replaces names; the same ``salt`` (random if None) gives the same names again.
    Raises ClusterError, or SnapshotError when it cannot be written.
    """
    anonymizer = Anonymizer(salt or secrets.token_bytes(16)) if anonymize else None
    for is_last_try in (False, True):
        try:
            with _written(path) as stream:
                return _write(connection, stream, anonymizer, progress, clock or SystemClock())
        except PagesExpiredError as error:
            if is_last_try:
                raise ClusterError(f"{error}; it changes faster than it can be read") from error
        except (ObjectError, BrokenTextError) as error:
            raise ClusterError(f"{connection.server}: {error}") from error
        except OSError as error:
            raise SnapshotError(f"{shortened(path)}: cannot be written: {error.strerror or error}") from error
    raise AssertionError("the last try returns or raises")


def _write(
    connection: Connection, stream: IO[bytes], anonymizer: Anonymizer | None, progress: Progress, clock: Clock
) -> Mapping[str, int]:
    version = server_version(connection)
    marks = {TAKEN_AT: rfc3339(connection.server_time or clock.now(), "microseconds")}
    if version is not None:
        marks[SERVER_VERSION] = version
    stream.write(b'{"apiVersion":"v1","kind":"List","metadata":{"resourceVersion":"","annotations":')
    stream.write(msgspec.json.encode(marks) + b'},"items":[')
    counts: dict[str, int] = {}
    separator = b"\n"
    for kind in KINDS:
        try:
            for found in _objects(connection, kind):
                raw = slim_bytes(kind, found)
                stream.write(separator + (raw if anonymizer is None else anonymizer.anonymized(raw)))
                separator = b",\n"
                counts[kind.name] = counts.get(kind.name, 0) + 1
                if counts[kind.name] % 500 == 0:
                    progress(f"recording {kind.name}", counts[kind.name])
        except ForbiddenError:
            if kind.name not in DISPENSABLE:
                raise
        else:
            if kind.name not in counts:
                stream.write(separator + _none_of(kind))
                separator = b",\n"
        progress(f"recording {kind.name}", counts.get(kind.name, 0), counts.get(kind.name, 0))
    stream.write(b"\n]}\n")
    return counts


def _none_of(kind: ObjectKind) -> bytes:
    """An empty list says that the cluster has none; a kind that nobody was allowed to read is left out."""
    text = f'{{"apiVersion":"{kind.api_version}","kind":"{kind.name}List","metadata":{{}},"items":[]}}'
    return text.encode()


def _objects(connection: Connection, kind: ObjectKind) -> Iterator[Any]:
    try:
        for page in connection.pages(kind.path):
            yield from decode_page(kind, page)
    except NotServedError:
        if kind.name in REQUIRED:
            raise


@contextmanager
def _written(path: str) -> Iterator[IO[bytes]]:
    """A file beside the target, packed by its suffix, that takes the target's place when all is written.

    Nothing takes the place of a device or a pipe (``/dev/null``): they are written into, as standard output is.
    """
    target = Path(path)
    if path == STANDARD_OUTPUT or (target.exists() and not target.is_file()):
        with tempfile.TemporaryFile() as stream:
            yield cast("IO[bytes]", stream)
            stream.seek(0)
            with nullcontext(sys.stdout.buffer) if path == STANDARD_OUTPUT else target.open("wb") as sink:
                shutil.copyfileobj(stream, sink)
                sink.flush()
        return
    with whole_file(target) as plain, _packed(plain, target.suffix) as stream:
        yield stream


@contextmanager
def _packed(plain: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    if suffix == ".gz":
        with gzip.GzipFile(filename="", mode="wb", fileobj=plain, compresslevel=6, mtime=0) as stream:
            yield cast("IO[bytes]", stream)
    elif suffix == ".xz":
        with lzma.LZMAFile(plain, "wb", preset=2) as stream:
            yield cast("IO[bytes]", stream)
    else:
        yield plain
