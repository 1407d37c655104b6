"""The two kinds of files of an archive as bytes: a line that says what it is, then packed content with a checksum.

A pool holds the objects of an hour's first snapshot. A snapshot says which of them it lacks, how others differ, and
what it has besides; its load is its own.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

import msgspec

from rescheduler.adapters.files.recording.documents import UNPACKING_MEMORY_BYTES
from rescheduler.extension_points import SnapshotError

FORM: Final = 1
LARGEST_CONTENT_BYTES: Final = 2 * 2**30
_LONGEST_HEAD: Final = 4096
_WINDOW_BYTES: Final = 32768  # what deflate can look back to
_PRESET: Final = 2


class FileHead(msgspec.Struct, frozen=True, omit_defaults=True):
    """The first line of a file. ``names``: ``plain``, or what the salt of replaced names is known by."""

    kind: str
    form: int = FORM
    sha256: str = ""
    time: float = 0.0
    nodes: int = 0
    pods: int = 0
    names: str = "plain"
    content: str = ""


class Patch(msgspec.Struct, frozen=True, array_like=True):
    """An object that is nearly one of the pool: deflated with that one as its dictionary."""

    index: int
    deflated: bytes


class Difference(msgspec.Struct, frozen=True):
    """A snapshot by its difference from a pool. ``empty``: kinds of which it knows that there are none."""

    marks: dict[str, str]
    removed: list[int]
    changed: list[Patch]
    added: list[bytes]
    empty: list[str]
    load: bytes | None = None


def packed(head: FileHead, content: bytes) -> bytes:
    """A whole file."""
    body = lzma.compress(content, preset=_PRESET)
    told = msgspec.structs.replace(head, sha256=sha256(body).hexdigest())
    return msgspec.json.encode(told) + b"\n" + body


def head_of(text: bytes, name: str) -> FileHead:
    """The first line of a whole file, once its checksum holds. Raises SnapshotError naming the file."""
    line, mark, _ = text[:_LONGEST_HEAD].partition(b"\n")
    if not mark:
        raise SnapshotError(f"{name}: damaged: it does not begin as a file of an archive does")
    try:
        head = msgspec.json.decode(line, type=FileHead)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise SnapshotError(f"{name}: damaged: it does not begin as a file of an archive does") from error
    if head.form != FORM:
        raise SnapshotError(f"{name}: is of form {head.form}; this version reads form {FORM}")
    if sha256(memoryview(text)[len(line) + 1 :]).hexdigest() != head.sha256:
        raise SnapshotError(f"{name}: damaged: its checksum does not hold; was it cut off?")
    return head


def content_of(text: bytes, name: str) -> bytes:
    """The unpacked content of a whole file. Raises SnapshotError naming the file."""
    head_of(text, name)
    engine = lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=UNPACKING_MEMORY_BYTES)
    try:
        content = engine.decompress(text[text.index(b"\n") + 1 :], LARGEST_CONTENT_BYTES)
    except (lzma.LZMAError, MemoryError) as error:
        raise SnapshotError(f"{name}: damaged: {error}") from error
    if not engine.eof:
        raise SnapshotError(f"{name}: holds more than {LARGEST_CONTENT_BYTES // 2**30} GiB, or ends too soon")
    return content


def pool_content(objects: Sequence[bytes]) -> bytes:
    """Objects one a line: none has a line break in it."""
    return b"\n".join(objects)


def pool_objects(content: bytes) -> tuple[bytes, ...]:
    """The objects of a pool."""
    return tuple(content.split(b"\n")) if content else ()


def difference_of(content: bytes, name: str) -> Difference:
    """A snapshot's difference. Raises SnapshotError naming the file."""
    try:
        return msgspec.msgpack.decode(content, type=Difference)
    except msgspec.DecodeError as error:
        raise SnapshotError(f"{name}: damaged: {error}") from error


def patch(index: int, old: bytes, new: bytes) -> Patch:
    """How a pool's object becomes another."""
    engine = zlib.compressobj(6, zlib.DEFLATED, -15, zdict=old[-_WINDOW_BYTES:])
    return Patch(index, engine.compress(new) + engine.flush())


def objects_of(pool: Sequence[bytes], difference: Difference, name: str) -> list[bytes]:
    """All objects of a snapshot, sorted by nothing in particular. Raises SnapshotError naming the file."""
    gone = set(difference.removed)
    try:
        changed = {}
        for one in difference.changed:
            engine = zlib.decompressobj(-15, zdict=pool[one.index][-_WINDOW_BYTES:])
            changed[one.index] = engine.decompress(one.deflated)
    except (IndexError, zlib.error) as error:
        raise SnapshotError(f"{name}: does not fit its pool: {error}") from error
    kept = [changed.get(index, raw) for index, raw in enumerate(pool) if index not in gone]
    return kept + difference.added
