"""The bytes of a recording: a file or standard input, unpacked as they are read."""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from rescheduler.adapters.files.archive.snapshot_names import archived_name
from rescheduler.adapters.files.recording.documents import (
    CHUNK_BYTES,
    LARGEST_EXPANSION,
    LARGEST_TEXT_BYTES,
    UNPACKING_MEMORY_BYTES,
    UNSUSPICIOUS_BYTES,
)
from rescheduler.extension_points import Progress, SnapshotError
from rescheduler.model.printable import shortened

STANDARD_INPUT: Final = "-"
_SHELLS_PIPES: Final = ("/dev/", "/proc/")
_GZIP: Final = b"\x1f\x8b"
_XZ: Final = b"\xfd7zXZ\x00"
_OTHER_PACKERS: Final = {b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"PK\x03\x04": "zip"}
_UTF8_MARK: Final = b"\xef\xbb\xbf"
_UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")


def name_of(filename: str) -> str:
    """What a source is called in messages."""
    return "standard input" if filename == STANDARD_INPUT else shortened(filename)


def read_chunks(filename: str, stdin: BinaryIO | None, progress: Progress) -> Iterator[bytes]:
    """The unpacked bytes of a file (``-``: standard input), without a byte order mark. Raises SnapshotError.

    ``DIR@TIME`` is a snapshot of an archive.
    """
    archived = archived_name(filename)
    if archived is not None:
        from rescheduler.adapters.files.archive.archive_reading import archived_text

        yield from archived_text(archived)
        return
    name = name_of(filename)
    with _opened(filename, stdin) as (stream, size):
        consumed = _Counted(stream, lambda done: progress(f"reading {name}", done, size))
        yield from _without_mark(_unpacked(consumed, name), name)


@contextmanager
def _opened(filename: str, stdin: BinaryIO | None) -> Iterator[tuple[BinaryIO, int | None]]:
    name = name_of(filename)
    try:
        if filename == STANDARD_INPUT:
            if stdin is None:
                raise SnapshotError("there is no standard input to read from; name a file with -f")
            yield stdin, None
        else:
            path = Path(filename)
            if path.is_dir():
                raise SnapshotError(f"{name}: is a directory; name the files in it")
            if path.is_fifo() and not filename.startswith(_SHELLS_PIPES):  # opening it could wait for ever
                raise SnapshotError(f"{name}: is a pipe; read it as standard input: -f - < {name}")
            with path.open("rb") as stream:
                yield stream, path.stat().st_size
    except OSError as error:
        raise SnapshotError(f"{name}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a file name with a zero byte
        raise SnapshotError(f"{name}: cannot be read: {error}") from error


class _Counted:
    """Chunks of a stream, counted as they go by."""

    def __init__(self, stream: BinaryIO, tell: Callable[[int], None]) -> None:
        self._stream = stream
        self._tell = tell
        self.done = 0

    def read(self) -> bytes:
        chunk = self._stream.read(CHUNK_BYTES)
        self.done += len(chunk)
        self._tell(self.done)
        return chunk


def _unpacked(source: _Counted, name: str) -> Iterator[bytes]:
    first = source.read()
    for magic, packer in _OTHER_PACKERS.items():
        if first.startswith(magic):
            raise SnapshotError(f"{name}: is packed with {packer}; wanted plain text, gzip or xz")
    if first.startswith(_GZIP):
        return _watched(_inflate(first, source, name), source, name)
    if first.startswith(_XZ):
        return _watched(_unxz(first, source, name), source, name)
    return _watched(_plain(first, source), source, name)


def _plain(chunk: bytes, source: _Counted) -> Iterator[bytes]:
    while chunk:
        yield chunk
        chunk = source.read()


def _inflate(chunk: bytes, source: _Counted, name: str) -> Iterator[bytes]:
    engine = zlib.decompressobj(wbits=31)
    try:
        while chunk:
            yield engine.decompress(chunk, CHUNK_BYTES)
            if engine.eof:  # several members may follow each other
                chunk = engine.unused_data.lstrip(b"\0") or source.read()
                engine = zlib.decompressobj(wbits=31) if chunk else engine
            else:
                chunk = engine.unconsumed_tail or source.read()
    except zlib.error as error:
        raise SnapshotError(f"{name}: the gzip data is damaged: {error}") from error
    if not engine.eof:
        raise SnapshotError(f"{name}: the gzip data ends in the middle (byte {source.done}); was it cut off?")


def _unxz(chunk: bytes, source: _Counted, name: str) -> Iterator[bytes]:
    engine = _xz_engine()
    try:
        while chunk or not engine.needs_input:
            yield engine.decompress(chunk, CHUNK_BYTES)
            if engine.eof:
                chunk = engine.unused_data.lstrip(b"\0") or source.read()
                if not chunk:
                    return
                engine = _xz_engine()
            else:
                chunk = source.read() if engine.needs_input else b""
    except (lzma.LZMAError, MemoryError) as error:
        raise SnapshotError(f"{name}: the xz data cannot be unpacked: {error}") from error
    raise SnapshotError(f"{name}: the xz data ends in the middle (byte {source.done}); was it cut off?")


def _xz_engine() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=UNPACKING_MEMORY_BYTES)


def _watched(chunks: Iterator[bytes], source: _Counted, name: str) -> Iterator[bytes]:
    """Stop at what grows out of all proportion."""
    total = 0
    for chunk in chunks:
        total += len(chunk)
        if total > UNSUSPICIOUS_BYTES and total > LARGEST_EXPANSION * source.done:
            raise SnapshotError(
                f"{name}: {source.done} packed bytes grew to {total} and more; no recording does (limit: "
                f"{LARGEST_EXPANSION} to 1); unpack it first if you trust it"
            )
        if total > LARGEST_TEXT_BYTES:
            raise SnapshotError(f"{name}: is larger than {LARGEST_TEXT_BYTES // 2**30} GiB; split it in several files")
        if chunk:
            yield chunk


def _without_mark(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    is_first = True
    for chunk in chunks:
        if is_first and chunk.startswith(_UTF16_MARKS):
            raise SnapshotError(f"{name}: is UTF-16 text; wanted UTF-8 (in PowerShell: ... | Out-File -Encoding utf8)")
        yield chunk.removeprefix(_UTF8_MARK) if is_first else chunk
        is_first = False
