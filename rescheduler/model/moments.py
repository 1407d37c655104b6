"""Times that people write into annotations and policies."""

from __future__ import annotations

from datetime import UTC, datetime

_LONGEST_TEXT = 64


def read_moment(text: str) -> float | None:
    """An RFC 3339 time in seconds since the epoch; None where it cannot be read or has no time zone."""
    if len(text) > _LONGEST_TEXT or "T" not in text.upper():
        return None
    try:
        moment = datetime.fromisoformat(text.upper())
    except ValueError:
        return None
    return None if moment.tzinfo is None else (moment - datetime.fromtimestamp(0, UTC)).total_seconds()
