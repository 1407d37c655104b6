"""The record by which several processes agree on who leads, as a Lease holds it."""

from __future__ import annotations

from typing import NamedTuple

RELEASED_SECONDS = 1
"""The duration in a record that its holder has given up; nobody has to wait for it."""


class LeaseRecord(NamedTuple):
    """``holder``: "" for nobody. ``duration_seconds``: how long others wait after a change, 0 where it does not say.

    ``acquired_at``, ``renewed_at``: by the holder's clock, seconds since the epoch, for people only. ``transitions``:
    how often the holder has changed.
    """

    holder: str
    duration_seconds: int
    acquired_at: float | None = None
    renewed_at: float | None = None
    transitions: int = 0

    @property
    def is_released(self) -> bool:
        """Whether its holder gave it up; a record that somebody else has emptied does not look like that."""
        return not self.holder and self.duration_seconds == RELEASED_SECONDS


class LeaseReading(NamedTuple):
    """A record as it stands. ``version`` changes with every write of anybody."""

    record: LeaseRecord
    version: str
