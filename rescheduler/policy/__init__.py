"""What an operator may ask for, as a strict policy file."""

from __future__ import annotations

from rescheduler.policy.errors import PolicyError, Problem
from rescheduler.policy.models import Policy

__all__ = ["Policy", "PolicyError", "Problem"]
