"""What makes a daemon run a round: triggers by name, each with its own arguments."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from rescheduler.policy.fields.policy_model import PolicyModel
from rescheduler.policy.fields.values import format_duration
from rescheduler.policy.plugins import known_in


class TriggerEntry(PolicyModel):
    """One trigger; each of them is enough for a round."""

    name: Annotated[str, known_in("triggers")]
    """Which one; docs/triggers.md says what each does."""
    args: dict[str, Any] = Field(default_factory=dict)
    """Its arguments."""


DEFAULT_TRIGGERS: Final = (TriggerEntry(name="Schedule", args={"every": "5m"}), TriggerEntry(name="OnDemand"))
"""Of a policy that names none."""


def every(seconds: float) -> tuple[TriggerEntry, ...]:
    """The same at another interval."""
    return TriggerEntry(name="Schedule", args={"every": format_duration(seconds)}), TriggerEntry(name="OnDemand")
