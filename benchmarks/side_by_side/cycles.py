"""Lets a contender work on a cluster until it evicts nothing more, and counts what it did."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.side_by_side.contenders import Contender
from benchmarks.side_by_side.footprint import Footprint
from benchmarks.side_by_side.scenes import Scene
from benchmarks.side_by_side.settling import settle
from benchmarks.side_by_side.state import NAMESPACE, State, read_state
from tests.cluster.cluster import Cluster

ADMINISTRATORS = ("system:masters",)
ACCEPTED = (200, 201)
REFUSED_BY_BUDGET = 429
NODE_LOST = "NodeNotReady"


@dataclass(frozen=True)
class Cycle:
    """One run of a contender, and what the API server saw of it."""

    footprint: Footprint
    sent: int
    """Evictions asked for in earnest."""
    accepted: int
    refused: int
    """Refused because of a PodDisruptionBudget."""
    returned: int
    """Evicted pods in whose place one of the same owner came to the node that they had left."""
    planning_seconds: float | None
    """What the plan itself took, where the contender says so."""
    message: str
    """What it said about its plan, or the end of its errors where it failed."""


@dataclass(frozen=True)
class Outcome:
    """A contender's work on one cluster."""

    contender: Contender
    scene: Scene
    seed: int
    before: State
    after: State
    cycles: tuple[Cycle, ...]
    lost_nodes: int
    """Times that a node was taken for dead meanwhile, which spoils the outcome: its pods count as unready."""


def work(cluster: Cluster, contender: Contender, scene: Scene, seed: int, most_cycles: int) -> Outcome:
    """Cycle after cycle until one has nothing to evict; the scene stands already."""
    kubeconfig = cluster.control_plane.user_kubeconfig(f"side-by-side-{contender.program}", ADMINISTRATORS)
    before = read_state(cluster.api)
    cycles: list[Cycle] = []
    with tempfile.TemporaryDirectory() as folder:
        while len(cycles) < most_cycles and not is_over(cycles):
            cycles.append(_cycle(cluster, contender, kubeconfig, Path(folder)))
    return Outcome(contender, scene, seed, before, read_state(cluster.api), tuple(cycles), _lost_nodes(cluster))


def is_over(cycles: Sequence[Cycle]) -> bool:
    """Whether the last cycle had nothing to evict; one that failed may have had, so it is given another try."""
    if not cycles or cycles[-1].accepted:
        return False
    return cycles[-1].footprint.code == 0 or (len(cycles) > 1 and cycles[-2].footprint.code != 0)


def came_back(before: State, after: State, evicted: Iterable[str]) -> int:
    """How many of the pods of these names were replaced, by a pod of the same owner, on the very node they had left."""
    known = {pod.name: pod for pod in before.pods}
    left = Counter((known[name].owner, known[name].node) for name in evicted if name in known)
    uids = {pod.uid for pod in before.pods}
    came = Counter((pod.owner, pod.node) for pod in after.pods if pod.uid not in uids and pod.node)
    return (left & came).total()


def _lost_nodes(cluster: Cluster) -> int:
    """How often the node controller has missed a node's heartbeat since the stage was cleared."""
    events = cluster.api.list("events", NAMESPACE, fields=f"reason={NODE_LOST},involvedObject.kind=Node")
    return sum(event.get("count") or 1 for event in events)


def _cycle(cluster: Cluster, contender: Contender, kubeconfig: Path, folder: Path) -> Cycle:
    audit = cluster.control_plane.audit
    before, mark = read_state(cluster.api), audit.mark()
    footprint = contender.run(kubeconfig, folder)
    settle(cluster.api)
    evictions = [
        write
        for write in audit.writes_since(mark, user=f"side-by-side-{contender.program}")
        if write.subresource == "eviction" and not write.is_dry_run
    ]
    accepted = [write.name for write in evictions if write.code in ACCEPTED]
    seconds, message = _told(contender, footprint)
    return Cycle(
        footprint, len(evictions), len(accepted), sum(write.code == REFUSED_BY_BUDGET for write in evictions),
        came_back(before, read_state(cluster.api), accepted), seconds, message,
    )  # fmt: skip


def _told(contender: Contender, footprint: Footprint) -> tuple[float | None, str]:
    """Planning time and message of ours, from its own report; of any, the end of its errors where it failed."""
    failure = "" if footprint.code == 0 else f"exit {footprint.code}: {footprint.errors.strip()[-500:]}"
    if not contender.is_ours:
        return None, failure
    try:
        plan: dict[str, Any] = json.loads(footprint.output)
    except ValueError:
        return None, failure
    objectives = plan.get("objectives", [])
    said = "; ".join(f"{one['status']} {one.get('message', '')}".strip() for one in objectives)
    return sum(one["seconds"] for one in objectives), failure or said
