"""AutoscalerEvents: an autoscaler says that it adds no node for a pod, or that it has taken nodes away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from rescheduler.daemon.triggers.causes import Causes, TriggerBackOff
from rescheduler.daemon.triggers.setting import MOST_NAMED, Setting, listed
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import NO_NODE_COMES, AutoscalerNotice, Occasion, RoundReport, Sight
from rescheduler.model.objects.annotations import MANAGED_BY, OURS
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PodReference, reference_to
from rescheduler.model.printable import printable
from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import DurationSeconds

REMEMBERED: Final = 2.0
"""What was said is remembered for so many times the longest back-off."""


@dataclass
class _Said:
    """``asks_from``: infinite once a round was asked for, until it is said again."""

    notice: AutoscalerNotice
    asks_from: float


AutoscalerReason: TypeAlias = Literal[
    # cluster-autoscaler
    "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "ScaleDown", "ScaleDownEmpty",
    "ScaleDownFailed",
    # karpenter
    "FailedScheduling", "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed", "NodeClassNotReady",
    "DisruptionTerminating", "DisruptionBlocked", "Unconsolidatable", "InstanceTerminating", "Deleting",
]  # fmt: skip
"""Reasons that may ask for a round."""

HELP_NEEDED: Final[tuple[AutoscalerReason, ...]] = (
    "NotTriggerScaleUp", "ScaleUpTimedOut", "FailedToScaleUpGroup", "FailedScaleUp", "ScaleDown", "ScaleDownEmpty",
    "FailedScheduling", "NoCompatibleInstanceTypes", "InsufficientCapacityError", "LaunchFailed",
    "DisruptionTerminating",
)  # fmt: skip
"""No node comes for a pod, or nodes have gone."""


class AutoscalerEventsArgs(PolicyModel):
    """When an autoscaler says that it adds no node for a pod, or that it has taken nodes away."""

    on: Annotated[tuple[AutoscalerReason, ...], Field(min_length=1, max_length=32)] = HELP_NEEDED
    """Reasons of its events and conditions that ask for a round; what announces a node never does."""
    debounce: DurationSeconds = 5.0
    """Events that follow each other within this ask for one round."""
    back_off: TriggerBackOff = TriggerBackOff()
    """How long the same reason at the same object does not ask again."""


class AutoscalerEvents(Trigger):
    """Asks once for what is said once; what is said again and again, more and more seldom."""

    name = "AutoscalerEvents"
    arguments = AutoscalerEventsArgs

    def __init__(self, args: AutoscalerEventsArgs, setting: Setting) -> None:  # noqa: ARG002 - one signature for all
        self._reasons = frozenset(args.on)
        self._remembered_seconds = REMEMBERED * args.back_off.longest
        self._causes: Causes[tuple[str, ...]] = Causes(args.back_off, args.debounce)
        self._said: dict[tuple[str, ...], _Said] = {}

    @classmethod
    def sentence(cls, args: AutoscalerEventsArgs) -> str:
        """What it must say."""
        named, more = args.on[:MOST_NAMED], len(args.on) - MOST_NAMED
        return f"when an autoscaler says {', '.join(named)}{f' or one of {more} more' if more > 0 else ''}"

    def look(self, sight: Sight) -> Occasion | None:
        """What was said since the last look, as far as it still matters."""
        now = sight.cluster.taken_at
        for notice in sight.notices:
            if notice.reason in self._reasons:
                self._said[_key(notice)] = _Said(notice, min(notice.at, now))
        for key in [key for key, said in self._said.items() if not self._matters(said, sight.cluster)]:
            del self._said[key]
        asked = self._causes.see({key: said.asks_from for key, said in self._said.items()}, now)
        if not asked:
            return None
        notices = [self._said[key].notice for key in asked]
        for key in asked:
            self._said[key].asks_from = inf
        return Occasion(
            self.name,
            listed([_told(notice) for notice in notices]),
            now,
            pods=tuple(_pods(notices, sight.cluster)),
            nodes=tuple(notice.name for notice in notices if notice.kind == "Node"),
        )

    def wake_at(self, now: float) -> float | None:
        """When it is quiet enough to ask for what was said, or when it was left alone for long enough."""
        return self._causes.wake_at(now)

    def answered(self, report: RoundReport) -> None:
        """A round looks at everything that was said before it."""
        self._causes.answered(report)
        if not report.is_held:
            for said in self._said.values():
                if said.asks_from <= report.started_at:
                    said.asks_from = inf

    def _matters(self, said: _Said, cluster: Cluster) -> bool:
        """Whether it is recent, and the pod that gets no node still waits."""
        notice = said.notice
        if cluster.taken_at - notice.at > self._remembered_seconds:
            return False
        if notice.kind != "Pod" or notice.reason not in NO_NODE_COMES:
            return True
        return _waits(cluster.pod_by_key.get(f"{notice.namespace}/{notice.name}"))


def _waits(pod: Pod | None) -> bool:
    if pod is None or not pod.is_pending or pod.labels.get(MANAGED_BY) == OURS:
        return False
    return not pod.scheduling_gates and not pod.nominated_node


def _key(notice: AutoscalerNotice) -> tuple[str, ...]:
    return (notice.reason, notice.kind, notice.namespace, notice.name)


def _told(notice: AutoscalerNotice) -> str:
    name = f"{notice.namespace}/{notice.name}" if notice.namespace else notice.name
    return printable(f"{notice.autoscaler} says {notice.reason} of {notice.kind} {name}", 200)


def _pods(notices: list[AutoscalerNotice], cluster: Cluster) -> Iterator[PodReference]:
    for notice in notices:
        pod = cluster.pod_by_key.get(f"{notice.namespace}/{notice.name}") if notice.kind == "Pod" else None
        if pod is not None:
            yield reference_to(pod)
