"""A live cluster as something that a plan can be carried out on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Final, NamedTuple

from rescheduler.adapters.background import in_background
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.client.failures import ForbiddenError
from rescheduler.adapters.kubernetes.eviction import detaching, events, evictor
from rescheduler.adapters.kubernetes.eviction.endpoints import read_endpoints
from rescheduler.adapters.kubernetes.eviction.live_pods import read_pod, read_pods
from rescheduler.adapters.kubernetes.eviction.vicinity import LiveReads, ServerReads
from rescheduler.adapters.kubernetes.guidance import gates, nominations
from rescheduler.adapters.kubernetes.guidance import guidance_support as guide_support
from rescheduler.adapters.kubernetes.guidance.gate_rule import GateRule
from rescheduler.adapters.kubernetes.guidance.guidance_support import why_no_holds
from rescheduler.adapters.kubernetes.guidance.holds import HoldKeeper
from rescheduler.adapters.kubernetes.guidance.taints import NodeTaints
from rescheduler.adapters.kubernetes.rights.surge_rights import why_no_surges
from rescheduler.extension_points import (
    Clock,
    ClusterError,
    ClusterReader,
    EvictionAnswer,
    ExecutionTarget,
    HoldRequest,
)
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.endpoints import ServiceEndpoints
from rescheduler.model.objects.pod import OwnerReference, Pod
from rescheduler.model.objects.workload import Workload
from rescheduler.model.plan.detachment import Detachment
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity

BELIEVED_SECONDS: Final = 60.0
"""So long it is not asked again whether we may make placeholders: rounds follow one another within a second, and each
question is nine requests. A right that is withdrawn meanwhile is told by the first placeholder, before any eviction."""


DRY_RUN_SECONDS: Final = 0.5
"""So long a dry run that was asked for ahead stands for one. Only that a pod may go is taken from it."""


class _DryRun(NamedTuple):
    """One that was asked for ahead: of which version of the pod, with what answer."""

    pod: PodReference
    began: float
    answer: Future[tuple[str, EvictionAnswer] | None]


class KubernetesTarget(ExecutionTarget):
    """Everything that is written to a cluster goes through here; ``docs/what-we-write.md`` lists it.

    ``hold_namespace``: where placeholders are made. ``scope``: the only namespaces whose pods may be moved, none for
    all; rights may be given in these alone. ``guard`` sees to it that somebody takes away what does not go by
    itself if this process is killed; it returns the reason why that cannot be done. ``grace_seconds``: of each pod
    that is evicted; None: its own one. ``reads``: what answers narrow reads; None: the server, each by itself.
    """

    def __init__(
        self,
        connection: Connection,
        reader: ClusterReader,
        *,
        clock: Clock,
        hold_namespace: str,
        scope: Sequence[str] = (),
        guard: Callable[[], str | None] = lambda: None,
        grace_seconds: int | None = None,
        reads: ServerReads | None = None,
    ) -> None:
        self._connection = connection
        self._reads = reads or ServerReads(connection)
        self._guard = guard
        self._reader = reader
        self._clock = clock
        self._namespace = hold_namespace
        self._scope = scope
        self._grace_seconds = grace_seconds
        self._holds = HoldKeeper(connection, hold_namespace, clock, lambda: self._reads.told_pods(hold_namespace))
        self._rule = GateRule(connection, hold_namespace, clock)
        self._taints = NodeTaints(connection, clock)
        self._owners: dict[str, OwnerReference | None] = {}
        self._telling: list[Future[bool]] = []
        self._may_hold_until = 0.0
        self._dry_run: _DryRun | None = None

    def read(self) -> Cluster:
        """A fresh snapshot. Raises ClusterError."""
        return self._reader.read()

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """The pod as it stands now, or None. Raises ClusterError."""
        pod = read_pod(self._connection, namespace, name)
        if pod is not None:
            self._owners[pod.uid] = pod.controller
        return pod

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """The pods of one namespace that a selector matches (None: all). Raises ClusterError."""
        return read_pods(self._connection, namespace, selector)

    def read_lists(self, asked: Sequence[tuple[str, LabelSelector | None]]) -> Sequence[Sequence[Pod]]:
        """The same for several, side by side. Raises ClusterError."""
        return self._reads.read_lists(asked)

    def read_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """What a move depends on, by narrow reads. Raises ClusterError."""
        around = self._reads.read_vicinity(move, cluster)
        self._owners.update((pod.uid, pod.controller) for pod in around.pods if pod.key == move.pod.key)
        return around

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Ask the Eviction API for exactly this pod; see ``evictor.classify`` for the answers."""
        foreseen = self._foreseen(pod, resource_version) if dry_run else None
        return foreseen or self._evict(pod, resource_version, dry_run=dry_run)

    def foresee(self, move: Move, cluster: Cluster) -> None:
        """Begin with what a move depends on, and with its dry run."""
        began, live = self._clock.monotonic(), self._reads.foresee(move, cluster)
        if live is not None:
            self._dry_run = _DryRun(move.pod, began, in_background(partial(self._try_out, move.pod, live), "dry-run"))

    def _try_out(self, pod: PodReference, live: Future[Pod | None]) -> tuple[str, EvictionAnswer] | None:
        found = live.result()
        if found is None or found.uid != pod.uid or not found.is_active:
            return None
        return found.resource_version, self._evict(pod, found.resource_version, dry_run=True)

    def _foreseen(self, pod: PodReference, resource_version: str) -> EvictionAnswer | None:
        """The answer to a dry run of this version of a pod that was asked for ahead, if it may go."""
        ahead, self._dry_run = self._dry_run, None
        if ahead is None or ahead.pod != pod or self._clock.monotonic() - ahead.began > DRY_RUN_SECONDS:
            return None
        try:
            found = ahead.answer.result()
        except ClusterError:
            return None
        if found is None or found[0] != resource_version or found[1].kind != "Accepted":
            return None
        return found[1]

    def _evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        return evictor.evict(
            self._connection, pod, resource_version, dry_run=dry_run, grace_seconds=self._grace_seconds
        )

    def hold(self, requests: Sequence[HoldRequest]) -> None:
        """Make placeholders and nominate them; returns when all stand. Raises ClusterError."""
        self._holds.hold(requests)

    def renew(self, requests: Sequence[HoldRequest]) -> Sequence[str]:
        """Give placeholders their whole deadline again; names of those that are gone. Raises ClusterError."""
        return self._holds.renew(requests)

    def release(self, names: Sequence[str]) -> None:
        """Remove placeholders; returns when they are gone. Raises ClusterError."""
        self._holds.release(names)

    def can_hold(self) -> str | None:
        """None if placeholders work here, else the reason why not. Raises ClusterError."""
        now = self._clock.monotonic()
        if now < self._may_hold_until:
            return None
        reason = why_no_holds(self._connection, self._namespace, self._scope)
        if reason is None:
            self._may_hold_until = now + BELIEVED_SECONDS
        return reason

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Lead a pending pod to a node; False if it is bound, gone or another by now, or out of scope and not ours to
        write to. Raises ClusterError."""
        try:
            return nominations.nominate(self._connection, pod.namespace, pod.name, pod.uid, node)
        except ForbiddenError:
            if not self._scope or pod.namespace in self._scope:
                raise
            return False  # the scheduler has to find the room by itself

    def withdraw_nomination(self, pod: PodReference, node: str) -> bool:
        """Take a nomination off again; False if it does not stand (any more). Raises ClusterError."""
        return nominations.withdraw(self._connection, pod.namespace, pod.name, pod.uid, node)

    def can_gate(self) -> str | None:
        """None if new pods can be held at a scheduling gate here, else the reason why not. Raises ClusterError."""
        return guide_support.why_no_gates(self._connection, self._namespace, self._scope) or self._guard()

    def gate_replacements(self, owners: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Hold new pods of these owners at our gate; none: nobody's any more. Raises ClusterError."""
        if owners:
            self._rule.put(owners, plan_id, deadline_seconds)
        else:
            self._rule.end()

    def ungate(self, pod: PodReference) -> bool:
        """Take our gate off a pod; False if it is gone or another by now. Raises ClusterError."""
        return gates.ungate(self._connection, pod.namespace, pod.name, pod.uid)

    def can_taint(self) -> str | None:
        """None if nodes can be tainted here, else the reason why not. Raises ClusterError."""
        return self._taints.why_not() or self._guard()

    def taint(self, nodes: Sequence[str], plan_id: str, deadline_seconds: int) -> None:
        """Put our own taint on nodes, or renew it; see ``NodeTaints.put``. Raises ClusterError."""
        self._taints.put(nodes, plan_id, deadline_seconds)

    def untaint(self, nodes: Sequence[str]) -> None:
        """Take our own taint off nodes. Raises ClusterError."""
        self._taints.take_off(nodes)

    def can_surge(self) -> str | None:
        """None if pods can be taken out of their ReplicaSets here, else the reason why not. Raises ClusterError."""
        return why_no_surges(self._connection, self._scope) or self._guard()

    def detach(self, pod: PodReference, resource_version: str, detachment: Detachment) -> bool:
        """Take exactly this pod, as read, out of its ReplicaSet; False if it has changed. Raises ClusterError."""
        owner = self._owners.get(pod.uid)
        if owner is None:
            return False
        return detaching.detach(self._connection, pod, resource_version, owner.uid, detachment)

    def give_back(self, pod: PodReference) -> bool:
        """Undo ``detach``; False if there is nothing to give back. Raises ClusterError."""
        return detaching.give_back(self._connection, pod.namespace, pod.name, pod.uid)

    def read_endpoints(self, namespace: str) -> Sequence[ServiceEndpoints]:
        """Who answers for the Services of one namespace. Raises ClusterError."""
        return read_endpoints(self._connection, namespace)

    def read_workload(self, known: Workload) -> Workload | None:
        """A workload of this kind, namespace and name as it stands now, or None. Raises ClusterError."""
        return LiveReads(self._connection).read_workload(known)

    def leftovers(self) -> Sequence[str]:
        """Names of placeholders of ours, of any plan. Raises ClusterError."""
        return self._holds.names()

    def record(
        self, pod: PodReference, reason: str, message: str, *, action: str = events.ACTION, is_warning: bool = False
    ) -> None:
        """Tell of an act by Events on the pod and its owner, which nothing waits for; never raises."""
        act, owner = events.Act(reason, message, action, is_warning), self._owners.get(pod.uid)
        tell = partial(events.record, self._connection, pod, owner, self._clock.now(), act)
        self._telling = [*(told for told in self._telling if not told.done()), in_background(tell, "events")]

    def finish_telling(self) -> None:
        """Wait until everything that was recorded is told, or could not be."""
        wait(self._telling)
