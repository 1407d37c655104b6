"""An API server in memory that lists objects and tells of their changes, faultily where a test says so."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from rescheduler.adapters.kubernetes.client.failures import NotServedError, PagesExpiredError

Object = dict[str, Any]


class Asked(NamedTuple):
    """One request: ``how`` is list or watch."""

    how: str
    path: str
    params: Mapping[str, str]

    @property
    def is_streamed_list(self) -> bool:
        """Whether a stream was asked for that begins with the whole list."""
        return "sendInitialEvents" in self.params


class Lines:
    """Stands in for a LineStream."""

    def __init__(self, lines: Iterator[bytes]) -> None:
        self._lines = lines
        self.is_closed = False

    def __enter__(self) -> Lines:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[bytes]:
        for line in self._lines:
            if self.is_closed:
                return
            yield line

    def close(self) -> None:
        """End the iteration."""
        self.is_closed = True


class WatchedServer:
    """Stands in for a Connection. A watch tells what has happened since its version, and then ends.

    ``faults``: each is taken by the next request it does not return None for; it raises, or gives lines in place of the
    server's. ``repeats``: so many changes before a watch's version are told again. ``compacted``: changes up to this
    version are forgotten.
    """

    server = "https://cluster"

    def __init__(self) -> None:
        self.objects: dict[str, dict[tuple[str, str], Object]] = {}
        self.changes: dict[str, list[tuple[int, str, Object]]] = {}
        self.version = 100
        self.compacted = 0
        self.repeats = 0
        self.server_time: float | None = 1_800_000_000.0
        self.faults: list[Callable[[Asked], Iterator[bytes] | None]] = []
        self.asked: list[Asked] = []
        self.page_size = 3

    def put(self, path: str, found: Object) -> Object:
        """Create or change an object; it gets the next version."""
        meta = found["metadata"]
        key = (meta.get("namespace", ""), meta["name"])
        known = self.objects.setdefault(path, {})
        self.version += 1
        kept = json.loads(json.dumps({**found, "metadata": {**meta, "resourceVersion": str(self.version)}}))
        self._note(path, "MODIFIED" if key in known else "ADDED", kept)
        known[key] = kept
        return kept

    def remove(self, path: str, name: str, namespace: str = "") -> None:
        """Delete an object, if it is there."""
        gone = self.objects.get(path, {}).pop((namespace, name), None)
        if gone is not None:
            self.version += 1
            self._note(
                path, "DELETED", {**gone, "metadata": {**gone["metadata"], "resourceVersion": str(self.version)}}
            )

    def compact(self) -> None:
        """Forget all changes so far; the next one is told again only from here on."""
        self.version += 1
        self.compacted = self.version

    def get(self, path: str, params: Mapping[str, str] | None = None) -> bytes:
        """The version, or a ConfigMap."""
        if path == "/version":
            return b'{"gitVersion": "v1.36.3"}'
        raise NotServedError(f"there is no {path}")

    def pages(self, path: str, limit: int = 500, params: Mapping[str, str] | None = None) -> Iterator[bytes]:
        """A list, in pages."""
        lines = self._fault(Asked("list", path, params or {}))
        if lines is not None:
            yield from lines
            return
        items = [found for _, found in sorted(self.objects.get(path, {}).items())]
        version = str(self.version)
        for start in range(0, max(len(items), 1), self.page_size):
            yield json.dumps(
                {"metadata": {"resourceVersion": version}, "items": items[start : start + self.page_size]}
            ).encode()

    def stream(self, path: str, params: Mapping[str, str], *, read_timeout: float) -> Lines:
        """A watch."""
        asked = Asked("watch", path, params)
        lines = self._fault(asked)
        if lines is None:
            lines = self._initial(path) if asked.is_streamed_list else self._since(path, int(params["resourceVersion"]))
        return Lines(lines)

    def let_end(self, stream: Lines, seconds: float) -> None:
        """It has ended."""

    def of(self, how: str) -> list[Mapping[str, str]]:
        """Parameters of the requests of one sort."""
        return [asked.params for asked in self.asked if asked.how == how]

    def _initial(self, path: str) -> Iterator[bytes]:
        for _, found in sorted(self.objects.get(path, {}).items()):
            yield event("ADDED", found)
        yield bookmark(self.version, is_end=True)

    def _since(self, path: str, version: int) -> Iterator[bytes]:
        if version < self.compacted:
            yield expired()
            return
        changes = self.changes.get(path, [])
        older = [change for change in changes if change[0] <= version]
        newer = [change for change in changes if change[0] > version]
        for _, kind, found in older[len(older) - min(self.repeats, len(older)) :] + newer:
            yield event(kind, found)
        yield bookmark(self.version)

    def _fault(self, asked: Asked) -> Iterator[bytes] | None:
        self.asked.append(asked)
        for fault in list(self.faults):
            lines = fault(asked)
            if lines is not None:
                return lines
        return None

    def _note(self, path: str, kind: str, found: Object) -> None:
        self.changes.setdefault(path, []).append((self.version, kind, found))


def event(kind: str, found: Object) -> bytes:
    """A line."""
    return json.dumps({"type": kind, "object": found}).encode()


def bookmark(version: int, *, is_end: bool = False) -> bytes:
    """A line that says how far the watch has come."""
    notes = {"annotations": {"k8s.io/initial-events-end": "true"}} if is_end else {}
    return event("BOOKMARK", {"metadata": {"resourceVersion": str(version), **notes}})


def expired() -> bytes:
    """The line that ends a watch from too old a version."""
    return event("ERROR", {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"})


def once(act: Callable[[Asked], Iterator[bytes] | None]) -> Callable[[Asked], Iterator[bytes] | None]:
    """A fault that happens the first time that it finds something to do."""
    done: list[bool] = []

    def fault(asked: Asked) -> Iterator[bytes] | None:
        if done:
            return None
        try:
            lines = act(asked)
        except Exception:
            done.append(True)
            raise
        if lines is not None:
            done.append(True)
        return lines

    return fault


def raising(error: Exception, how: str = "watch") -> Callable[[Asked], Iterator[bytes] | None]:
    """A fault: requests of one sort fail."""

    def fault(asked: Asked) -> None:
        if asked.how == how:
            raise error

    return fault


def expiring_pages(asked: Asked) -> Iterator[bytes] | None:
    """A fault: a list expires after its first page."""

    def pages() -> Iterator[bytes]:
        yield b'{"metadata":{"resourceVersion":"100"},"items":[]}'
        raise PagesExpiredError("the list has expired")

    return pages() if asked.how == "list" else None
