"""Measured load from a recording: the JSON that a load watcher answers GET /watcher with."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec

from rescheduler.adapters.files.archive.snapshot_names import archived_name
from rescheduler.adapters.files.recording.sources import name_of, read_chunks
from rescheduler.extension_points import Progress, SnapshotError, no_progress
from rescheduler.model.printable import shortened
from rescheduler.model.usage.load_report import LoadReport, LoadReportError, read_load_report

LARGEST_BYTES: Final = 128 * 2**20
MOST_VALUES: Final = 5_000_000
"""150,000 pods and 5,000 nodes with four values each stay below both; a text of more could fill 1 GB of memory."""
_WANTED: Final = "wanted the JSON that GET /watcher returns"


def read_load_recording(filename: str, progress: Progress = no_progress) -> LoadReport:
    """The report in a file (``.gz``, ``.xz`` too). Raises SnapshotError naming file and field."""
    name = name_of(filename)
    text = bytearray()
    for chunk in _chunks(filename, progress):
        text += chunk
        if len(text) > LARGEST_BYTES:
            break
    return load_report(text, name)


def load_report(text: bytes | bytearray, name: str) -> LoadReport:
    """The report in a text that was read. Raises SnapshotError naming file and field."""
    if len(text) > LARGEST_BYTES:
        raise SnapshotError(f"{name}: is larger than {LARGEST_BYTES // 2**20} MiB; {_WANTED}")
    if sum(text.count(sign) for sign in (b",", b"{", b"[")) > MOST_VALUES:
        raise SnapshotError(f"{name}: holds more than {MOST_VALUES:,} values; {_WANTED}")
    try:
        return read_load_report(_decoded(text, name))
    except LoadReportError as error:
        raise SnapshotError(f"{name}: {error}") from error


def _chunks(filename: str, progress: Progress) -> Iterator[bytes]:
    """The text; ``DIR@TIME``: the load that was recorded with a snapshot of an archive."""
    archived = archived_name(filename)
    if archived is None:
        yield from read_chunks(filename, None, progress)
        return
    from rescheduler.adapters.files.archive.archive_reading import archived_load

    yield archived_load(archived) or b""


def _decoded(text: bytes | bytearray, name: str) -> Any:
    """JSON, and with the NaN and Infinity that some writers put in it: such values are known to be unusable."""
    if not text.strip():
        raise SnapshotError(f"{name}: is empty; {_WANTED}")
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _decoded_loosely(text, name)


def _decoded_loosely(text: bytes | bytearray, name: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError as error:
        raise SnapshotError(f"{name}: is nested too deeply; {_WANTED}") from error
    except UnicodeDecodeError as error:
        raise SnapshotError(f"{name}: is no UTF-8 text (byte {error.start}); {_WANTED}") from error
    except ValueError as error:
        raise SnapshotError(f"{name}: {shortened(str(error), 120)}; {_WANTED}") from error
