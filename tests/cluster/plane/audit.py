"""What the API server was asked to change, by whom, and what accounts were refused: audit policy and audit log."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import yaml

from tests.cluster.api import Api
from tests.cluster.waiting import wait_until

WRITE_VERBS = ("create", "update", "patch", "delete", "deletecollection")
READ_VERBS = ("get", "list", "watch")
MARK_PATH = "/version"
OUR_ACCOUNT = "system:serviceaccount:rescheduler-system:rescheduler"
"""The chart's account: of it alone reads are logged as well, since a policy cannot ask for refused ones only."""


@dataclass(frozen=True)
class Request:
    """One request, with the answer it got; ``at``: when it came in, in seconds."""

    verb: str
    resource: str
    subresource: str
    namespace: str
    name: str
    is_dry_run: bool
    code: int
    user: str
    user_agent: str
    at: float


def write_audit_policy(path: Path) -> Path:
    """Write a policy that logs each finished write once, and what the chart's account reads.

    Bodies are kept where dry-run hides in them.
    """
    writes = list(WRITE_VERBS)
    pods = {"group": "", "resources": ["pods", "pods/eviction"]}
    rules: list[dict[str, Any]] = [
        {"level": "Request", "verbs": ["create"], "resources": [{"group": "", "resources": ["pods/eviction"]}]},
        {"level": "Request", "verbs": ["delete", "deletecollection"], "resources": [pods]},
        {"level": "Metadata", "verbs": writes},
        {"level": "Metadata", "verbs": ["get"], "nonResourceURLs": [MARK_PATH]},
        {"level": "Metadata", "verbs": list(READ_VERBS), "users": [OUR_ACCOUNT]},
        {"level": "None"},
    ]
    stages = ["RequestReceived", "ResponseStarted", "Panic"]
    document = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": stages, "rules": rules}
    path.write_text(yaml.safe_dump(document, sort_keys=False))
    return path


class AuditLog:
    """Reads the audit log between marks."""

    def __init__(self, path: Path, api: Api) -> None:
        self._path = path
        self._api = api

    def mark(self) -> int:
        """Return a place in the log behind all requests answered so far."""
        name = uuid.uuid4().hex
        self._api.request("GET", MARK_PATH, query={"audit-mark": name})
        # An entry is written when its answer has gone out, so the mark's own entry comes after those of before.
        wanted = f"audit-mark={name}".encode()
        after = 0

        def is_written() -> bool:
            nonlocal after
            log = self._path.read_bytes()
            at = log.find(wanted)
            after = log.find(b"\n", at) + 1 if at >= 0 else 0  # others go on writing: a mark is the end of a line
            return after > 0

        wait_until(is_written, f"{wanted!r} in {self._path}", timeout_seconds=10)
        return after

    def writes_since(self, mark: int, *, user: str | None = None, user_agent: str | None = None) -> list[Request]:
        """Return the writes after a mark, in order; `user` is exact, `user_agent` the beginning of one."""
        writes = [request for request in self._requests_since(mark) if request.verb in WRITE_VERBS]
        return list(_matching(writes, user, user_agent))

    def reads_since(self, mark: int) -> list[Request]:
        """Return what the chart's account has read after a mark, or tried to; a watch is told of when it ends."""
        reads = [request for request in self._requests_since(mark) if request.verb in READ_VERBS]
        return list(_matching(reads, OUR_ACCOUNT, None))

    def _requests_since(self, mark: int) -> list[Request]:
        end = self.mark()
        with self._path.open("rb") as log:
            log.seek(mark)
            return [_request(json.loads(line)) for line in log.read(end - mark).splitlines()]


def _matching(requests: list[Request], user: str | None, user_agent: str | None) -> Iterator[Request]:
    """Leave out those of others."""
    for request in requests:
        if user is not None and request.user != user:
            continue
        if user_agent is not None and not request.user_agent.startswith(user_agent):
            continue
        yield request


def _request(event: dict[str, Any]) -> Request:
    """Read one audit event."""
    target = event.get("objectRef", {})
    return Request(
        verb=event["verb"],
        resource=target.get("resource", ""),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        is_dry_run=_is_dry_run(event),
        code=event.get("responseStatus", {}).get("code", 0),
        user=event["user"]["username"],
        user_agent=event.get("userAgent", ""),
        at=datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp(),
    )


def _is_dry_run(event: dict[str, Any]) -> bool:
    """Whether a request asked for dry-run, in its address or in its body."""
    if "dryRun" in parse_qs(urlsplit(event["requestURI"]).query):
        return True
    body = event.get("requestObject") or {}
    return bool(body.get("dryRun") or (body.get("deleteOptions") or {}).get("dryRun"))
