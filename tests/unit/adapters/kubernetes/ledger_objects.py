"""A pretended API server with one ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.ledger import ConfigMapLedger
from rescheduler.model.daemon.ledger import EntryState
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status
from tests.unit.execution.entries import entry, ledger_of

NAMESPACES = "/api/v1/namespaces"
COLLECTION = f"{NAMESPACES}/holds/configmaps"
PATH = f"{COLLECTION}/book"
FULL = ledger_of(entry(), entry("web-1", number=2, state=EntryState.REPAID, landed_on="n1", labels={"a": "b"}))


class Objects:
    """A namespace and a ConfigMap, with resourceVersions that rise; ``answers`` are used up first."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] | None = {"metadata": {"name": "holds"}}
        self.book: dict[str, Any] | None = None
        self.version = 10
        self.answers: dict[str, Callable[[], Answer]] = {}

    def put(self, data: Any, **metadata: Any) -> None:
        """Somebody writes the ConfigMap."""
        self.version += 1
        self.book = {"metadata": {"name": "book", **metadata, "resourceVersion": str(self.version)}, "data": data}

    def handle(self, request: Request) -> Answer:
        """As the API server does it."""
        if request.method in self.answers:
            return self.answers[request.method]()
        if request.path.startswith(COLLECTION):
            return self._book(request)
        if request.method == "POST":
            self.namespace = json.loads(request.body)
        return status(404, "not found") if self.namespace is None else answer(self.namespace)

    def _book(self, request: Request) -> Answer:
        if request.method == "GET":
            return status(404, "not found") if self.book is None else answer(self.book)
        sent = json.loads(request.body)
        if self.namespace is None:
            return status(404, "namespace not found")
        if request.method == "POST" and self.book is not None:
            return status(409, "already exists")
        if request.method == "PUT" and self.book is None:
            return status(404, "not found")
        given = sent["metadata"].get("resourceVersion")
        if request.method == "PUT" and self.book and given != self.book["metadata"]["resourceVersion"]:
            return status(409, "the object has been modified")
        self.version += 1
        sent["metadata"]["resourceVersion"] = str(self.version)
        self.book = sent
        return answer(sent)


@pytest.fixture
def objects() -> Objects:
    """What stands on the server."""
    return Objects()


@pytest.fixture
def server(objects: Objects) -> Iterator[FakeApiServer]:
    """The server."""
    with serving(objects.handle) as fake:
        yield fake


@pytest.fixture
def book(server: FakeApiServer, tmp_path: Path) -> ConfigMapLedger:
    """The ledger of one process."""
    return ledger_on(server, tmp_path)


def ledger_on(server: FakeApiServer, folder: Path) -> ConfigMapLedger:
    """Another process's view of it."""
    return ConfigMapLedger(connect(server.kubeconfig(folder), read_only=False), "holds", "book", keep_seconds=3600.0)
