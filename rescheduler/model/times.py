"""Times as Kubernetes writes them, and as people write them into annotations and policies."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

_LONGEST_TEXT = 64


@lru_cache(maxsize=65536)
def read_time(text: str | None) -> float | None:
    """Seconds since the epoch of an RFC 3339 time; None for a text that is none, or that names no zone."""
    if not text or len(text) > _LONGEST_TEXT or "T" not in text.upper():
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
        return None if moment.tzinfo is None else moment.timestamp()
    except (ValueError, OverflowError):
        return None


def rfc3339(seconds: float, timespec: str = "seconds") -> str:
    """RFC 3339 in UTC, to ``timespec`` as ``datetime.isoformat`` knows it.

    Raises OverflowError, OSError or ValueError for a time that no calendar has.
    """
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec=timespec).replace("+00:00", "Z")
