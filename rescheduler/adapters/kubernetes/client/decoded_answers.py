"""Reads answers in the forms that are wanted: whatever else comes, with whatever status, is an error of the cluster."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection, Response
from rescheduler.adapters.kubernetes.client.failures import OutcomeUnknownError, refusal
from rescheduler.extension_points import ClusterError
from rescheduler.model.printable import shortened

T = TypeVar("T")


def decoded(connection: Connection, asked: str, body: bytes, form: type[T]) -> T:
    """The answer to ``asked`` (method and path). Raises ClusterError for what is no JSON, or of another form."""
    try:
        return msgspec.json.decode(body, type=form)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ClusterError(
            f"{connection.server} answered {asked} with what cannot be read: {shortened(str(error), 200)}; was it cut "
            "off on its way, or is this no API server?"
        ) from error


def decoded_whole(connection: Connection, asked: str, body: bytes, form: type[Any]) -> dict[str, Any]:
    """The same with all that stands in it, for what is written back or told as it came. Raises ClusterError."""
    decoded(connection, asked, body, form)
    return decoded(connection, asked, body, dict[str, Any])


class _Object(msgspec.Struct, gc=False):
    """Any: the API server answers each write with an object, or with a Status."""


def is_object(body: bytes) -> bool:
    """Whether an answer is one that an API server may have written, rather than a page of something in between."""
    try:
        msgspec.json.decode(body, type=_Object)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def require_done(connection: Connection, method: str, path: str, answer: Response) -> None:
    """Raise ClusterError for a refusal, OutcomeUnknownError where an answer says that it is done and is no object."""
    if answer.status >= 300:
        raise refusal(connection.server, "", method, path, answer.status, answer.body)
    if not is_object(answer.body):
        raise OutcomeUnknownError(
            f"{connection.server} answered {method} {path} with status {answer.status} and with something that is not "
            "JSON; whether it was done is not known"
        )


class ObjectNames(msgspec.Struct, gc=False):
    """What every object of an API server has."""

    name: str
    uid: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class NamedObject(msgspec.Struct, gc=False):
    """An object, as far as it says which one it is."""

    metadata: ObjectNames


class NamedObjects(msgspec.Struct, gc=False):
    """A list of them; an API server always writes ``items``, so that nothing else is taken for an empty list."""

    items: list[NamedObject] | None


class _Told(msgspec.Struct, gc=False):
    major: str = ""
    minor: str = ""
    git_version: str | None = msgspec.field(name="gitVersion", default=None)


def server_told_version(connection: Connection) -> _Told:
    """What ``/version`` says. Raises ClusterError."""
    return decoded(connection, "GET /version", connection.get("/version"), _Told)


class _Resource(msgspec.Struct, gc=False):
    name: str = ""


class _Resources(msgspec.Struct, gc=False):
    resources: list[_Resource] | None = None


def served_resources(connection: Connection, path: str) -> frozenset[str]:
    """Names of the resources of one group and version. Raises ClusterError (NotServedError where there is none)."""
    found = decoded(connection, f"GET {path}", connection.get(path), _Resources).resources
    return frozenset(item.name for item in found or ())
