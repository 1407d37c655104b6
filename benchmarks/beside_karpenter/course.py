"""Follows what becomes of a cluster until nothing changes any more: money, evictions, waits, machines made."""

from __future__ import annotations

import time
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from tests.cluster.cluster import Cluster
from tests.cluster.karpenter.lab import USER, Karpenter
from tests.cluster.plane.audit import Request
from tests.cluster.tool import Answer

HOURS: Final = 730
LOOK_SECONDS: Final = 1.0
QUIET_SECONDS: Final = 75.0
"""Karpenter looks every 10 s and waits for 15 s before it acts."""
FRESH_SECONDS: Final = 300.0
"""A node that a pod came to is to be left in peace for so long."""


@dataclass(frozen=True)
class Outcome:
    """What one contender has reached. Amounts of money are a month; ``quiet_after``: None where it still went on."""

    arm: str
    before: float
    after: float
    nodes: int
    evictions: int
    machines_made: int
    longest_wait: float
    filled_nodes_disrupted: int
    quiet_after: float | None
    code: int | None = None
    said: str = ""
    """How our own run ended, and all that it printed; Karpenter says nothing."""
    least: float | None = None
    """Of our own: what no plan that buys nothing can go below, proven at the start."""


class Begun(NamedTuple):
    """The price a month at the start, where the audit log stood, and the run that a contender is."""

    price: float
    mark: int
    run: Future[Answer | None]


@dataclass
class Watched:
    """What was seen so far, at seconds since the beginning."""

    began: float
    known: frozenset[str]
    state: frozenset[tuple[str, str]] = frozenset()
    changed_at: float = 0.0
    longest_wait: float = 0.0
    filled: dict[str, float] = field(default_factory=dict)
    disrupted: set[str] = field(default_factory=set)

    def look(self, pods: list[dict[str, Any]], nodes: list[dict[str, Any]], now: float) -> None:
        """Take in pods and nodes as they stand; ``known``: pods that stood at the start."""
        state = {(pod["metadata"]["uid"], pod["spec"].get("nodeName", "")) for pod in pods}
        state |= {("node", node["metadata"]["name"]) for node in nodes}
        if state != self.state:
            self.state, self.changed_at = frozenset(state), now - self.began
        for pod in pods:
            if pod["metadata"]["uid"] not in self.known:
                self.longest_wait = max(self.longest_wait, _waited(pod, now))
                if pod["spec"].get("nodeName"):
                    self.filled.setdefault(f"{pod['metadata']['uid']} {pod['spec']['nodeName']}", now)
        staying = {node["metadata"]["name"] for node in nodes if not _is_disrupted(node)}
        for key, at in self.filled.items():
            node = key.partition(" ")[2]
            if node not in staying and now - at < FRESH_SECONDS:
                self.disrupted.add(node)


def follow(arm: str, lab: Karpenter, cluster: Cluster, begun: Begun, most_seconds: float) -> Outcome:
    """Watch until it is quiet and our own run has ended, or for this long."""
    watched = Watched(time.time(), frozenset(pod["metadata"]["uid"] for pod in cluster.api.list("pods", "default")))
    while True:
        now = time.time()
        nodes = cluster.api.list("nodes")
        watched.look(cluster.api.list("pods", "default"), nodes, now)
        passed = now - watched.began
        is_quiet = passed - watched.changed_at > QUIET_SECONDS and begun.run.done()
        if is_quiet or passed > most_seconds:
            break
        time.sleep(LOOK_SECONDS)
    writes = cluster.control_plane.audit.writes_since(begun.mark)
    return Outcome(
        arm=arm,
        before=begun.price,
        after=month(lab),
        nodes=len(nodes),
        evictions=sum(map(_is_eviction, writes)),
        machines_made=sum(
            write.user == USER and (write.resource, write.verb) == ("nodeclaims", "create") for write in writes
        ),
        longest_wait=round(watched.longest_wait, 1),
        filled_nodes_disrupted=len(watched.disrupted),
        quiet_after=round(watched.changed_at, 1) if is_quiet else None,
    )


def month(lab: Karpenter) -> float:
    """What Karpenter's own metric says of all nodes, a month."""
    return round(lab.price_an_hour() * HOURS, 2)


def broken(ours: Outcome, theirs: Outcome) -> list[str]:
    """Promises of docs/beside-karpenter.md that a comparison does not keep, in words; evictions are judged by sums."""
    found = []
    if ours.after > theirs.after:
        why = "" if ours.least is None else f"; no plan that buys nothing ends below {ours.least:.2f}"
        found.append(f"the fleet costs {ours.after:.2f}, and {theirs.after:.2f} after {theirs.arm}{why}")
    if ours.machines_made:
        found.append(f"{ours.machines_made} machines made")
    if ours.longest_wait > 30:
        found.append(f"a pod waited {ours.longest_wait:.0f} s")
    if ours.filled_nodes_disrupted:
        found.append(f"{ours.filled_nodes_disrupted} nodes disrupted within 5 minutes after a pod had come")
    return found


def _is_eviction(write: Request) -> bool:
    return write.subresource == "eviction" and not write.is_dry_run and write.code < 300


def _is_disrupted(node: dict[str, Any]) -> bool:
    return any(taint["key"] == "karpenter.sh/disrupted" for taint in node["spec"].get("taints", []))


def _waited(pod: dict[str, Any], now: float) -> float:
    """Seconds from a pod's creation until it had a node, or until now."""
    made = _seconds(pod["metadata"]["creationTimestamp"])
    for condition in pod["status"].get("conditions", []):
        if condition["type"] == "PodScheduled" and condition["status"] == "True":
            return _seconds(condition["lastTransitionTime"]) - made
    return now - made


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
