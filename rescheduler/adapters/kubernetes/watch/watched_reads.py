"""Answers narrow reads from the watches, if what they rest on is proven fresh; and else from the server, as ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, wait
from functools import partial
from typing import Any, Final, NamedTuple

from rescheduler.adapters.background import in_background
from rescheduler.adapters.kubernetes.client.connection import Connection
from rescheduler.adapters.kubernetes.eviction.live_pods import read_pod
from rescheduler.adapters.kubernetes.eviction.vicinity import ServerReads
from rescheduler.adapters.kubernetes.watch.freshness import (
    FRESH_SECONDS,
    MOST_TOGETHER,
    Freshness,
    left_after_catching_up,
)
from rescheduler.adapters.kubernetes.watch.kind_store import UncountedError
from rescheduler.adapters.kubernetes.watch.mirror import Mirror
from rescheduler.adapters.kubernetes.watch.versions import is_older
from rescheduler.adapters.kubernetes.watch.watched_scope import WatchedScope
from rescheduler.adapters.vicinity import NarrowReads, in_order, read_vicinity
from rescheduler.extension_points import Clock, ClusterError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.node import Node
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.workload import DisruptionBudget, Workload
from rescheduler.model.plan.plan import Move, PodReference
from rescheduler.model.plan.vicinity import Vicinity, counted_with, owners_of

VERDICT_SECONDS: Final = 0.5
"""A proof that began no longer ago serves a verdict, which takes time itself and rests on nothing older than 1 s."""
AHEAD_SECONDS: Final = 0.2
"""What is foreseen is to serve a verdict that comes after an eviction and perhaps a landing."""
SLOW_SECONDS: Final = 0.5
"""Proofs that take longer leave a verdict too little of its second, or none, as where somebody holds streams back."""
RESPITE_SECONDS: Final = 5.0
"""So long after one of those the server is asked in the place of the watches, and nothing is waited for in vain."""


class _Ahead(NamedTuple):
    """What was begun at ``began`` for a move that was foreseen."""

    pod: PodReference
    began: float
    live: Future[Pod | None]
    proofs: Future[float]


class WatchedReads(ServerReads):
    """The pod that is to leave is read from the server all the same, whatever the watches tell of it.

    What is not proven, not followed, or set aside is asked of the server; so is everything for a while where proofs are
    slow. For one thread.
    """

    def __init__(
        self,
        connection: Connection,
        mirror: Mirror,
        freshness: Freshness,
        clock: Clock,
        scopes: Callable[[], Sequence[WatchedScope]],
    ) -> None:
        """``scopes``: of the plan that is being carried out; what is quiet of them is proven for all its moves."""
        super().__init__(connection)
        self._mirror, self._freshness, self._clock, self._scopes = mirror, freshness, clock, scopes
        self._told = _MirrorReads(mirror)
        self._slow_until = float("-inf")
        self._ahead: _Ahead | None = None

    def read_lists(self, asked: Sequence[tuple[str, LabelSelector | None]]) -> Sequence[Sequence[Pod]]:
        """No older than a second. Raises ClusterError."""
        scopes = [WatchedScope("Pod", namespace, labels=selector) for namespace, selector in asked]
        try:
            self._prove(scopes, FRESH_SECONDS)
            return [self._mirror.stores["Pod"].found_in(scope) for scope in scopes]
        except ClusterError:
            return super().read_lists(asked)

    def told_pods(self, namespace: str) -> Sequence[Pod] | None:
        """Without proof: for what is waited for, which is told sooner or later; None where the watch is out of sync."""
        if "Pod" in self._mirror.kinds_out_of_sync():
            return None
        try:
            return self._mirror.stores["Pod"].found_in(WatchedScope("Pod", namespace))
        except UncountedError:
            return None

    def read_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """What a move depends on, with how old it may be, and its pod of this moment. Raises ClusterError.

        What was told half a second too late for a verdict is not told again: whoever finds it over a second old asks
        over half a second after what was proven for him began, and it is proven anew.
        """
        began = self._clock.monotonic()
        try:
            return self._proven_vicinity(move, cluster)
        except ClusterError:
            late = self._clock.monotonic() - began
            return super().read_vicinity(move, cluster)._replace(age_seconds=-late)

    def foresee(self, move: Move, cluster: Cluster) -> Future[Pod | None] | None:
        """Begin with the proofs and the pod; what is older than half a second once it is asked for is asked anew."""
        try:
            scopes = self._around(move, cluster, self._counted(move, cluster))
        except ClusterError:
            return None
        proofs = in_background(partial(self._prove, scopes, AHEAD_SECONDS), "narrow-read")
        self._ahead = _Ahead(move.pod, self._clock.monotonic(), self._read_live(move), proofs)
        return self._ahead.live

    def _foreseen(self, move: Move) -> tuple[float, Future[Pod | None]] | None:
        """When the pod of a move was asked for ahead, and the answer, once all that was begun for it is there."""
        ahead, self._ahead = self._ahead, None
        if ahead is None or ahead.pod != move.pod:
            return None
        begun: list[Future[Any]] = [ahead.live, ahead.proofs]
        if (
            wait(begun, VERDICT_SECONDS).not_done
            or ahead.live.exception()
            or self._clock.monotonic() - ahead.began > VERDICT_SECONDS
        ):
            return None
        return ahead.began, ahead.live

    def _read_live(self, move: Move) -> Future[Pod | None]:
        return in_background(partial(read_pod, self._connection, move.pod.namespace, move.pod.name), "narrow-read")

    def _proven_vicinity(self, move: Move, cluster: Cluster) -> Vicinity:
        """Raises ClusterError where the server has to be asked."""
        self._require_swift()
        foreseen = self._foreseen(move)
        began = self._clock.monotonic()
        read_at, reading = foreseen or (began, self._read_live(move))
        counted = self._counted(move, cluster)
        age = max(self._prove(self._around(move, cluster, counted), VERDICT_SECONDS), began - read_at)
        live = reading.result()
        self._await(live)
        if age + self._clock.monotonic() - began > FRESH_SECONDS:
            raise ClusterError("what was proven is too old already")
        around = read_vicinity(self._told, move, cluster)
        if self._counted(move, cluster) != counted:
            raise ClusterError("a budget or a label has just changed who is counted with the pod")
        return _with_pod(around, move, live)._replace(age_seconds=age)

    def _prove(self, scopes: Sequence[WatchedScope], within: float) -> float:
        """How much older than the question these parts may be. Raises ClusterError where nobody knows."""
        self._require_swift()
        lost = self._mirror.kinds_out_of_sync().keys() & {scope.kind for scope in scopes}
        if lost:
            raise ClusterError(f"{', '.join(sorted(lost))} is not followed just now")
        began = self._clock.monotonic()
        try:
            return self._freshness.prove(list(dict.fromkeys(scopes)), within)
        finally:
            ended = self._clock.monotonic()
            if ended - began > SLOW_SECONDS:
                self._slow_until = ended + RESPITE_SECONDS

    def _require_swift(self) -> None:
        """Raise ClusterError for a while after proofs were slow."""
        if self._clock.monotonic() < self._slow_until:
            raise ClusterError("proofs were slow a moment ago")

    def _counted(self, move: Move, cluster: Cluster) -> Sequence[LabelSelector | None]:
        """What selects the pods that are counted with this one, by what the watches have told so far."""
        pod = self._told.read_pod(move.pod.namespace, move.pod.name)
        budgets = tuple(self._told.budgets_in(move.pod.namespace))
        return () if pod is None else counted_with(cluster, pod, budgets)

    def _around(self, move: Move, cluster: Cluster, counted: Sequence[LabelSelector | None]) -> list[WatchedScope]:
        """What a move depends on: its own part, and of the plan's what one stream shows for all its moves."""
        namespace, pod = move.pod.namespace, cluster.pod_by_key.get(move.pod.key)
        owners = () if pod is None else owners_of(cluster, pod)
        nodes = [name for name in dict.fromkeys((move.from_node, move.to_node)) if name]
        all_nodes = [scope for scope in self._scopes() if scope.kind == "Node"]
        return [
            WatchedScope("PodDisruptionBudget", namespace),
            *(all_nodes if len(all_nodes) <= MOST_TOGETHER else ()),
            *(WatchedScope("Node", name=name) for name in nodes),
            *(WatchedScope("Pod", node=name) for name in nodes),
            *(WatchedScope("Pod", namespace, labels=selector) for selector in counted),
            *(WatchedScope(owner.kind, owner.namespace, owner.name) for owner in owners),
        ]

    def _await(self, live: Pod | None) -> None:
        """Give the watch of pods time to tell of the pod as it stands. Raises ClusterError where it does not."""
        if live is None:
            return
        key, version, store = (live.namespace, live.name), live.resource_version, self._mirror.stores["Pod"]

        def difference() -> str | None:
            ours = store.version_of(key)
            is_told = ours == version or (ours is not None and is_older(version, ours))
            return None if is_told else f"{live.key} is of version {version}"

        left = left_after_catching_up(self._clock, difference)
        if left is not None:
            raise ClusterError(f"the watch of pods lags behind: {left}")


