"""NamespaceGrew: a namespace holds more pods than when it last asked."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rescheduler.daemon.triggers.setting import Setting
from rescheduler.extension_points import Trigger
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.policy.fields.policy_model import PolicyModel


class NamespaceGrewArgs(PolicyModel):
    """When a namespace has grown."""

    namespace: str
    """Which one."""
    pods: Annotated[int, Field(ge=1)] = 10
    """By how many pods since it last asked."""


class NamespaceGrew(Trigger):
    """Asks when a namespace holds more pods, by so many, than when it last asked."""

    name = "NamespaceGrew"
    arguments = NamespaceGrewArgs

    def __init__(self, args: NamespaceGrewArgs, setting: Setting) -> None:  # noqa: ARG002 - one signature for all
        self._args = args
        self._before: int | None = None

    @classmethod
    def sentence(cls, args: NamespaceGrewArgs) -> str:
        """For ``check``, after "runs a round"."""
        return f"when namespace {args.namespace} has grown by {args.pods} pods"

    def look(self, sight: Sight) -> Occasion | None:
        """Compare with what was there when it last asked; the first look only remembers."""
        namespace = self._args.namespace
        found = sum(pod.namespace == namespace for pod in sight.cluster.pods)
        if self._before is None or found < self._before:
            self._before = found
        if found - self._before < self._args.pods:
            return None
        reason = f"namespace {namespace} grew from {self._before} to {found} pods"
        self._before = found
        return Occasion(self.name, reason, sight.cluster.taken_at)

    def wake_at(self, now: float) -> float | None:  # noqa: ARG002 - it matters only when something changes
        """Never."""
        return None

    def answered(self, report: RoundReport) -> None:
        """What came of a round changes nothing here."""
