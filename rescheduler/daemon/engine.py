"""What one policy makes of the daemon; put together anew when another policy comes in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from rescheduler.daemon.rounds import Rounds
from rescheduler.model.cluster import Cluster
from rescheduler.model.occasions import AutoscalerNotice, Occasion, Sight
from rescheduler.model.round_report import RoundReport
from rescheduler.model.usage import UsageWindows
from rescheduler.policy.models import Policy
from rescheduler.scheduling.schedulers import Schedulers


class Asks(Protocol):
    """All triggers of a policy."""

    def look(self, sight: Sight, now: float | None = None) -> Sequence[Occasion]:
        """What the triggers ask for; ``now``: by the loop's clock, which need not be the server's."""

    def wake_at(self, now: float) -> float | None:
        """When one of them wants to be asked though nothing changes."""

    def answered(self, report: RoundReport) -> None:
        """What became of a round."""


class HandsOver(Protocol):
    """What is left to an autoscaler."""

    def look(self, cluster: Cluster, notices: Sequence[AutoscalerNotice] = ()) -> None:
        """Take in a snapshot and what the autoscaler has said."""

    def after(self, report: RoundReport, cluster: Cluster) -> None:
        """Ask for room where no rearrangement helps; offer nodes that were emptied."""


class Measures(Protocol):
    """Measured load while the daemon runs."""

    def windows(self, cluster: Cluster) -> UsageWindows | None:
        """Load of a snapshot's nodes and pods; None where nothing is measured."""

    def stop(self) -> None:
        """Collect no more."""


class Values(Protocol):
    """What the policy's objectives are worth."""

    def __call__(self, cluster: Cluster) -> Mapping[str, float]:
        """Each objective's value as a snapshot stands, lower is better."""


@dataclass(frozen=True)
class Engine:
    """Everything that depends on the policy. ``policy_id``: the beginning of its sha256."""

    policy: Policy
    policy_id: str
    schedulers: Schedulers
    rounds: Rounds
    asking: Asks
    hand_over: HandsOver
    load: Measures
    values: Values
