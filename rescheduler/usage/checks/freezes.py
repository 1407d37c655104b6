"""Why nothing may move by usage for one window."""

from __future__ import annotations

from typing import NamedTuple


class Freeze(NamedTuple):
    """What was found, and when; it holds for one window from then."""

    at: float
    reason: str
