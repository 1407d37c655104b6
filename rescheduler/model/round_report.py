"""What one round of a daemon was: why it ran, what it planned, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rescheduler.model.occasions import Occasion
from rescheduler.model.plan import Plan, PlanResult


@dataclass(frozen=True)
class RoundReport:
    """One round. Times in seconds since the epoch.

    ``mode``: the policy's when it ran. ``plan`` None: none could be made. ``result`` None: nothing was carried out;
    ``reason`` says why nothing, or no more, was, "" if the plan was carried out whole. ``seconds``: by step.
    ``approved_by``: who said yes under mode Approve.
    ``is_held``: what stood in the way may pass (a freeze, say); the round is tried again.
    """

    number: int
    occasions: tuple[Occasion, ...]
    started_at: float
    ended_at: float
    mode: str
    policy_id: str
    plan_id: str = ""
    plan: Plan | None = None
    result: PlanResult | None = None
    reason: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    approved_by: str = ""
    is_held: bool = False

    @property
    def is_dry_run(self) -> bool:
        """Whether nothing could have been carried out, whatever the plan."""
        return self.mode == "DryRun"
