"""One object of the API server in memory, written by compare-and-swap on its resourceVersion."""

from __future__ import annotations

import json
from typing import Any

from tests.soak.line.http_wire import HttpRequest, status
from tests.soak.line.wire import HttpAnswer


class VersionedObject:
    """``collection``: the path under which it is created. ``writes`` counts those that took effect."""

    def __init__(self, collection: str, name: str) -> None:
        self.writes = 0
        self.found: dict[str, Any] | None = None
        self.collection, self._name = collection, name
        self._version = 0
        self._made = 0

    @property
    def version(self) -> str:
        """As it stands: "" where there is none."""
        return "" if self.found is None else str(self._version)

    def remove(self) -> None:
        """Somebody deletes it."""
        self.found = None

    def answer(self, asked: HttpRequest) -> HttpAnswer:
        """As an API server answers."""
        path = f"{self.collection}/{self._name}"
        if asked.method == "GET" and asked.path == path:
            return status(404, "not found") if self.found is None else HttpAnswer(200, json.dumps(self.found).encode())
        if (asked.method, asked.path) not in (("POST", self.collection), ("PUT", path)):
            return status(405, "not by this server")
        refused = self._refused(asked)
        if refused is not None:
            return refused
        self.writes += 1
        if self.found is None:
            self._made += 1
        self.put(asked.body)
        return HttpAnswer(201 if asked.method == "POST" else 200, json.dumps(self.found).encode())

    def put(self, body: dict[str, Any]) -> None:
        """It becomes this, at its next version."""
        self._version += 1
        own = {"resourceVersion": str(self._version), "uid": self._uid}
        self.found = {**body, "metadata": {**body["metadata"], **own}}

    @property
    def _uid(self) -> str:
        return f"{self._name}-{self._made}"

    def _refused(self, asked: HttpRequest) -> HttpAnswer | None:
        metadata = asked.body["metadata"]
        if asked.method == "POST":
            is_taken = self.found is not None or metadata["name"] != self._name
            return status(409, "already exists") if is_taken else None
        if self.found is None:
            return status(404, "not found")
        # Without a version an update asks nothing.
        if metadata.get("resourceVersion", self.version) != self.version or metadata.get("uid", self._uid) != self._uid:
            return status(409, "the object has been modified; please apply your changes to the latest version")
        return None
