"""Seeded clusters for the demo and for tests, each with the property in its name whatever the seed."""

from __future__ import annotations

import numpy as np

from rescheduler.model.cluster import Cluster
from rescheduler.simulation.scenario_parts import Application, ClusterDraft

_AGENT = Application("node-agent", 200, 1, namespace="kube-system", kind="DaemonSet")
# One replica of each on every node: two pods of 1 core that may move, which is what makes `fragmented` solvable.
_MOVABLE = (Application("web", 1000, 2), Application("catalog", 1000, 2))
_PAYMENTS = Application("payments", 1500, 3, budget_max_unavailable="0")
_REPORTS = Application("reports", 1000, 2)
_CACHE = Application("cache", 1000, 4, kind="StatefulSet", has_local_storage=True)
_FILLERS = (
    Application("search", 500, 1),
    Application("checkout", 1500, 3),
    Application("queue", 1000, 2, budget_max_unavailable="1"),
    _PAYMENTS,
    _CACHE,
)
_SMALLEST_FILLER = _FILLERS[0]
_NODE_MILLICORES = 8000
_LEAST_FREE, _MOST_FREE = 1000, 1900
# The first node keeps this much, so that two pods of 1 core less make room for the large one there.
_LEAST_FREE_AT_FIRST = 1500
_LARGE = Application("model-server", 3400, 7)
_MEDIUM = Application("report-builder", 2500, 5)


def fragmented(seed: int, nodes: int = 6) -> Cluster:
    """A pending pod of 3.4 cores that fits nowhere, though more than that is free in small pieces.

    Each of the ``nodes`` (at least 3) has 1 to 1.9 cores free and no pod of more than 1.5, so that two pods at least
    have to move, and two are enough. DaemonSet pods, a budget that allows nothing, a single replica and
    pods with local storage stand among the others.
    """
    draft = _fragments(seed, max(3, nodes))
    draft.put(_LARGE, None)
    return draft.build(f"demo scenario fragmented, seed {seed}")


def several_pending(seed: int, nodes: int = 8) -> Cluster:
    """Two pending pods of different shapes in a fragmented cluster (at least 6 nodes); both can be helped."""
    draft = _fragments(seed, max(6, nodes))
    draft.put(_LARGE, None)
    draft.put(_MEDIUM, None)
    return draft.build(f"demo scenario several_pending, seed {seed}")


def chain(seed: int) -> Cluster:
    """A pending pod that only a chain can help: one pod makes way for another, which makes way for it.

    The pending pod may sit on ``fast-1`` only, and needs the room of the index replica there. That may go to fast
    nodes only; ``fast-2`` has room for it once the archive has left for a plain node, ``fast-3`` is full. The
    databases are single replicas, which stay.
    """
    random = np.random.default_rng(seed)
    draft = ClusterDraft(random)
    link = 100 * int(random.integers(10, 25))  # what each link of the chain needs, in millicores
    plain = [f"plain-{number}" for number in range(1, int(random.integers(2, 5)))]
    draft.add_node("fast-1", 4 * link, "a", {"disk": "fast", "tier": "gold"})
    draft.add_node("fast-2", 4 * link, "b", {"disk": "fast"})
    draft.add_node("fast-3", 4 * link, "c", {"disk": "fast"})
    for name in plain:
        draft.add_node(name, 4 * link, "b")
    index = Application("index", link, 2, node_selector=(("disk", "fast"),))
    archive = Application("archive", link, 2)
    for application, name in ((index, "fast-1"), (index, "fast-3"), (archive, "fast-2"), (archive, plain[0])):
        draft.put(application, name)
    for number, share in ((1, 25), (2, 25), (3, 30)):  # tenths of a link
        database = Application(f"database-{number}", share * link // 10, 1, kind="StatefulSet")
        draft.put(database, f"fast-{number}")
    draft.put(Application("model-server", link, 2, node_selector=(("tier", "gold"),)), None)
    return draft.build(f"demo scenario chain, seed {seed}")


def infeasible(seed: int) -> Cluster:
    """A pending pod of 3.4 cores where less than that is free in all: no rearrangement helps, a node must be added."""
    draft = _fragments(seed, 5)
    for name in list(draft.free_millicores):
        while draft.free_millicores[name] >= _SMALLEST_FILLER.millicores:
            draft.put(_SMALLEST_FILLER, name)
    draft.put(_LARGE, None)
    return draft.build(f"demo scenario infeasible, seed {seed}")


def _fragments(seed: int, count: int) -> ClusterDraft:
    random = np.random.default_rng(seed)
    draft = ClusterDraft(random)
    for number in range(1, count + 1):
        name = f"node-{number}"
        draft.add_node(name, _NODE_MILLICORES, "abc"[number % 3])
        for application in (_AGENT, *_MOVABLE):
            draft.put(application, name)
    draft.put(_REPORTS, f"node-{int(random.integers(1, count + 1))}")
    for name in list(draft.free_millicores):
        _fill(draft, name, _LEAST_FREE_AT_FIRST if name == "node-1" else _LEAST_FREE)
    return draft


def _fill(draft: ClusterDraft, name: str, least_free: int) -> None:
    """Put pods on a node until ``least_free`` to 1900 millicores are free; the smallest filler always gets there."""
    while draft.free_millicores[name] > _MOST_FREE:
        filler = _FILLERS[int(draft.random.integers(len(_FILLERS)))]
        if draft.free_millicores[name] - filler.millicores < least_free:
            filler = _SMALLEST_FILLER
        draft.put(filler, name)
