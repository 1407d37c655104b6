"""Emptied nodes that are offered to an autoscaler: marked or held while they are empty and nobody needs them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import structs

from rescheduler.daemon.autoscaler.emptied_holds import EmptiedHolds, closing
from rescheduler.daemon.autoscaler.left_over import waits_for_room
from rescheduler.extension_points import CapacityTarget, Clock, ClusterError, HoldRequest
from rescheduler.model.daemon.capacity import is_kept_empty, offered_until
from rescheduler.model.daemon.notices import NodesOffered, Notice
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node, is_leaving
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.attempts import newest
from rescheduler.model.plan.plan import EMPTY_NODES
from rescheduler.policy.fields.daemon.autoscaler import AutoscalerPolicy, ScaleDown
from rescheduler.report.plan.flows import is_evicted

PATIENCE_SECONDS: Final = 120.0
"""A node that is not seen empty so long after the round is not offered."""


class NodeOffers:
    """``target`` None: nothing is ever written."""

    def __init__(
        self,
        target: CapacityTarget | None,
        rules: AutoscalerPolicy,
        hear: Callable[[Notice], None],
        clock: Clock,
        deadline_seconds: float,
    ) -> None:
        """``deadline_seconds``: how long a placeholder may outlive us."""
        self._target = target
        self._rules = rules
        self._hear = hear
        self._clock = clock
        self._deadline_seconds = deadline_seconds
        self._emptied: dict[str, float] = {}
        self._closing: dict[str, tuple[HoldRequest, ...]] = {}
        self._holds = None if target is None else EmptiedHolds(target, clock, deadline_seconds)

    @property
    def held(self) -> Collection[str]:
        """Nodes that placeholders of ours keep empty."""
        return () if self._holds is None else self._holds.nodes

    def note(self, report: RoundReport, cluster: Cluster) -> None:
        """Remember which nodes a round has emptied; they are offered once a snapshot shows them empty."""
        if report.result is not None and report.plan is not None:
            left = {
                move.from_node for move in report.result.moves if EMPTY_NODES in move.objective and is_evicted(move)
            }
            self._emptied.update((node, report.ended_at) for node in sorted(left))
            if self._rules.scale_down is ScaleDown.HOLD:
                done = structs.replace(report.plan, moves=tuple(newest(report.result.moves)))
                found = closing(done, report.plan_id, cluster, sorted(left), self._deadline_seconds)
                self._closing.update(found)

    def tend(self, cluster: Cluster) -> None:
        """Offer what is empty by now, and take back what is not, what has run out and what is needed.

        Raises ClusterError.
        """
        seen = {name for name, at in self._emptied.items() if cluster.taken_at >= at}
        empty = sorted(name for name in seen if name in cluster.node_by_name and _is_empty(cluster, name))
        late = {name for name in seen if cluster.taken_at > self._emptied[name] + PATIENCE_SECONDS}
        self._take_back(cluster)
        if empty:
            self._offer(empty, cluster)
        for name in {*empty, *late}:
            self._emptied.pop(name, None)
            self._closing.pop(name, None)

    def keep(self) -> None:
        """Renew what keeps nodes empty, when it is time. Raises ClusterError."""
        if self._holds is not None:
            self._holds.renew()

    def end(self) -> None:
        """Let go of what keeps nodes empty. Raises ClusterError."""
        if self._holds is not None:
            self._holds.end()

    def _offer(self, nodes: Sequence[str], cluster: Cluster) -> None:
        how = self._rules.scale_down
        open_nodes = [name for name in nodes if not is_leaving(cluster.node_by_name[name])]
        if how is not ScaleDown.LEAVE and self._target is not None:
            problem = self._target.cannot(how.value)
            if problem is not None:
                raise ClusterError(f"autoscaler.scaleDown: {how} is not possible here: {problem}")
            self._mark(open_nodes, how, cluster.taken_at + self._rules.offer)
        if open_nodes:
            self._hear(NodesOffered(self._clock.now(), how.value, tuple(open_nodes)))

    def _mark(self, nodes: Sequence[str], how: ScaleDown, until: float) -> None:
        if how is ScaleDown.HOLD and self._holds is not None:
            self._holds.hold({node: self._closing[node] for node in nodes if node in self._closing}, until)
        elif self._target is not None:
            self._target.offer(nodes, how.value, until)

    def _take_back(self, cluster: Cluster) -> None:
        if self._target is None or self._holds is None:
            return
        self._holds.look(cluster, lambda name: not _is_empty(cluster, name) or _is_missed(name, cluster))
        marked = [node for node in cluster.nodes if offered_until(node) is not None]
        over = [node.name for node in marked if _is_over(node, cluster)]
        if over:
            self._target.take_back(over)


def _is_over(node: Node, cluster: Cluster) -> bool:
    """It has run out, somebody came, or somebody waits who may be kept off by our taint."""
    until = offered_until(node) or 0.0
    if cluster.taken_at >= until or not _is_empty(cluster, node.name):
        return True
    return is_kept_empty(node) and _is_missed(node.name, cluster)


def _is_missed(name: str, cluster: Cluster) -> bool:
    """Whether a pod waits that the node might take."""
    node = cluster.node_by_name[name]
    return any(waits_for_room(pod) and _could_fit(pod, node) for pod in cluster.pending_pods)


def _is_empty(cluster: Cluster, name: str) -> bool:
    return all(pod.belongs_to_its_node for pod in cluster.pods_by_node.get(name, ()))


def _could_fit(pod: Pod, node: Node) -> bool:
    """By its requests alone: rather one offer too few than a pod that waits for our sake."""
    offered = dict(node.allocatable)
    return all(amount <= offered.get(name, 0) for name, amount in pod.spec.requests)
