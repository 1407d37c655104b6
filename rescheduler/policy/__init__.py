"""What an operator may ask for, as a strict policy file."""

from __future__ import annotations

from rescheduler.policy.fields.policy import Policy
from rescheduler.policy.reading.errors import PolicyError, ReadingProblem

__all__ = ["Policy", "PolicyError", "ReadingProblem"]
