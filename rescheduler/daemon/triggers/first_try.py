"""FirstTry: pods have just become unschedulable, and a small rearrangement is to come before a purchase.

Not named in policies: it comes with ``autoscaler.firstTry: On``.
"""

from __future__ import annotations

from typing import Final

from rescheduler.daemon.triggers.setting import Setting, listed
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import FIRST_TRY, Occasion, RoundReport, Sight
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import reference_to
from rescheduler.policy.fields.policy_model import PolicyModel

MOST_PODS: Final = 8
"""A try helps few pods; of a crowd that comes at once the rest is left to the autoscaler."""


class FirstTryArgs(PolicyModel):
    """Nothing to say."""


class FirstTryTrigger(Trigger):
    """Asks once for each pod, in the look that shows it unschedulable for the first time."""

    name = FIRST_TRY
    arguments = FirstTryArgs

    def __init__(self, args: FirstTryArgs, setting: Setting) -> None:  # noqa: ARG002 - as all triggers are made
        self._schedulers = setting.schedulers
        self._seen: set[str] | None = None

    @classmethod
    def sentence(cls, args: FirstTryArgs) -> str:  # noqa: ARG003
        """When."""
        return "in the moment a pod becomes unschedulable"

    def look(self, sight: Sight) -> Occasion | None:
        """The pods that are new among those that wait; ``at``: they do not wait for longer than since then."""
        cluster = sight.cluster
        waiting = {pod.uid: pod for pod in cluster.pending_pods if self._waits(pod)}
        seen = self._seen
        # A pod that was nominated for a while, and is so no more, has had its try.
        self._seen = {pod.uid for pod in cluster.pending_pods if pod.uid in waiting or pod.uid in (seen or ())}
        if seen is None:
            return None  # who waited before we came has been seen by the autoscaler long ago
        fresh = sorted((pod for uid, pod in waiting.items() if uid not in seen), key=lambda pod: pod.key)[:MOST_PODS]
        if not fresh:
            return None
        told = [pod.unscheduled_at for pod in fresh if pod.unscheduled_at is not None]
        since = max(min(told, default=cluster.taken_at), cluster.taken_at - sight.unseen_for)
        what = "pod is" if len(fresh) == 1 else "pods are"
        reason = f"{len(fresh)} {what} unschedulable since a moment ago: {listed([pod.key for pod in fresh])}"
        return Occasion(self.name, reason, min(since, cluster.taken_at), pods=tuple(map(reference_to, fresh)))

    def wake_at(self, now: float) -> float | None:  # noqa: ARG002
        """Only what changes makes it ask."""
        return None

    def answered(self, report: RoundReport) -> None:
        """Each pod has one try, whatever becomes of it."""

    def _waits(self, pod: Pod) -> bool:
        """Whether its scheduler has just said that it finds no place, and nobody makes room for it yet."""
        return (
            pod.unscheduled == "Unschedulable"
            and not pod.scheduling_gates
            and not pod.nominated_node
            and not pod.spec.unmodelled
            and pod.labels.get(MANAGED_BY) != OURS
            and pod.spec.scheduler_name in self._schedulers
        )
