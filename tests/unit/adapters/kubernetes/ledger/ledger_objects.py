"""A pretended API server with one ledger."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rescheduler.adapters.kubernetes.client.connection import connect
from rescheduler.adapters.kubernetes.ledger.ledger_objects import ConfigMaps
from rescheduler.adapters.kubernetes.ledger.sharded_ledger import ShardedLedger
from rescheduler.model.daemon.ledger import EntryState
from tests.unit.adapters.fake_api_server import Answer, FakeApiServer, Request, answer, serving, status
from tests.unit.execution.entries import entry, ledger_of

NAMESPACES = "/api/v1/namespaces"
COLLECTION = f"{NAMESPACES}/holds/configmaps"
PATH = f"{COLLECTION}/book"
FULL = ledger_of(entry(), entry("web-1", number=2, state=EntryState.REPAID, landed_on="n1", labels={"a": "b"}))


class Objects:
    """A namespace and its ConfigMaps, with resourceVersions that rise; ``answers`` are used up first.

    ``sizes``: bytes of each body that was written, by name.
    """

    def __init__(self) -> None:
        self.namespace: dict[str, Any] | None = {"metadata": {"name": "holds"}}
        self.all: dict[str, dict[str, Any]] = {}
        self.version = 10
        self.answers: dict[str, Callable[[], Answer]] = {}
        self.sizes: list[tuple[str, int]] = []

    @property
    def book(self) -> dict[str, Any] | None:
        """The main object."""
        return self.all.get("book")

    @book.setter
    def book(self, found: dict[str, Any] | None) -> None:
        if found is None:
            self.all.pop("book", None)
        else:
            self.all["book"] = found

    def put(self, data: Any, **metadata: Any) -> None:
        """Somebody writes the main object."""
        self.version += 1
        self.book = {"metadata": {"name": "book", **metadata, "resourceVersion": str(self.version)}, "data": data}

    def handle(self, request: Request) -> Answer:
        """As the API server does it."""
        if request.method in self.answers:
            return self.answers[request.method]()
        if request.path.startswith(COLLECTION):
            return self._config_map(request)
        if request.method == "POST":
            self.namespace = json.loads(request.body)
        return status(404, "not found") if self.namespace is None else answer(self.namespace)

    def _config_map(self, request: Request) -> Answer:
        sent = json.loads(request.body) if request.body else {}
        name = sent["metadata"]["name"] if request.method == "POST" else request.path.rpartition("/")[2]
        found = self.all.get(name)
        if request.method == "GET":
            return status(404, "not found") if found is None else answer(found)
        if self.namespace is None:
            return status(404, "namespace not found")
        if request.method == "POST" and found is not None:
            return status(409, "already exists")
        if request.method == "PUT" and found is None:
            return status(404, "not found")
        given = sent["metadata"].get("resourceVersion")
        if request.method == "PUT" and found and given != found["metadata"]["resourceVersion"]:
            return status(409, "the object has been modified")
        self.version += 1
        sent["metadata"]["resourceVersion"] = str(self.version)
        sent["metadata"]["uid"] = found["metadata"].get("uid", "") if found else f"uid-{self.version}"
        self.all[name] = sent
        self.sizes.append((name, len(request.body)))
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
def book(server: FakeApiServer, tmp_path: Path) -> ShardedLedger:
    """The ledger of one process."""
    return ledger_on(server, tmp_path)


def ledger_on(server: FakeApiServer, folder: Path) -> ShardedLedger:
    """Another process's view of it."""
    objects = ConfigMaps(connect(server.kubeconfig(folder), read_only=False), "holds", keep_seconds=3600.0)
    return ShardedLedger(objects, "book", counted_seconds=3600.0)
