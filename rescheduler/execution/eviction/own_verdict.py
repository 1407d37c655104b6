"""The gate's leave for one eviction: asked about this very pod, on what was read of it a moment ago, and soon void."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Final

from msgspec import structs

from rescheduler.execution.fresh_cluster import OLDEST_SNAPSHOT_SECONDS, FreshCluster
from rescheduler.execution.guidance.hold_maker import fits, free_room, take
from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.execution.ledger.ledger_session import LedgerSession
from rescheduler.execution.stopping import Waiter
from rescheduler.extension_points import Gate
from rescheduler.model.columns.columns import columns_of
from rescheduler.model.columns.placement import Placement
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Move, PodReference, Refusal
from rescheduler.scheduling.filters.inter_pod_affinity import InterPodAffinity
from rescheduler.scheduling.filters.node_ports import NodePorts

OLDEST_VERDICT_SECONDS: Final = 0.5
"""The gate is asked again where its verdict is older than this, so that none is older than a second when it is used."""
OLDEST_LOOK_SECONDS: Final = 1.0
"""What the gate goes by was asked for no longer ago than this when its verdict begins to hold."""
LOOKS: Final = 3
"""So often it is looked around anew where looks take too long, or what they show changes while the gate thinks."""
SLOW: Final = "SlowAnswers"
"""Stands for a rule of the gate where it could not be asked in time."""
OF_ALL: Final = frozenset({"Stop", "Fence", "Mode", "Health", "Breaker", SLOW})
"""Rules that forbid everything, whichever the pod."""
BUDGET_RULE: Final = "Budget"
"""The gate's rule that counts by the ledger alone."""


class OwnVerdict:
    """What the gate says of one move after the other. Nothing else permits an eviction.

    The verdict on a wave is not one: it was given before the wave's other pods left. ``sent``: see ``Gate.permit``.
    """

    def __init__(
        self, gate: Gate, fresh: FreshCluster, waiter: Waiter, session: LedgerSession, sent: Sequence[PodReference]
    ) -> None:
        self._gate = gate
        self._fresh = fresh
        self._waiter = waiter
        self._session = session
        self._sent = sent
        self.rule: str | None = None
        """By which the gate refused last; None: it did not."""
        self.is_crowded = False
        """Whether the last objection was that others have taken a pod's room, or drive it away."""
        self._pod: PodReference | None = None
        self._given_at = float("-inf")

    def objection(self, move: Move, departures: Sequence[EvictedPod]) -> str | None:
        """What speaks against a move now; None: the gate has permitted it, half a second ago at most.

        ``departures``: the wave's pods that left before. Raises PlanStoppedError, ClusterError.
        """
        self._waiter.check()
        if self._fresh.age_seconds > OLDEST_SNAPSHOT_SECONDS:
            self._fresh.read()
            self._fresh.require_fast()
        elif self._pod == move.pod and self._is_young:
            return None
        self._session.know()
        objection = self.ask(move)
        self.is_crowded = False
        if objection is None and move.has_destination:
            around = self._fresh.now
            if not has_room(move, departures, around):
                objection = f"{move.pod.key} finds no room on {move.to_node} any more; plan again"
            elif not is_welcome(move, around):
                objection = f"{move.pod.key} must keep apart from who stands on {move.to_node} by now; plan again"
            self.is_crowded = objection is not None
        if self.is_crowded:
            self._pod = None
        return objection

    def ask(self, move: Move) -> str | None:
        """What the gate says of a move, by a look around and the ledger as it was read last; None: it permits it.

        A gate that thinks for long is believed only where a second look shows the very same.
        """
        self._pod, judged, self.rule = None, None, None
        for _ in range(LOOKS):
            around = self._fresh.look_around(move)
            if self._fresh.look_age_seconds > OLDEST_LOOK_SECONDS:
                continue
            if move.pod.key not in self._fresh.now.pod_by_key:
                return f"{move.pod.key} is gone"
            if around != judged or not self._is_young:
                verdict = self._gate.permit([move], self._fresh.now, self._sent, self._session.ledger)[0]
                if isinstance(verdict, Refusal):
                    self.rule = verdict.rule
                    return f"{verdict.rule}: {verdict.message}"
                judged, self._given_at = around, self._waiter.now
            if self._fresh.look_age_seconds <= OLDEST_LOOK_SECONDS and self._is_young:
                self._pod = move.pod
                return None
        self.rule = SLOW
        return (
            f"the API server took over {OLDEST_LOOK_SECONDS:g} s for each look at what {move.pod.key} depends on, or "
            "it changed each time; apply again to go on"
        )

    def is_full(self, move: Move) -> bool:
        """Whether a budget of the policy leaves a move no room by what is known already, for which nothing is asked.

        That may only put a move off.
        """
        verdict = self._gate.permit([move], self._fresh.now, self._sent, self._session.ledger)[0]
        return isinstance(verdict, Refusal) and verdict.rule == BUDGET_RULE

    @property
    def _is_young(self) -> bool:
        return self._waiter.now - self._given_at <= OLDEST_VERDICT_SECONDS


def has_room(move: Move, departures: Iterable[EvictedPod], cluster: Cluster) -> bool:
    """Whether a pod that is still to leave finds room at its destination, beside those on their way there.

    By requests alone; ``cluster``: read just now, and holding the pod. A replacement that it shows there is on its way
    no more. A pod that leaves before others arrive finds its room by itself.
    """
    if move.evict_first:
        return True
    room = free_room(cluster, move.to_node)
    expected = [item for item in departures if item.move.to_node == move.to_node and item.landed_on is None]
    known = frozenset[str]().union(*(item.known for item in expected))
    arrived = Counter(
        other.controller.uid
        for other in cluster.pods_by_node.get(move.to_node, ())
        if other.controller is not None and other.uid not in known and cluster.owner_problem(other) is None
    )
    for item in expected:
        owner = item.pod.controller
        if owner is not None and arrived[owner.uid]:
            arrived[owner.uid] -= 1
        else:
            take(room, item.pod.spec.requests)
    return fits(room, cluster.pod_by_key[move.pod.key].spec.requests)


def is_welcome(move: Move, cluster: Cluster) -> bool:
    """Whether host ports and anti-affinity, its own and that of others, let a pod onto its destination.

    Who is on his way out of there does not count: the plan may have sent him. What would have to be known of other
    nodes, as of those of the same zone, is not looked at. ``cluster``: read just now, and holding the pod.
    """
    node = cluster.node_by_name.get(move.to_node)
    if move.evict_first or node is None:
        return True
    pod = cluster.pod_by_key[move.pod.key]
    spec = structs.replace(pod.spec, affinity=())
    others = [other for other in cluster.pods_by_node.get(move.to_node, ()) if other.is_active and other is not pod]
    if not (spec.anti_affinity or spec.host_ports or any(other.spec.anti_affinity for other in others)):
        return True
    coming = structs.replace(pod, spec=spec, node_name=None)
    pods = tuple(sorted((*others, coming), key=attrgetter("namespace", "name")))
    placement = Placement(columns_of(Cluster(nodes=(node,), pods=pods, namespaces=cluster.namespaces)))
    return not any(
        rejection.nodes.any()
        for filtering in (NodePorts(), InterPodAffinity())
        for rejection in filtering.reject(pods.index(coming), placement)
    )
