"""The ledger's ConfigMap as the API server holds it, with an operator's mark."""

from __future__ import annotations

import json
from typing import Any, Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.credentials import Endpoint
from rescheduler.adapters.kubernetes.ledger.ledger_marks import STOP_ANNOTATION
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ConfigMaps
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.extension_points import Clock
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from tests.soak.line.http_wire import ACCOUNT, SERVER, HttpRequest, WireResponse
from tests.soak.line.wire import HttpAnswer
from tests.soak.world.versioned_object import VersionedObject

NAMESPACE: Final = "rescheduler-holds"
NAME: Final = "rescheduler-ledger"
KEEP_SECONDS: Final = 86400.0
CLOSED_BYTES: Final = 500
"""What is over moves out of the main object early: runs of some hours see it often."""


def ledger_over(connection: Connection) -> ShardedLedger:
    """The product's own adapter."""
    objects = ConfigMaps(connection, NAMESPACE, keep_seconds=KEEP_SECONDS)
    return ShardedLedger(objects, NAME, counted_seconds=KEEP_SECONDS, closed_bytes=CLOSED_BYTES)


class LedgerObject(VersionedObject):
    """The main object; any number of processes may share it. ``shards``: the others, by name."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(f"/api/v1/namespaces/{NAMESPACE}/configmaps", NAME)
        self.clock = clock
        self.shards: dict[str, VersionedObject] = {}
        self._mark: str | None = None
        self._endpoint = Endpoint(SERVER, "simulated", ACCOUNT, _Direct(self))
        self._seen: tuple[str, Ledger] = ("", EMPTY_LEDGER)

    @property
    def stop(self) -> str | None:
        """An operator's mark: on the object, or on its namespace while there is none."""
        return self._mark

    @stop.setter
    def stop(self, reason: str | None) -> None:
        self._mark = reason
        if self.found is not None:
            self.put(self.found)

    @property
    def ledger(self) -> Ledger:
        """What a process that begins now could count, if it met no fault; for checkers."""
        if self._seen[0] != self.version:
            reader = ledger_over(Connection(lambda: self._endpoint, read_only=True))
            self._seen = self.version, reader.what_is_left()
        return self._seen[1]

    def answer(self, asked: HttpRequest) -> HttpAnswer:
        """As an API server answers, about the namespace too."""
        if asked.method == "GET" and asked.path == f"/api/v1/namespaces/{NAMESPACE}":
            marks = {STOP_ANNOTATION: self._mark} if self._mark is not None and self.found is None else {}
            found = {"kind": "Namespace", "metadata": {"name": NAMESPACE, "annotations": marks}}
            return HttpAnswer(200, json.dumps(found).encode())
        name = asked.body["metadata"]["name"] if asked.method == "POST" else asked.path.rpartition("/")[2]
        if name.startswith(f"{NAME}-"):
            return self.shards.setdefault(name, VersionedObject(self.collection, name)).answer(asked)
        return super().answer(asked)

    def put(self, body: dict[str, Any]) -> None:
        """The mark stays as the operator has it, whatever a writer has read of it."""
        others = {key: text for key, text in body["metadata"].get("annotations", {}).items() if key != STOP_ANNOTATION}
        marks = {} if self._mark is None else {STOP_ANNOTATION: self._mark}
        super().put({**body, "metadata": {**body["metadata"], "annotations": {**others, **marks}}})


class _Direct:
    """A transport on which nothing goes wrong."""

    def __init__(self, found: LedgerObject) -> None:
        self._object = found

    def request(self, method: str, url: str, **_: Any) -> WireResponse:
        """The answer at once."""
        asked = HttpRequest(method, url.removeprefix(SERVER), {}, None)
        return WireResponse(self._object.answer(asked), self._object.clock.now())