def _with_pod(around: Vicinity, move: Move, live: Pod | None) -> Vicinity:
    """The pod itself as the server has just shown it, unless the watch has told of something newer."""
    ours = next((pod for pod in around.pods if pod.key == move.pod.key), None)
    if ours is not None and live is not None and is_older(live.resource_version, ours.resource_version):
        return around
    others = [pod for pod in around.pods if pod.key != move.pod.key]
    return around._replace(pods=in_order(others if live is None else [*others, live]))


class _MirrorReads(NarrowReads):
    """What the watches have told. Each raises ClusterError where an object is set aside."""

    def __init__(self, mirror: Mirror) -> None:
        self._mirror = mirror

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """One pod, or None."""
        found: Pod | None = self._one(WatchedScope("Pod", namespace, name))
        return found

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """The pods of one namespace that a selector matches (None: all)."""
        return self._all(WatchedScope("Pod", namespace, labels=selector))

    def pods_on(self, node: str) -> Sequence[Pod]:
        """The pods that are bound to a node."""
        return self._all(WatchedScope("Pod", node=node))

    def budgets_in(self, namespace: str) -> Sequence[DisruptionBudget]:
        """The PodDisruptionBudgets of one namespace."""
        return self._all(WatchedScope("PodDisruptionBudget", namespace))

    def read_node(self, name: str) -> Node | None:
        """One node, or None."""
        found: Node | None = self._one(WatchedScope("Node", name=name))
        return found

    def read_workload(self, known: Workload) -> Workload | None:
        """An owner of this kind and name, or None."""
        found: Workload | None = self._one(WatchedScope(known.kind, known.namespace, known.name))
        return found

    def _all(self, scope: WatchedScope) -> list[Any]:
        return self._mirror.stores[scope.kind].found_in(scope)

    def _one(self, scope: WatchedScope) -> Any:
        return next(iter(self._all(scope)), None)
