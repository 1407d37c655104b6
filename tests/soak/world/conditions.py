"""What is wrong with the simulated world's components at the moment, and how long things take in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.model.objects.pod import Pod

NEVER_READY, CRASHES, NO_IMAGE, NO_END = "never ready", "crash-loops", "image missing", "ignores SIGTERM"
ILLNESSES = (NEVER_READY, CRASHES, NO_IMAGE)


@dataclass
class Conditions:
    """Changed by world events. Times are true ones.

    ``scheduler``: best, worst, paused. ``stuck``: direct owners (uid) whose pods no scheduler looks at.
    ``blocked``: direct owners whose new pods are refused (quota, webhook). ``illness``: of all new pods of a direct
    owner. ``refusing``: nodes whose kubelet refuses every new pod. ``pod_illness``: of single pods, by uid.
    """

    random: Random
    scheduler: str = "best"
    stuck: dict[str, None] = field(default_factory=dict)
    blocked: dict[str, None] = field(default_factory=dict)
    illness: dict[str, str] = field(default_factory=dict)
    refusing: dict[str, None] = field(default_factory=dict)
    refusals: dict[str, int] = field(default_factory=dict)
    pod_illness: dict[str, str] = field(default_factory=dict)
    budget_lag: float = 0.05
    budgets_return_in: float = 0.0
    share_ill: float = 0.0

    def illness_of(self, pod: Pod) -> str:
        """What a pod suffers from, "" nothing; drawn when it is first asked for."""
        if pod.uid not in self.pod_illness:
            owner = pod.controller.uid if pod.controller is not None else ""
            found = self.illness.get(owner, "")
            if not found and self.random.random() < self.share_ill:
                found = self.random.choice((*ILLNESSES, NO_END))
            self.pod_illness[pod.uid] = found
        return self.pod_illness[pod.uid]

    def startup_seconds(self, pod: Pod) -> float | None:
        """From binding to Ready."""
        ill = self.illness_of(pod) in (NEVER_READY, NO_IMAGE)
        return None if ill else self.random.choice((1.0, 2.0, 2.0, 5.0, 15.0))

    def termination_seconds(self, pod: Pod) -> float:
        """From deletion to its end, as far as the pod's grace allows."""
        return 1e9 if self.illness_of(pod) == NO_END else self.random.choice((0.5, 1.0, 1.0, 10.0, 30.0))

    def lag_seconds(self) -> float:
        """How late the disruption controller is."""
        return max(self.budget_lag, self.budgets_return_in)


@dataclass(frozen=True)
class WorldSettings(SimulationSettings):
    """Settings whose parts ask the conditions."""

    conditions: Conditions = field(default_factory=lambda: Conditions(Random(0)))


def settings_of(conditions: Conditions) -> WorldSettings:
    """The simulation's settings under these conditions."""
    return WorldSettings(
        conditions=conditions,
        startup_seconds=conditions.startup_seconds,
        termination_seconds=conditions.termination_seconds,
        budget_lag_seconds=conditions.lag_seconds,
        api_seconds=0.0,
        hold_seconds=0.0,
        release_seconds=0.0,
    )
