"""What one account asked of the API server while a plan was carried out, by the audit log, and when."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

PROOF = " (proof)"
"""Streams of a part of the cluster, which show whether what watches have told is up to date."""


@dataclass(frozen=True)
class Asked:
    """One request: when it came in (seconds), what it was (as told in tables), the answer's code, where ("": in no
    namespace, or in all), and how long the server took (seconds)."""

    at: float
    kind: str
    code: int
    namespace: str = ""
    took: float = 0.0

    @property
    def is_eviction(self) -> bool:
        """Whether it let a pod go."""
        return self.kind == "create pods/eviction" and self.code in (200, 201)


def asked_by(log: Path, start: int, end: int, user: str) -> list[Asked]:
    """All that a user asked between two marks of an audit log, in order."""
    with log.open("rb") as file:
        file.seek(start)
        events = [json.loads(line) for line in file.read(end - start).splitlines()]
    found = [_asked(event) for event in events if event["user"]["username"] == user]
    return sorted(found, key=lambda one: one.at)


def told(asked: Sequence[Asked]) -> dict[str, Any]:
    """Times and numbers between the first eviction and the last request, as the result has them.

    ``requestsAMove`` counts neither watches nor proofs of freshness, which are told apart.
    """
    evictions = [one.at for one in asked if one.is_eviction]
    if not evictions:
        return {"evictions": 0}
    since = [one for one in asked if one.at >= evictions[0]]
    during = [one for one in since if not one.kind.startswith("watch ")]
    per_move = {kind: round(number / len(evictions), 2) for kind, number in Counter(one.kind for one in during).items()}
    proofs = sum(one.kind.endswith(PROOF) for one in since)
    return {
        "evictions": len(evictions),
        "secondsEvicting": round(evictions[-1] - evictions[0], 2),
        "secondsToLastRequest": round(during[-1].at - evictions[0], 2),
        "evictionsASecond": round(len(evictions) / max(evictions[-1] - evictions[0], 0.001), 1),
        "listsOfTheWholeCluster": sum(one.kind == "list pods (all)" for one in during),
        "lists": sum(one.kind.startswith("list ") for one in during),
        "watches": len(since) - len(during) - proofs,
        "proofsAMove": round(proofs / len(evictions), 1),
        "requestsAMove": round(len(during) / len(evictions), 1),
        "requestsAMoveByKind": dict(sorted(per_move.items(), key=lambda item: -item[1])),
        "serverMilliseconds": {
            kind: round(1000 * median(one.took for one in during if one.kind == kind), 1) for kind in per_move
        },
    }


def _asked(event: dict[str, Any]) -> Asked:
    target = event.get("objectRef", {})
    resource = "/".join(filter(None, (target.get("resource", "paths"), target.get("subresource", ""))))
    options = (event.get("requestObject") or {}).get("deleteOptions") or {}
    is_dry = "dryRun" in event["requestURI"] or bool(options.get("dryRun"))
    is_whole = event["verb"] == "list" and not target.get("namespace") and "Selector" not in event["requestURI"]
    is_proof = "sendInitialEvents" in event["requestURI"] and (
        bool(target.get("namespace")) or "Selector" in event["requestURI"]
    )
    kind = (
        f"{event['verb']} {resource}{' (all)' if is_whole else ''}{' (dry run)' if is_dry else ''}"
        f"{PROOF if is_proof else ''}"
    )
    at, answered = (
        datetime.fromisoformat(event[name]).timestamp() for name in ("requestReceivedTimestamp", "stageTimestamp")
    )
    code = event.get("responseStatus", {}).get("code", 0)
    return Asked(at, kind, code, target.get("namespace", ""), answered - at)
