"""Tells people of the cluster by Events, on pods, their owners, nodes and our own Lease; seldom, and never twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import inf
from typing import Final

from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.paths import event_path
from rescheduler.adapters.kubernetes.eviction import events
from rescheduler.adapters.kubernetes.kinds import KIND_BY_NAME
from rescheduler.adapters.telemetry import event_texts
from rescheduler.adapters.telemetry.event_texts import PodEvent
from rescheduler.adapters.telemetry.redaction import Redaction
from rescheduler.extension_points import Clock, ClusterError, Listener
from rescheduler.model.daemon.notices import (
    ApprovalWanted,
    CapacityRequested,
    DefaultsBind,
    LeadershipChanged,
    NodesOffered,
    Notice,
    ObjectsSetAside,
    PolicyHeld,
    RoundEnded,
)
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy import Guidance, Mode, Policy

BURST: Final = 30.0
"""Events at once; the API server itself takes about as many of one object."""
PER_SECOND: Final = 0.5
MOST_REMEMBERED: Final = 20_000
REST_SECONDS: Final = 60.0
"""Nothing is written for so long after an Event that could not be sent."""
MOST_SET_ASIDE: Final = 10
"""Of one notice: whoever writes very many such objects takes nobody else's Events away."""
OLDEST_SECONDS: Final = 600.0
"""What happened longer ago is not told any more."""
_OF_CLUSTER: Final = "default"
"""Namespace of Events about objects that have none."""


class ClusterEvents(Listener):
    """Writes Events. It waits for the API server: put it into a ``QueuedListener``.

    Nothing is written in mode DryRun, under ``guidance: Predict``, or by a process that does not lead.
    """

    def __init__(
        self,
        connection: Connection,
        clock: Clock,
        policy: Callable[[], Policy],
        snapshot: Callable[[], Cluster | None],
        *,
        hide: Redaction | None = None,
    ) -> None:
        """``policy``: the one in force; ``snapshot``: the cluster as last seen. What goes wrong is dropped."""
        self._connection = connection
        self._clock = clock
        self._policy = policy
        self._snapshot = snapshot
        self._hide = Redaction() if hide is None else hide
        self._is_leader = True
        self._told: dict[tuple[str, str, str], None] = {}
        self._silent_until = -inf
        self._left = BURST
        self._since = clock.monotonic()

    def hear(self, notice: Notice) -> None:
        """Write the Events of a notice."""
        if isinstance(notice, LeadershipChanged):
            self._is_leader = notice.is_leader
        is_old = self._clock.now() - notice.at > OLDEST_SECONDS  # it has waited for an API server that did not answer
        if is_old or not self._may_write():
            return
        match notice:
            case ApprovalWanted():
                self._tell_pods(event_texts.planned(notice))
            case CapacityRequested():
                self._tell_pods(event_texts.capacity(notice))
            case RoundEnded():
                self._tell_pods(event_texts.not_helped(notice, self._snapshot()))
            case NodesOffered():
                self._tell_nodes(notice)
            case PolicyHeld():
                self._tell_of_policy(notice.held_id, *event_texts.held(notice), notice.policy_id)
            case DefaultsBind():
                self._tell_of_policy(notice.policy_id, *event_texts.defaults(notice))
            case ObjectsSetAside():
                self._tell_whose(notice)

    def _may_write(self) -> bool:
        policy = self._policy()
        return self._is_leader and policy.mode is not Mode.DRY_RUN and policy.guidance is not Guidance.PREDICT

    def _tell_pods(self, found: Iterable[PodEvent]) -> None:
        """On each pod, and on its owner once for all of its pods."""
        cluster = self._snapshot()
        for one in found:
            if not self._may_tell(one.pod.uid or one.pod.key, one.reason, one.once):
                continue
            pod = None if cluster is None else cluster.pod_by_key.get(one.pod.key)
            owner = None if pod is None else pod.controller
            if owner is not None and not self._may_tell(owner.uid, one.reason, one.once):
                owner = None
            note = self._clean(one.note)
            if not events.record(self._connection, one.pod, owner, self._clock.now(), events.Act(one.reason, note)):
                self._told.pop((one.pod.uid or one.pod.key, one.reason, one.once), None)
                self._rest()

    def _tell_nodes(self, notice: NodesOffered) -> None:
        cluster = self._snapshot()
        note = self._clean(f"emptied, and left to the autoscaler ({notice.how})")
        for name in notice.nodes:
            node = None if cluster is None else cluster.node_by_name.get(name)
            if node is not None and self._may_tell(node.uid or name, event_texts.OFFERED, str(notice.at)):
                regarding = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node.uid or name}
                self._send(regarding, _OF_CLUSTER, event_texts.OFFERED, note)

    def _tell_whose(self, notice: ObjectsSetAside) -> None:
        """On each object that cannot be counted, where whoever wrote it finds out."""
        for item in notice.objects[:MOST_SET_ASIDE]:
            if self._may_tell(item.uid or item.key, event_texts.SET_ASIDE, item.problem):
                regarding = {"apiVersion": KIND_BY_NAME[item.kind].api_version, "kind": item.kind, "name": item.name}
                if item.namespace:
                    regarding["namespace"] = item.namespace
                if item.uid:
                    regarding["uid"] = item.uid
                note = self._clean(f"set aside: {item.problem}; {item.effect}")
                self._send(regarding, item.namespace or _OF_CLUSTER, event_texts.SET_ASIDE, note)

    def _tell_of_policy(self, subject: str, reason: str, note: str, once: str = "") -> None:
        election = self._policy().leader_election
        if self._may_tell(subject, reason, once):
            where = {"namespace": election.namespace, "name": election.name}
            regarding = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", **where}
            self._send(regarding, election.namespace, reason, self._clean(note))

    def _send(self, regarding: dict[str, str], namespace: str, reason: str, note: str) -> None:
        """One Event; what goes wrong is dropped."""
        body = events.event({**regarding, "namespace": namespace}, self._clock.now(), events.Act(reason, note))
        body["regarding"] = regarding
        try:
            self._connection.send("POST", event_path(namespace), body)
        except ClusterError:
            self._rest()

    def _rest(self) -> None:
        """The API server cannot be reached: what is to be told in the next time is not worth the wait."""
        self._silent_until = self._clock.monotonic() + REST_SECONDS

    def _clean(self, note: str) -> str:
        return printable(self._hide(note), events.LONGEST_NOTE - 100)

    def _may_tell(self, subject: str, reason: str, once: str) -> bool:
        """Once for each subject and reason, and not too many at a time; of very many the oldest are forgotten.

        What there was no room for may be told the next time.
        """
        key = (subject, reason, once)
        is_silent = self._clock.monotonic() < self._silent_until
        if is_silent or key in self._told or not self._has_room():
            return False
        self._told[key] = None
        while len(self._told) > MOST_REMEMBERED:
            del self._told[next(iter(self._told))]
        return True

    def _has_room(self) -> bool:
        """Whether one more may be written now: a bucket of ``BURST`` that fills by ``PER_SECOND``."""
        now = self._clock.monotonic()
        self._left = min(BURST, self._left + (now - self._since) * PER_SECOND)
        self._since = now
        if self._left < 1.0:
            return False
        self._left -= 1.0
        return True
