"""AntagonistReport: pods that are known to disturb each other have come to share a node."""

from __future__ import annotations

from typing import Final

from rescheduler.model.occasions import Occasion, Sight
from rescheduler.model.plan import PodReference
from rescheduler.model.pod import Pod
from rescheduler.model.round_report import RoundReport
from rescheduler.plugins.triggers.causes import Causes
from rescheduler.plugins.triggers.setting import Setting
from rescheduler.plugins.triggers.sharing_antagonists import sharing_antagonists
from rescheduler.plugins.triggers.wording import listed
from rescheduler.policy.models import Policy
from rescheduler.policy.objective_arguments import arguments_of
from rescheduler.policy.objectives import SeparateAntagonistsArgs
from rescheduler.policy.triggers import AntagonistReportArgs

LOOK_SECONDS: Final = 10.0
"""All pods are looked at, so not more often than this."""


class AntagonistReport:
    """Asks for each pod that comes to share a node with an antagonist, by the arguments of SeparateAntagonists."""

    name = "AntagonistReport"

    def __init__(self, args: AntagonistReportArgs, setting: Setting) -> None:
        self._antagonists = _antagonists_of(setting.policy)
        self._causes: Causes[tuple[str, ...]] = Causes(args.back_off, args.debounce)
        self._found_at: dict[tuple[str, ...], float] = {}
        self._seen_at: float | None = None
        self._has_passed_over = False

    def look(self, sight: Sight) -> Occasion | None:
        """Whether there are pods that were not known to share a node with an antagonist."""
        now = sight.cluster.taken_at
        self._has_passed_over = self._seen_at is not None and self._seen_at <= now < self._seen_at + LOOK_SECONDS
        if self._has_passed_over:
            return None
        self._seen_at = now
        found: dict[tuple[str, ...], tuple[Pod, str]] = {
            (pod.node_name or "", pod.uid or pod.key): (pod, ground)
            for pod, ground in sharing_antagonists(sight.cluster, self._antagonists)
        }
        self._found_at = {key: min(self._found_at.get(key, now), now) for key in found}
        asked = self._causes.see(self._found_at, now)
        if not asked:
            return None
        clashes = [found[key] for key in asked]
        texts = [f"{pod.key} on {pod.node_name} ({ground})" for pod, ground in clashes]
        what = "pod shares" if len(asked) == 1 else "pods share"
        return Occasion(
            self.name,
            f"{len(asked)} {what} a node with antagonists: {listed(texts)}",
            now,
            pods=tuple(PodReference(pod.namespace, pod.name, pod.uid) for pod, _ in clashes),
            nodes=tuple(sorted({pod.node_name for pod, _ in clashes if pod.node_name is not None})),
        )

    def wake_at(self, now: float) -> float | None:
        """When pods that were found are to be asked for, or a change that was passed over is to be looked at."""
        at = self._causes.wake_at(now)
        if self._seen_at is None:
            return at
        again = self._seen_at + LOOK_SECONDS
        if self._has_passed_over:
            return again
        return None if at is None else max(at, again)

    def answered(self, report: RoundReport) -> None:
        """Pods that share a node still are left alone for a while."""
        self._causes.answered(report)


def _antagonists_of(policy: Policy) -> SeparateAntagonistsArgs:
    for objective in policy.objectives:
        args = arguments_of(objective)
        if isinstance(args, SeparateAntagonistsArgs):
            return args
    return SeparateAntagonistsArgs()
