"""What the audit log says of a plan that was carried out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.execution.requests import asked_by, told


def event(second: float, verb: str, uri: str, **target: str) -> dict[str, Any]:
    """One line of an audit log."""
    return {
        "verb": verb, "requestURI": uri, "objectRef": target, "user": {"username": "us"},
        "requestReceivedTimestamp": f"2026-01-01T00:00:{second:09.6f}Z",
        "stageTimestamp": f"2026-01-01T00:00:{second + 0.02:09.6f}Z", "responseStatus": {"code": 201},
    }  # fmt: skip


def test_requests_are_counted_from_the_first_eviction_on(tmp_path: Path) -> None:
    """Dry runs apart, lists of the whole cluster apart from narrow ones, others' requests left out."""
    pod = {"resource": "pods", "subresource": "eviction", "namespace": "shop"}
    dry = {**event(1, "create", "/pods/a/eviction", **pod), "requestObject": {"deleteOptions": {"dryRun": ["All"]}}}
    events = [
        event(0, "list", "/api/v1/pods", resource="pods"), dry, event(2, "create", "/pods/a/eviction", **pod),
        event(3, "list", "/api/v1/pods?fieldSelector=x", resource="pods"),
        event(4, "list", "/api/v1/pods", resource="pods"),
        event(5, "create", "/pods/b/eviction", **pod),
        {**event(6, "list", "/api/v1/pods", resource="pods"), "user": {"username": "others"}},
    ]  # fmt: skip
    log = tmp_path / "audit.log"
    log.write_text("".join(json.dumps(one) + "\n" for one in events))
    found = told(asked_by(log, 0, log.stat().st_size, "us"))
    assert (found["evictions"], found["secondsEvicting"], found["listsOfTheWholeCluster"]) == (2, 3.0, 1)
    assert found["requestsAMove"] == 2.0
    assert found["requestsAMoveByKind"]["create pods/eviction"] == 1.0
    assert found["serverMilliseconds"]["create pods/eviction"] == 20.0


def test_without_evictions_there_is_nothing_to_tell() -> None:
    """No division by nothing."""
    assert told([]) == {"evictions": 0}
