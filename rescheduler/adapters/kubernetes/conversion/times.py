"""Times as Kubernetes writes them."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache


@lru_cache(maxsize=65536)
def parse_time(text: str | None) -> float | None:
    """Seconds since the epoch of an RFC 3339 time; None for a text that is none, or that names no zone."""
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
        return None if moment.tzinfo is None else moment.timestamp()
    except (ValueError, OverflowError):
        return None
