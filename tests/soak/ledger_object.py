"""The ledger's ConfigMap as the API server holds it: compare-and-swap by resourceVersion, and an operator's mark."""

from __future__ import annotations

import json
from typing import Any, Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.credentials import Endpoint
from rescheduler.adapters.kubernetes.ledger import STOP_ANNOTATION, ConfigMapLedger
from rescheduler.extension_points import Clock, LedgerReading
from rescheduler.model.daemon.ledger import Ledger
from tests.soak.http_wire import ACCOUNT, SERVER, HttpRequest, WireResponse, status
from tests.soak.wire import HttpAnswer

NAMESPACE: Final = "rescheduler-holds"
NAME: Final = "rescheduler-ledger"
KEEP_SECONDS: Final = 86400.0
COLLECTION: Final = f"/api/v1/namespaces/{NAMESPACE}/configmaps"
OBJECT: Final = f"{COLLECTION}/{NAME}"


class LedgerObject:
    """Any number of processes may share it. ``writes`` counts those that took effect."""

    def __init__(self, clock: Clock) -> None:
        self.writes = 0
        self.clock = clock
        self._version = 0
        self._found: dict[str, Any] | None = None
        self._mark: str | None = None
        endpoint = Endpoint(SERVER, "simulated", ACCOUNT, _Direct(self))
        self._reader = ConfigMapLedger(
            Connection(lambda: endpoint, read_only=True), NAMESPACE, NAME, keep_seconds=KEEP_SECONDS
        )

    @property
    def stop(self) -> str | None:
        """An operator's mark: on the object, or on its namespace while there is none."""
        return self._mark

    @stop.setter
    def stop(self, reason: str | None) -> None:
        self._mark = reason
        if self._found is not None:
            self._put(self._found)

    @property
    def version(self) -> str:
        """As it stands: "" before the first write."""
        return "" if self._found is None else str(self._version)

    @property
    def ledger(self) -> Ledger:
        """As a client that meets no fault reads it; for checkers."""
        return self.read().ledger

    def read(self) -> LedgerReading:
        """The same, with version and mark."""
        return self._reader.read()

    def answer(self, asked: HttpRequest) -> HttpAnswer:
        """As an API server answers."""
        if asked.method == "GET":
            found = self._found if asked.path == OBJECT else self._namespace
            return status(404, "not found") if found is None else HttpAnswer(200, json.dumps(found).encode())
        metadata = asked.body["metadata"]
        if asked.method == "POST" and asked.path == COLLECTION:
            if self._found is not None or metadata["name"] != NAME:
                return status(409, "already exists")
        elif asked.method != "PUT" or asked.path != OBJECT:
            return status(405, "not by this server")
        elif self._found is None:
            return status(404, "not found")
        elif metadata.get("resourceVersion", self.version) != self.version:  # without one an update asks nothing
            return status(409, "the object has been modified; please apply your changes to the latest version")
        self.writes += 1
        self._put(asked.body)
        return HttpAnswer(201 if asked.method == "POST" else 200, json.dumps(self._found).encode())

    def _put(self, body: dict[str, Any]) -> None:
        self._version += 1
        others = {key: text for key, text in body["metadata"].get("annotations", {}).items() if key != STOP_ANNOTATION}
        marks = {} if self._mark is None else {STOP_ANNOTATION: self._mark}
        metadata = {**body["metadata"], "annotations": {**others, **marks}, "resourceVersion": str(self._version)}
        self._found = {**body, "metadata": metadata}

    @property
    def _namespace(self) -> dict[str, Any]:
        marks = {STOP_ANNOTATION: self._mark} if self._mark is not None and self._found is None else {}
        return {"kind": "Namespace", "metadata": {"name": NAMESPACE, "annotations": marks}}


class _Direct:
    """A transport on which nothing goes wrong."""

    def __init__(self, found: LedgerObject) -> None:
        self._object = found

    def request(self, method: str, url: str, **_: Any) -> WireResponse:
        """The answer at once."""
        asked = HttpRequest(method, url.removeprefix(SERVER), {}, None)
        return WireResponse(self._object.answer(asked), self._object.clock.now())
