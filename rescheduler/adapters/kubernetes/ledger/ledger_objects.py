"""The ConfigMaps that hold a ledger, each read live and written by compare-and-swap on its resourceVersion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from rescheduler.adapters.kubernetes.client.connection import Connection, Response
from rescheduler.adapters.kubernetes.client.decoded_answers import decoded
from rescheduler.adapters.kubernetes.client.failures import (
    ForbiddenError,
    NotServedError,
    OutcomeUnknownError,
    refusal,
    server_message,
)
from rescheduler.adapters.kubernetes.client.paths import config_map_path, ensure_namespace, namespace_path
from rescheduler.adapters.kubernetes.guidance.placeholders import EXPIRES_ANNOTATION, PLAN_LABEL, expiry
from rescheduler.extension_points import ClusterError, LedgerDeniedError
from rescheduler.model.objects.annotations import MANAGED_BY, OURS

NOTHING: Final[Mapping[str, str]] = {}
_MAY_HAVE_HAPPENED: Final = (408, 500, 502, 503, 504)


class LedgerObject(NamedTuple):
    """One ConfigMap: ``version`` is what a write has to be given, "" for one that is not there yet."""

    version: str = ""
    uid: str = ""
    data: Mapping[str, str] = NOTHING
    packed: Mapping[str, bytes] = {}
    labels: Mapping[str, str] = NOTHING
    annotations: Mapping[str, str] = NOTHING


class Content(NamedTuple):
    """What is to stand in one. ``plan`` and ``latest`` (time of its newest entry) are told on it."""

    data: Mapping[str, str]
    packed: Mapping[str, bytes]
    plan: int
    latest: float


ABSENT: Final = LedgerObject()


class LedgerObjects(Protocol):
    """ConfigMaps of one namespace."""

    namespace: str

    def now(self) -> float | None:
        """The server's own time, as far as it is known."""

    def namespace_marks(self) -> Mapping[str, str]:
        """The annotations of the namespace, as far as we may look at it. Raises ClusterError."""

    def get(self, name: str) -> LedgerObject:
        """A live read; ABSENT where there is none. Raises LedgerDeniedError, ClusterError."""

    def put(self, name: str, content: Content, found: LedgerObject) -> LedgerObject | None:
        """Put this in the place of ``found`` if that still stands so; None if it does not.

        Raises LedgerDeniedError, OutcomeUnknownError where it may have been written, ClusterError.
        """


class _Metadata(msgspec.Struct, gc=False, rename="camel"):
    uid: str = ""
    resource_version: str = ""
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _Object(msgspec.Struct, gc=False, rename="camel"):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    data: dict[str, str] | None = None
    binary_data: dict[str, bytes] | None = None


class ConfigMaps(LedgerObjects):
    """Those of a live cluster. ``keep_seconds``: how long after its newest eviction one says that it may be removed.

    Labels and annotations of others stay as they are.
    """

    def __init__(self, connection: Connection, namespace: str, *, keep_seconds: float) -> None:
        """Nothing is sent yet."""
        self.namespace = namespace
        self._connection = connection
        self._keep_seconds = keep_seconds

    def now(self) -> float | None:
        """The server's own time, as far as it is known."""
        return self._connection.server_time

    def namespace_marks(self) -> Mapping[str, str]:
        """The annotations of the namespace, as far as we may look at it. Raises ClusterError."""
        try:
            return self._read(namespace_path(self.namespace), f"namespace {self.namespace}").annotations
        except LedgerDeniedError:
            return NOTHING

    def get(self, name: str) -> LedgerObject:
        """A live read. Raises LedgerDeniedError, ClusterError."""
        return self._read(config_map_path(self.namespace, name), self._called(name))

    def put(self, name: str, content: Content, found: LedgerObject) -> LedgerObject | None:
        """Compare and swap. Raises LedgerDeniedError, OutcomeUnknownError, ClusterError."""
        body = self._object(name, content, found)
        if found.version:
            answer = self._connection.send("PUT", config_map_path(self.namespace, name), body)
        else:
            answer = self._create(body)
        if answer.status in (404, 409):
            return None
        self._check(answer, "update" if found.version else "create", self._called(name))
        return _read_object(decoded(self._connection, f"the write of {self._called(name)}", answer.body, _Object))

    def _create(self, body: dict[str, Any]) -> Response:
        path = config_map_path(self.namespace, "")
        answer = self._connection.send("POST", path, body)
        if answer.status == 404:
            ensure_namespace(self._connection, self.namespace)
            answer = self._connection.send("POST", path, body)
            if answer.status == 404:
                raise refusal(self._connection.server, "", "POST", path, answer.status, answer.body)
        return answer

    def _object(self, name: str, content: Content, found: LedgerObject) -> dict[str, Any]:
        own = {PLAN_LABEL: str(content.plan), EXPIRES_ANNOTATION: expiry(content.latest, self._keep_seconds)}
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {**found.labels, MANAGED_BY: OURS},
            "annotations": {**found.annotations, **own},
            **({"resourceVersion": found.version} if found.version else {}),
        }
        binary = {key: msgspec.to_builtins(value) for key, value in content.packed.items()}
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": metadata,
            "data": dict(content.data),
            **({"binaryData": binary} if binary else {}),
        }

    def _check(self, answer: Response, verb: str, called: str) -> None:
        if answer.status < 300:
            return
        said = server_message(answer.body)
        if answer.status == 403:
            raise LedgerDeniedError(self._denied(verb, called, said))
        text = f"{self._connection.server} answered the {verb} of {called} with status {answer.status}{said}"
        if answer.status in _MAY_HAVE_HAPPENED:
            raise OutcomeUnknownError(text)
        raise ClusterError(text)

    def _read(self, path: str, called: str) -> LedgerObject:
        try:
            return _read_object(decoded(self._connection, f"GET {called}", self._connection.get(path), _Object))
        except NotServedError:
            return ABSENT
        except ForbiddenError as error:
            raise LedgerDeniedError(self._denied("get", called, "")) from error

    def _denied(self, verb: str, called: str, said: str) -> str:
        file = (
            "deploy/reading.yaml, and to those who act deploy/acting.yaml," if verb == "get" else "deploy/acting.yaml"
        )
        return (
            f"{self._connection.server} forbids us to {verb} {called}, in which evictions are written down "
            f"(403 Forbidden{said}); {file} grants it: {verb} configmaps in namespace {self.namespace}"
        )

    def _called(self, name: str) -> str:
        return f"ConfigMap {self.namespace}/{name}"


def _read_object(found: _Object) -> LedgerObject:
    metadata = found.metadata
    return LedgerObject(
        metadata.resource_version,
        metadata.uid,
        found.data or NOTHING,
        found.binary_data or {},
        metadata.labels or NOTHING,
        metadata.annotations or NOTHING,
    )
