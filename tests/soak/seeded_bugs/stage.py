"""The runs in which seeded bugs are looked for: small, busy clusters under policies that let much happen."""

from __future__ import annotations

from typing import Any

from tests.soak.run_settings import RunSettings
from tests.soak.seeded_bugs.seams import SeededBug
from tests.soak.world.lies import USAGE

OFF = (
    "settle: 0s, headRoom: 0%, unreadyNodes: 0%, unreadyInZone: 0%, changedNodes: 0%, pendingRising: 0s, "
    "apiErrors: 0%, apiLatency: 0s, watchAge: 0s, clockOffset: 0s, schedulerSilent: 0s, replacedWithin: 0s, calm: 0s"
)
BUSY: dict[str, Any] = {
    "hours": 2.0, "nodes": 8, "zones": 2, "planner": "adversary", "has_proof": False, "malice": 0.3, "processes": 1,
    "world_pace": 1.0, "share_ill": 0.02, "fault_rate": 0.01, "episodes": 0.5, "kills": 0.5, "round_seconds": 45.0,
}  # fmt: skip


def settings_of(bug: SeededBug, seed: int) -> RunSettings:
    """A busy run, with what this bug needs to show."""
    usage = USAGE if bug.settings.get("is_measured") else ""
    return RunSettings(**{**BUSY, **bug.settings, "seed": seed, "policy": policy_text(bug) + usage})


def policy_text(bug: SeededBug) -> str:
    """Everything that would slow the run down is off, unless the bug is about it."""
    lines = dict(_fields(
        "workloads: {maxUnavailable: 25%}; breaker: {failures: 0}; "
        "backOff: {first: 1s, longest: 1s, rest: 0s, perDay: 0}; unsettled: Allow; rampUp: unlimited; "
        "rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited}"
    ))  # fmt: skip
    lines.update(_fields(bug.policy))
    health = {**dict(_pairs(OFF)), **dict(_pairs(bug.health))}
    top = {
        "mode": "Execute", "guidance": "Predict", "scope": "{minimumAge: 0s}",
        **dict(_fields(bug.top)),
    }  # fmt: skip
    return "\n".join(
        [
            "apiVersion: rescheduler/v1alpha1",
            "kind: ReschedulerPolicy",
            "metadata: {name: seeded}",
            *(f"{name}: {value}" for name, value in top.items()),
            "disruption:",
            *(f"  {name}: {value}" for name, value in lines.items()),
            "health: {" + ", ".join(f"{name}: {value}" for name, value in health.items()) + "}",
            "",
        ]
    )


def _fields(text: str) -> list[tuple[str, str]]:
    """Fields with their values, written with semicolons between them."""
    return [_split(part) for part in text.split("; ") if part]


def _pairs(text: str) -> list[tuple[str, str]]:
    return [_split(part) for part in text.split(", ") if part]


def _split(text: str) -> tuple[str, str]:
    name, _, value = text.partition(": ")
    return name.strip(), value.strip()
