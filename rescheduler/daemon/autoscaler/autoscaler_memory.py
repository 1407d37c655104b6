"""What an autoscaler has said and done, as far as it still matters; pure: times come with what is seen."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable
from dataclasses import replace
from math import inf
from typing import Final, NamedTuple

from msgspec import structs

from rescheduler.model.daemon.rounds import NO_NODE_COMES, NODE_COMES, AutoscalerNotice
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import Taint
from rescheduler.model.objects.node import is_leaving
from rescheduler.model.objects.pod import Pod

SCALE_UP: Final = frozenset(
    {"TriggeredScaleUp", "ScaledUpGroup", "ScaleUpInProgress", "Launched", "Registered", "Initialized"}
)
"""A node comes, or has just come."""
SCALE_DOWN: Final = frozenset({"ScaleDown", "ScaleDownEmpty", "DisruptionTerminating"})
"""A node goes."""
DELETING: Final = "Deleting"
"""Of a NodeClaim; the message names the node."""
DISRUPTED: Final = Taint("karpenter.sh/disrupted", "", "NoSchedule")
COMES_WITHIN_SECONDS: Final = 1800.0
"""A node that comes so long after a scale-up is taken for its outcome."""
MOST_SCALE_DOWNS: Final = 256
_GROUPS: Final = re.compile(r"\{([^\s{}]{1,253}) \d+->\d+|nodeclaim/([^\s,]{1,253})")
"""Node groups of cluster-autoscaler, NodeClaims of Karpenter, in what they say of a pod."""


NOMINATED: Final = "Nominated"
GUESS_SECONDS: Final = 20.0
"""How long Karpenter itself holds on to a nomination. That of a node which is there is the guess of a simulation that
knows neither holds nor scores; with a NodeClaim alone a machine is coming."""
_NODE: Final = re.compile(r"\bnode/([^\s,]{1,253})")


class Promise(NamedTuple):
    """An autoscaler has said that a pod gets a node. ``sources``: from which groups or claims; ``node``: its name."""

    at: float
    autoscaler: str
    reason: str
    sources: tuple[str, ...]
    node: str = ""


class AutoscalerMemory:
    """Outlives policies. Times are those of the notices and snapshots."""

    def __init__(self) -> None:
        self._promises: dict[tuple[str, str], Promise] = {}
        self._refused: dict[tuple[str, str], float] = {}
        self._nodes: dict[str, tuple[str, bool]] | None = None
        self._scale_downs: deque[float] = deque(maxlen=MOST_SCALE_DOWNS)
        self._leaving: set[str] = set()
        self.scaled_up_at = -inf
        """When a scale-up was last heard of, or a node last came by one."""
        self.came_at = -inf
        """When a node last came, for whatever reason."""

    def look(self, cluster: Cluster, notices: Iterable[AutoscalerNotice] = ()) -> None:
        """Take in what was said and what has changed since the look before; what does not matter is forgotten."""
        for notice in notices:
            self._hear(notice)
        self._compare(cluster)
        waiting = {(pod.namespace, pod.name) for pod in cluster.pending_pods}
        self._promises = {key: found for key, found in self._promises.items() if key in waiting}
        self._refused = {key: at for key, at in self._refused.items() if key in waiting}
        ready = {node.name for node in cluster.nodes if node.is_ready}
        self._promises = {
            key: found
            for key, found in self._promises.items()
            if found.node not in ready or cluster.taken_at - found.at < GUESS_SECONDS
        }

    def promise(self, pod: Pod) -> Promise | None:
        """What an autoscaler has last said of a pending pod, unless it has taken it back."""
        return self._promises.get((pod.namespace, pod.name))

    def is_refused(self, pod: Pod) -> bool:
        """Whether an autoscaler has said that it adds no node for the pod."""
        return (pod.namespace, pod.name) in self._refused

    def came_by_scale_down(self, pod: Pod, within_seconds: float) -> bool:
        """Whether the pod was made so soon after a node went that it may be for that."""
        made = pod.created_at
        return made is not None and any(0 <= made - at < within_seconds for at in self._scale_downs)

    def marked(self, cluster: Cluster, offered: Collection[str] = ()) -> Cluster:
        """The cluster with Karpenter's own mark on nodes that it is about to take and has not marked yet.

        ``offered``: further ones, that are kept empty for it.
        """
        going = self._leaving.union(offered)
        if not going:
            return cluster
        nodes = tuple(
            structs.replace(node, taints=(*node.taints, DISRUPTED))
            if node.name in going and not is_leaving(node)
            else node
            for node in cluster.nodes
        )
        return replace(cluster, nodes=nodes)

    def _hear(self, notice: AutoscalerNotice) -> None:
        key = (notice.namespace, notice.name)
        if notice.kind == "Pod" and notice.reason in NODE_COMES:
            sources = tuple(group or claim for group, claim in _GROUPS.findall(notice.message))
            named = _NODE.search(notice.message) if notice.reason == NOMINATED else None
            node = "" if named is None else named[1]
            self._promises[key] = Promise(notice.at, notice.autoscaler, notice.reason, sources, node)
            self._refused.pop(key, None)
        elif notice.reason in NO_NODE_COMES:
            self._take_back(notice)
        if notice.kind == "NodeClaim" and notice.reason == DELETING:
            self._leaving.add(notice.message.removeprefix("node "))
        if notice.reason in SCALE_UP:
            self.scaled_up_at = max(self.scaled_up_at, notice.at)
        if notice.reason in SCALE_DOWN and notice.kind != "Pod":
            self._scale_downs.append(notice.at)

    def _take_back(self, notice: AutoscalerNotice) -> None:
        key = (notice.namespace, notice.name)
        if notice.kind == "Pod":
            known = self._promises.get(key)
            if known is None or known.at <= notice.at:
                self._promises.pop(key, None)
                self._refused[key] = notice.at
            return
        self._promises = {
            pod: found
            for pod, found in self._promises.items()
            if found.at > notice.at or not any(_names(notice, source) for source in found.sources)
        }

    def _compare(self, cluster: Cluster) -> None:
        now = cluster.taken_at
        self._leaving.intersection_update(cluster.node_by_name)
        before, self._nodes = self._nodes, {node.name: (node.uid, is_leaving(node)) for node in cluster.nodes}
        if before is None:
            return
        if any(before.get(name, ("", False))[0] != uid or name not in before for name, (uid, _) in self._nodes.items()):
            self.came_at = now
            if now - self.scaled_up_at < COMES_WITHIN_SECONDS:
                self.scaled_up_at = now
        if any(was_leaving and name not in self._nodes for name, (_, was_leaving) in before.items()):
            self._scale_downs.append(now)


def _names(notice: AutoscalerNotice, source: str) -> bool:
    """Whether a failure is that of a node group or claim, as a whole word of what was said."""
    return source == notice.name or source in re.split(r"[\s,:;\"'\[\]{}]+", notice.message)
