"""What a policy says to a DeschedulerPolicy that stands beside it."""

from __future__ import annotations

from enum import StrEnum

from rescheduler.policy.fields.policy_model import PolicyModel


class AfterRefusal(StrEnum):
    """What the walk does after our own rules refused a pod that a plugin had chosen."""

    STOP = "Stop"
    NEXT = "Next"


class BesideDescheduler(PolicyModel):
    """How a DeschedulerPolicy is carried out; docs/from-descheduler.md."""

    after_refusal: AfterRefusal = AfterRefusal.STOP
    """Stop: a pod that limits, budgets or rules here refuse stays, and nobody goes in its place. Next: that counts as
    an eviction that failed, and the plugin goes on to its next candidate."""
