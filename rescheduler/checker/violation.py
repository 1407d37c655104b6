"""What a check finds wrong in a plan."""

from __future__ import annotations

from msgspec import Struct


class Violation(Struct, frozen=True):
    """One broken promise. ``rule`` names the predicate or limit; ``message`` names the objects.

    ``pod``: key of the one whose arrival or departure breaks it, and without whom it would be kept; None: it is not
    one pod's alone.
    """

    rule: str
    message: str
    pod: str | None = None
