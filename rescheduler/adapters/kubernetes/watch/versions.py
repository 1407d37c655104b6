"""The newest version of a list that was seen: no list that is older may take its place."""

from __future__ import annotations

from typing import Final

from rescheduler.extension_points import Clock, ClusterError
from rescheduler.model.objects.resource_version import number_of

PATIENCE_SECONDS: Final = 900.0
"""A server that lags behind has caught up by then; an older state that is still served is what there is (a restored
backup)."""


class Versions:
    """Versions are compared where they are numbers, as etcd's are."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._newest = 0
        self._older_since: float | None = None

    def saw(self, version: str) -> None:
        """An answer was of this version."""
        number = number_of(version)
        if number is not None and number > self._newest:
            self._newest = number

    def refuse_older(self, version: str, what: str) -> None:
        """Raise ClusterError for a list of an older version, until the server has kept to it for long.

        ``what``: server and list, for people.
        """
        number, now = number_of(version), self._clock.monotonic()
        if number is None or number >= self._newest:
            self._older_since = None
            return
        if self._older_since is None:
            self._older_since = now
        if now - self._older_since < PATIENCE_SECONDS:
            raise ClusterError(
                f"{what}: the server shows version {number}, older than version {self._newest} that it has shown "
                f"before; it is not believed for {PATIENCE_SECONDS / 60:.0f} minutes"
            )
        self._newest, self._older_since = number, None


def is_older(version: str, other: str) -> bool:
    """Whether a version is older than another; False where they cannot be compared."""
    mine, theirs = number_of(version), number_of(other)
    return mine is not None and theirs is not None and mine < theirs
