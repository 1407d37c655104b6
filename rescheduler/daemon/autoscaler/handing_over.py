"""What is handed over to an autoscaler: pods that no rearrangement helps, and nodes that a plan has emptied."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Final

from rescheduler.daemon.autoscaler.autoscaler_memory import AutoscalerMemory
from rescheduler.daemon.autoscaler.left_over import is_certain, pods_left_over, requests_for
from rescheduler.daemon.autoscaler.node_offers import NodeOffers
from rescheduler.daemon.autoscaler.room_requests import RoomRequests
from rescheduler.extension_points import CapacityTarget, Clock, ClusterError
from rescheduler.model.daemon.notices import CapacityRequested, Fault, Notice
from rescheduler.model.daemon.rounds import AutoscalerNotice, RoundReport
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import EMPTY_NODES, PodReference, reference_to
from rescheduler.policy.fields.daemon.autoscaler import ScaleUp
from rescheduler.policy.fields.policy import Mode, Policy
from rescheduler.policy.fields.values import format_duration

MOST_FAULTS: Final = 100
"""So many are remembered as told."""


def never_stopped() -> str | None:
    """Nobody wants anything to be stopped."""
    return None


class HandOver:
    """Under one policy; what the autoscaler has said is remembered from policy to policy."""

    def __init__(
        self,
        capacity: CapacityTarget | None,
        policy: Policy,
        clock: Clock,
        hear: Callable[[Notice], None],
        *,
        stopped: Callable[[], str | None] = never_stopped,
        before: HandOver | None = None,
    ) -> None:
        """``capacity`` None: nothing may be written, and everything is left to the autoscaler.

        ``stopped``: why nothing may be written now. ``before``: the one under the policy in force until now.
        """
        self._rules, self._is_executing = policy.autoscaler, policy.mode is Mode.EXECUTE
        self._clock, self._hear, self._stopped = clock, hear, stopped
        self.memory: AutoscalerMemory = AutoscalerMemory() if before is None else before.memory
        self._told: dict[str, str] = {} if before is None else before._told
        self._left_before: frozenset[str] = frozenset()
        self._faults: set[str] = set()
        asks = capacity if self._is_executing else None
        self._requests = RoomRequests(asks, self._rules.scale_up)
        self._offers = NodeOffers(asks, self._rules, hear, clock, policy.hold.deadline)
        if before is not None:
            before.end()

    def look(self, cluster: Cluster, notices: Iterable[AutoscalerNotice] = ()) -> None:
        """Take in a snapshot and what the autoscaler has said; take back what has served or run out.

        Cheap where nothing was asked for or offered. Raises nothing.
        """
        self.memory.look(cluster, notices)
        if self._stopped() is None:
            self._try("taking back requests for room", lambda: self._requests.tend(cluster))
            self._try("offering emptied nodes", lambda: self._offers.tend(cluster))

    def keep(self) -> None:
        """Renew what would run out, changed or not the cluster; cheap where nothing stands. Raises nothing."""
        if self._stopped() is None:
            self._try("keeping emptied nodes empty", self._offers.keep)

    def end(self) -> None:
        """Let go of what ends with us. Raises nothing."""
        self._try("letting go of emptied nodes", self._offers.end)

    def after(self, report: RoundReport, cluster: Cluster) -> None:
        """Hand over what a round leaves. ``cluster``: as the round has seen it. Raises nothing."""
        self._offers.note(report, cluster)
        if report.plan is None:
            return
        left = pods_left_over(report.plan, cluster)
        uids = frozenset(pod.uid for pod in left)
        # What one round does not reach, for lack of time or by its limits, the next one may.
        ripe = left if is_certain(report.plan) else tuple(pod for pod in left if pod.uid in self._left_before)
        self._left_before = uids
        waiting = {pod.uid for pod in cluster.pending_pods}
        self._told = {uid: how for uid, how in self._told.items() if uid in waiting}
        if ripe:
            self._hand_over(ripe, cluster)

    def left_to_autoscaler(self, cluster: Cluster) -> Mapping[str, str]:
        """Pending pods that are not to be helped now, by uid: the reason, as the rest of a sentence about the pod."""
        now, rules = cluster.taken_at, self._rules
        found: dict[str, str] = {}
        for pod in cluster.pending_pods:
            promise = self.memory.promise(pod)
            if promise is not None and now - promise.at < rules.wait:
                left = _left(promise.at + rules.wait - now)
                found[pod.uid] = (
                    f"gets a node: {promise.autoscaler} says {promise.reason}; left to it for another {left} "
                    "(policy: autoscaler.wait)"
                )
            elif self.memory.came_by_scale_down(pod, rules.after_scale_down) and not self.memory.is_refused(pod):
                left_seconds = (pod.created_at or now) + rules.after_scale_down - now
                if left_seconds > 0:
                    found[pod.uid] = (
                        f"was made since an autoscaler took a node away; left to it for another {_left(left_seconds)} "
                        "(policy: autoscaler.afterScaleDown)"
                    )
        for uid, request in self._requests.awaited(now, self.memory.came_at).items():
            left = _left(request.expires_at - now)
            reason = f"has room asked for by {request.how} {request.name}; waits for another {left} "
            found.setdefault(uid, reason + "(policy: autoscaler.wait)")
        return found

    def marked(self, cluster: Cluster) -> Cluster:
        """The cluster as it is to be planned on: nodes that are about to be taken carry Karpenter's mark."""
        return self.memory.marked(cluster, self._offers.held)

    def waiting(self, cluster: Cluster) -> Mapping[str, str]:
        """Objectives that have to wait, by name: the reason. Empty where no autoscaler was heard of."""
        left = self.memory.scaled_up_at + self._rules.after_scale_up - cluster.taken_at
        if left <= 0:
            return {}
        reason = f"an autoscaler adds a node, or has just done so; nothing is emptied for another {_left(left)}"
        return {EMPTY_NODES: f"{reason} (policy: autoscaler.afterScaleUp)"}

    def _hand_over(self, pods: tuple[Pod, ...], cluster: Cluster) -> None:
        now = cluster.taken_at
        alone = [pod for pod in pods if self.memory.promise(pod) is None]
        how = self._rules.scale_up
        if how is not ScaleUp.LEAVE and self._is_executing and self._stopped() is None and alone:
            for request in requests_for(alone, how.value, now + self._rules.wait):
                self._try("asking for room", partial(self._requests.ask, request, self._tell))
        left = tuple(reference_to(pod) for pod in pods if pod.uid not in self._told)
        self._tell(ScaleUp.LEAVE.value, left, "no rearrangement helps them; left to the autoscaler")

    def _tell(self, how: str, pods: tuple[PodReference, ...], message: str) -> None:
        """Once for each pod and way."""
        new = tuple(pod for pod in pods if self._told.get(pod.uid) != how)
        self._told.update((pod.uid, how) for pod in new)
        if new:
            self._hear(CapacityRequested(self._clock.now(), how, new, message))

    def _try(self, what: str, act: Callable[[], None]) -> None:
        """Do it; what fails is told once in these words, and tried again at the next look."""
        try:
            act()
        except ClusterError as error:
            if str(error) not in self._faults:
                if len(self._faults) >= MOST_FAULTS:
                    self._faults.clear()
                self._faults.add(str(error))
                self._hear(Fault(self._clock.now(), what, str(error)))


def _left(seconds: float) -> str:
    return format_duration(float(max(1, round(seconds))))
