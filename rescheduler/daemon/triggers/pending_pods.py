"""PendingPods: pods have been unschedulable for a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf
from typing import Final

from rescheduler.daemon.triggers.causes import Causes, TriggerBackOff
from rescheduler.daemon.triggers.node_arrivals import NodeArrivals
from rescheduler.daemon.triggers.setting import Setting, listed, without_objective
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import NO_NODE_COMES, NODE_COMES, AutoscalerNotice, Occasion, RoundReport, Sight
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import reference_to
from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import DurationSeconds, format_duration

PREEMPTION_SECONDS: Final = 300.0
"""A pod that its scheduler makes room for by preemption is left alone for so long."""
FIRST_TRY_SECONDS: Final = 2.0
"""A pod that no scheduler has said anything of is not asked for sooner: it is most likely about to be placed. (Times in
objects are whole seconds, cut off, so that a second of them may be over already.)"""


class PendingPodsArgs(PolicyModel):
    """When pods have been unschedulable for a while."""

    older_than: DurationSeconds = 30.0
    """For how long a pod must have been unschedulable."""
    debounce: DurationSeconds = 5.0
    """Pods that follow each other within this ask for one round."""
    back_off: TriggerBackOff = TriggerBackOff()
    """How long a pod that a round did not help does not ask again; forgotten when a node comes or grows."""
    scale_up_wait: DurationSeconds | None = None
    """How long a pod is left to an autoscaler that has said it adds a node for it; left out: ``autoscaler.wait``."""


class PendingPods(Trigger):
    """Asks for pods that their scheduler finds no place for; whether they can be helped, a round finds out."""

    name = "PendingPods"
    arguments = PendingPodsArgs

    def __init__(self, args: PendingPodsArgs, setting: Setting) -> None:
        self._args = args
        wait = args.scale_up_wait
        self._scale_up_wait = setting.policy.autoscaler.wait if wait is None else wait
        self._schedulers = setting.schedulers
        self._causes: Causes[str] = Causes(args.back_off, args.debounce)
        self._arrivals = NodeArrivals()
        self._since: dict[str, float] = {}
        self._nominated_since: dict[str, float] = {}
        self._left_until: dict[str, float] = {}

    @classmethod
    def sentence(cls, args: PendingPodsArgs) -> str:
        """For how long."""
        return f"when pods have been unschedulable for {format_duration(args.older_than)}"

    @classmethod
    def warnings(cls, args: PendingPodsArgs, policy: Policy) -> Iterator[str]:  # noqa: ARG003
        """A policy that makes no room."""
        return without_objective("MakeRoom", cls.name, policy)

    def look(self, sight: Sight) -> Occasion | None:
        """Pods that have been unschedulable for long enough, once no further ones come."""
        cluster, now = sight.cluster, sight.cluster.taken_at
        self._hear(sight.notices)
        if self._arrivals.has_grown(cluster.nodes, now):
            # Their scheduler is given as much time with the new room as a new pod would get.
            self._causes.forgive(now + self._args.older_than)
            self._left_until = {key: min(at, now + self._args.older_than) for key, at in self._left_until.items()}
        waiting = {_identity(pod): pod for pod in self._waiting(cluster.pending_pods, now)}
        names = {pod.key for pod in waiting.values()}
        self._left_until = {key: at for key, at in self._left_until.items() if at > now or key in names}
        present = {key: self._ripe_at(pod) for key, pod in waiting.items()}
        asked = [waiting[key] for key in self._causes.see(present, now)]
        if not asked:
            return None
        asked.sort(key=lambda pod: pod.key)
        pods = tuple(reference_to(pod) for pod in asked)
        return Occasion(self.name, self._reason(asked), now, pods=pods)

    def wake_at(self, now: float) -> float | None:
        """When a pod will have waited long enough."""
        return self._causes.wake_at(now)

    def answered(self, report: RoundReport) -> None:
        """Pods that still wait after a round are left alone for a while."""
        self._causes.answered(report)

    def _waiting(self, pods: Iterable[Pod], now: float) -> Iterator[Pod]:
        """Those that only room, or another place for others, can help; and since when each of them waits."""
        since, nominated_since = self._since, self._nominated_since
        self._since, self._nominated_since = {}, {}
        for pod in pods:
            key = _identity(pod)
            if pod.scheduling_gates:
                # Its condition keeps its time when the gate is taken away: from then on it waits anew.
                self._since[key] = now
                continue
            if pod.nominated_node:
                self._nominated_since[key] = nominated_since.get(key, now)
            is_free_again = not pod.nominated_node and key in nominated_since
            self._since[key] = now if is_free_again else min(since.get(key, _since(pod, now)), now)
            is_ours = pod.labels.get(MANAGED_BY) == OURS
            if not is_ours and not pod.spec.unmodelled and pod.spec.scheduler_name in self._schedulers:
                yield pod

    def _ripe_at(self, pod: Pod) -> float:
        key = _identity(pod)
        ripe_at = max(self._since[key] + self._args.older_than, self._left_until.get(pod.key, -inf))
        if not pod.unscheduled and pod.created_at is not None:
            ripe_at = max(ripe_at, pod.created_at + FIRST_TRY_SECONDS)
        return max(ripe_at, self._nominated_since.get(key, -inf) + PREEMPTION_SECONDS)

    def _hear(self, notices: Iterable[AutoscalerNotice]) -> None:
        """Leave pods to an autoscaler that adds a node for them, for a while or until it says that none comes."""
        for notice in sorted(notices, key=lambda each: each.at):
            if notice.reason in NODE_COMES and notice.kind == "Pod":
                self._left_until[f"{notice.namespace}/{notice.name}"] = notice.at + self._scale_up_wait
            elif notice.reason in NO_NODE_COMES and notice.kind == "Pod":
                self._left_until.pop(f"{notice.namespace}/{notice.name}", None)
            elif notice.reason in NO_NODE_COMES:
                self._left_until.clear()

    def _reason(self, pods: list[Pod]) -> str:
        names = listed([pod.key for pod in pods])
        what = "pod has" if len(pods) == 1 else "pods have"
        return f"{len(pods)} {what} been unschedulable for {format_duration(self._args.older_than)} or longer: {names}"


def _identity(pod: Pod) -> str:
    return pod.uid or pod.key


def _since(pod: Pod, now: float) -> float:
    """Since when it waits; a pod that no scheduler has told anything of has waited since it was made."""
    if pod.unscheduled == "Unschedulable" and pod.unscheduled_at is not None:
        return pod.unscheduled_at
    return now if pod.created_at is None else pod.created_at
