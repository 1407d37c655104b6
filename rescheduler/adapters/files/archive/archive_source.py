"""Where the files of an archive lie: a folder, or whatever an fsspec URL names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rescheduler.extension_points import SnapshotError
from rescheduler.model.printable import shortened


class ArchiveSource(ABC):
    """Files by name. ``location`` can be given to another process: an absolute path, or a URL."""

    location: str

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """The files in it and how large they are. Raises SnapshotError."""

    @abstractmethod
    def read(self, name: str) -> bytes:
        """All of one file. Raises SnapshotError."""

    def names(self) -> Sequence[str]:
        """The files in it, sorted."""
        return sorted(self.sizes())


class FolderSource(ArchiveSource):
    """A folder of this machine."""

    def __init__(self, folder: str | Path) -> None:
        self.path = Path(folder).absolute()
        self.location = str(self.path)
        self._told = shortened(str(folder))

    def sizes(self) -> dict[str, int]:
        """Without what begins with a dot: it is still being written."""
        try:
            found = [path for path in self.path.iterdir() if not path.name.startswith(".")]
        except OSError as error:
            raise SnapshotError(f"{self._told}: no archive there: {error.strerror or error}") from error
        sizes = {}
        for path in found:
            try:
                sizes[path.name] = path.stat().st_size
            except OSError:
                if path.is_symlink():
                    sizes[path.name] = 0  # what it leads to is missing, which whoever reads it is told
                continue  # else pruned a moment ago
        return sizes

    def read(self, name: str) -> bytes:
        """All of one file."""
        try:
            return (self.path / name).read_bytes()
        except FileNotFoundError:
            raise SnapshotError(f"{name}: is missing") from None
        except OSError as error:
            raise SnapshotError(f"{name}: cannot be read: {error.strerror or error}") from error


class UrlSource(ArchiveSource):
    """An object store or another place that fsspec reaches."""

    def __init__(self, url: str) -> None:
        """Raises SnapshotError where fsspec, or what it needs for such URLs, is not installed."""
        self.location = url
        try:
            from fsspec.core import url_to_fs

            found: tuple[Any, str] = url_to_fs(url)
        except ImportError as error:
            extra, brings = ("s3", "s3fs") if url.startswith("s3://") else ("dask", "fsspec")
            raise SnapshotError(
                f"{shortened(url)}: {error}; pip install 'kube-rescheduler[{extra}]' brings {brings}"
            ) from error
        except (ValueError, OSError) as error:
            raise SnapshotError(f"{shortened(url)}: {error}") from error
        self._files, self._root = found

    def sizes(self) -> dict[str, int]:
        """Without what begins with a dot."""
        try:
            found = self._files.ls(self._root, detail=True)
        except Exception as error:  # each store has its own kinds of errors
            raise SnapshotError(f"{shortened(self.location)}: no archive there: {error}") from error
        named = {str(one["name"]).rstrip("/").rpartition("/")[2]: int(one.get("size") or 0) for one in found}
        return {name: size for name, size in named.items() if not name.startswith(".")}

    def read(self, name: str) -> bytes:
        """All of one file."""
        try:
            return bytes(self._files.cat_file(f"{self._root.rstrip('/')}/{name}"))
        except FileNotFoundError:
            raise SnapshotError(f"{name}: is missing") from None
        except Exception as error:
            raise SnapshotError(f"{name}: cannot be read: {error}") from error


def archive_source(location: str) -> ArchiveSource:
    """The archive at a path or URL. Raises SnapshotError."""
    return UrlSource(location) if "://" in location else FolderSource(location)
