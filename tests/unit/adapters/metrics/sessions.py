"""Sessions for tests."""

from __future__ import annotations

from typing import Any

from rescheduler.adapters.metrics.http.http_session import HttpSession, http_session
from rescheduler.policy.fields.metrics_access import HttpAccess


def session_to(address: str, most_bytes: int = 10**6, **access: Any) -> HttpSession:
    """A session with a time-out of half a second."""
    read = HttpAccess.model_validate({"timeout": "500ms", **access})
    return http_session(read, None, provider="Source", address=address, most_bytes=most_bytes)
