"""Lines of a watch: what has happened, and to which object."""

from __future__ import annotations

from typing import Final, NamedTuple

from msgspec import Raw, Struct, field

from rescheduler.adapters.kubernetes.client.failures import ServerBusyError
from rescheduler.adapters.kubernetes.objects.decoding.decode import decode
from rescheduler.adapters.kubernetes.objects.decoding.metadata import ApiStruct, ObjectMeta
from rescheduler.extension_points import ClusterError
from rescheduler.model.printable import shortened

ADDED: Final = "ADDED"
MODIFIED: Final = "MODIFIED"
DELETED: Final = "DELETED"
BOOKMARK: Final = "BOOKMARK"
ERROR: Final = "ERROR"
_END_OF_LIST: Final = "k8s.io/initial-events-end"


class WatchExpiredError(ClusterError):
    """The server does not keep changes for as long as we would need them (410): read everything again."""


class WatchBrokenError(ClusterError):
    """What the watch has told, or what it told it to, cannot be used."""


class WatchLine(Struct, gc=False):
    """One line. ``object`` is the object's JSON."""

    type: str
    object: Raw


class Bookmark(NamedTuple):
    """How far the watch has come. ``is_end_of_list``: all objects that were there when it began have been sent."""

    version: str
    is_end_of_list: bool


class Marked(ApiStruct):
    """An object of any kind, of which the metadata alone is looked at."""

    metadata: ObjectMeta | None = None


class _Notes(ApiStruct):
    resource_version: str | None = None
    annotations: dict[str, str] | None = None


class _Noted(ApiStruct):
    metadata: _Notes | None = None


class _Details(ApiStruct):
    retry_after_seconds: float | None = None


class _Status(ApiStruct):
    code: int | None = None
    message: str | None = None
    reason: str | None = None
    details: _Details | None = field(default=None)


def watch_line(line: bytes) -> WatchLine:
    """Raises BrokenTextError for what is no JSON, ObjectError for what is no line of a watch."""
    return decode(line, WatchLine)


def bookmark(raw: Raw) -> Bookmark:
    """Raises ObjectError."""
    found = decode(raw, _Noted).metadata or _Notes()
    return Bookmark(found.resource_version or "", (found.annotations or {}).get(_END_OF_LIST) == "true")


def error_of(raw: Raw, what: str) -> ClusterError:
    """What a line of type ERROR means. ``what``: server and list, for people. Raises ObjectError."""
    found = decode(raw, _Status)
    said = shortened(found.message or found.reason or "no reason given", 300)
    if found.code == 410:
        return WatchExpiredError(f"{what}: the changes since the last reading are no longer kept (410 Gone: {said})")
    text = f"{what}: the watch ended with {found.code or 'an error'}: {said}"
    details = found.details or _Details()
    if found.code == 429 or details.retry_after_seconds:
        return ServerBusyError(text, details.retry_after_seconds or 0.0)
    return WatchBrokenError(text)
