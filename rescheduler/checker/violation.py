"""What a check finds wrong in a plan."""

from __future__ import annotations

from msgspec import Struct


class Violation(Struct, frozen=True):
    """One broken promise. ``rule`` names the predicate or limit; ``message`` names the objects."""

    rule: str
    message: str
