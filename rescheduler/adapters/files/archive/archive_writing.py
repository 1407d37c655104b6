"""Adds snapshots to an archive in a folder, and prunes it: whatever happens on the way, every file in it is whole."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from enum import Enum
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from rescheduler.adapters.files.archive.archive_form import Difference, FileHead, packed, patch, pool_content
from rescheduler.adapters.files.archive.archive_reading import FUTURE_SECONDS, is_whole_pool, pool_of, snapshot_head
from rescheduler.adapters.files.archive.archive_source import FolderSource
from rescheduler.adapters.files.archive.recorded_content import RecordedContent, key_of
from rescheduler.adapters.files.archive.snapshot_names import (
    POOL,
    SNAPSHOT,
    SnapshotFile,
    is_pool,
    pool_name,
    snapshot_file,
    snapshot_name,
    written_time,
)
from rescheduler.extension_points import ReschedulerError, SnapshotError
from rescheduler.model.printable import shortened

PLAIN: Final = "plain"


class MixedNamesError(ReschedulerError):
    """Plain and replaced names, or names replaced by different salts, would come to stand in one archive."""


class Added(Enum):
    """What became of a snapshot that was to be added."""

    NEW = "new"
    KNOWN = "known"


class ArchiveWriter:
    """One archive; ``names``: ``plain``, or what the salt of replaced names is known by.

    Every call takes the folder for itself alone and first removes what a killed one left.
    """

    def __init__(self, folder: str, names: str = PLAIN) -> None:
        """Make the folder unless it is there. Raises SnapshotError."""
        self._told = shortened(folder)
        self._names = names
        self._source = FolderSource(folder)
        self._path = self._source.path
        try:
            self._path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SnapshotError(f"{self._told}: no archive can be made there: {error.strerror or error}") from error

    def add(self, content: RecordedContent, now: float) -> Added:
        """Add one snapshot; one that is there already is left alone.

        Raises SnapshotError for another of the same time, one of a time to come, and what cannot be written, and
        MixedNamesError.
        """
        time = int(content.taken_at // 1)
        if time > now + FUTURE_SECONDS:
            raise SnapshotError(f"{written_time(time)} is more than 5 minutes ahead of the clock ({written_time(now)})")
        digest = content.digest
        with self._taken():
            self.refuse_other_names()
            damaged = []
            for file in self._files():
                head = snapshot_head(self._source, file) if file.time == time else None
                if head is not None and head.content == digest:
                    return Added.KNOWN
                if head is not None:
                    raise SnapshotError(f"the archive holds another snapshot of {written_time(time)} already")
                damaged += [file] if file.time == time else []
            try:
                self._write(content, time, digest)
            except SnapshotError:
                self._tidy()  # on a full disk a pool that nothing refers to gives its room back
                raise
            for file in damaged:
                if not snapshot_head(self._source, file):
                    (self._path / file.name).unlink(missing_ok=True)
        return Added.NEW

    def prune(self, keep_seconds: float | None, most_bytes: int | None) -> int:
        """Remove the oldest snapshots, never the newest; how many. Raises SnapshotError."""
        with self._taken():
            files = self._files()
            newest = files[-1].time if files else 0
            sizes = self._source.sizes()
            gone = 0
            for file in files[:-1]:
                is_old = keep_seconds is not None and newest - file.time > keep_seconds
                if not is_old and (most_bytes is None or sum(sizes.values()) <= most_bytes):
                    break
                self._remove(file.name, sizes)
                if not any(other.pool == file.pool for other in files[gone + 1 :]):
                    self._remove(file.pool, sizes)
                gone += 1
        return gone

    def refuse_other_names(self) -> None:
        """Raise MixedNamesError unless the names in the archive were treated as those to come will be."""
        heads = (snapshot_head(self._source, file) for file in reversed(self._files()))
        head = next((head for head in heads if head is not None), None)
        if head is None or head.names == self._names:
            return
        if PLAIN in (head.names, self._names):
            held = "plain" if head.names == PLAIN else "anonymised"
            raise MixedNamesError(f"{self._told}: holds {held} snapshots; plain and anonymised ones do not mix")
        raise MixedNamesError(f"{self._told}: its names were replaced by another salt; give the same --salt file again")

    def _write(self, content: RecordedContent, time: int, digest: str) -> None:
        pool = self._pool(content, time)
        difference = _difference(content, pool_of(self._source, pool))
        head = FileHead("Snapshot", time=content.taken_at, nodes=content.nodes, pods=content.pods, names=self._names,
                        content=digest)  # fmt: skip
        self._put(snapshot_name(time, pool), packed(head, msgspec.msgpack.encode(difference)))

    def _pool(self, content: RecordedContent, time: int) -> str:
        """A pool of the snapshot's hour that can be read, made of this snapshot if there is none."""
        prefix = pool_name(time, "0").partition(".")[0]
        for name in self._source.names():
            if is_pool(name) and name.startswith(prefix) and is_whole_pool(self._source, name):
                return name
        text = pool_content(content.objects)
        name = pool_name(time, sha256(text).hexdigest())
        self._put(name, packed(FileHead("Pool", names=self._names), text))
        return name

    def _put(self, name: str, text: bytes) -> None:
        """A whole file under its name, or none."""
        unfinished = self._path / f".{name}"
        try:
            with unfinished.open("wb") as stream:
                stream.write(text)
                stream.flush()
                os.fsync(stream.fileno())
            unfinished.replace(self._path / name)
            self._sync_folder()
        except OSError as error:
            with suppress(OSError):
                unfinished.unlink()
            raise SnapshotError(f"{self._told}: cannot be written: {error.strerror or error}") from error

    def _sync_folder(self) -> None:
        descriptor = os.open(self._path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _remove(self, name: str, sizes: dict[str, int]) -> None:
        try:
            (self._path / name).unlink(missing_ok=True)
        except OSError as error:
            raise SnapshotError(f"{self._told}: {name} cannot be removed: {error.strerror or error}") from error
        sizes.pop(name, None)

    def _files(self) -> list[SnapshotFile]:
        found = (snapshot_file(name) for name in self._source.names())
        return sorted((file for file in found if file is not None), key=lambda file: (file.time, file.name))

    @contextmanager
    def _taken(self) -> Iterator[None]:
        """The folder for this process alone, without what a killed one left in it."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise SnapshotError(f"{self._told}: cannot be written: {error.strerror or error}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._tidy()
            yield
        finally:
            os.close(descriptor)

    def _tidy(self) -> None:
        for path in self._path.iterdir():
            if path.name.startswith(".") and path.suffix in (SNAPSHOT, POOL):
                _dropped(path)
        used = {file.pool for file in self._files()}
        for name in self._source.names():
            if is_pool(name) and name not in used:
                _dropped(self._path / name)


def _dropped(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def _difference(content: RecordedContent, pool: tuple[bytes, ...]) -> Difference:
    """What tells a snapshot from a pool."""
    have, left = set(content.objects), dict.fromkeys(content.objects)
    by_key = {}
    removed, changed = [], []
    for index, raw in enumerate(pool):
        if raw in have:
            left.pop(raw, None)
        else:
            by_key[key_of(raw)] = index
            removed.append(index)
    added: list[bytes] = []
    for raw in left:
        key = key_of(raw)
        if key in by_key:
            index = by_key.pop(key)
            changed.append(patch(index, pool[index], raw))
        else:
            added.append(raw)
    turned = {one.index for one in changed}
    return Difference(content.marks, [index for index in removed if index not in turned], changed, added,
                      list(content.empty), content.load)  # fmt: skip
