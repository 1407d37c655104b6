"""Waiting until something is so, with a reason when it does not come."""

from __future__ import annotations

import time
from collections.abc import Callable

POLL_SECONDS = 0.05
MOST_POLL_SECONDS = 1.0


def wait_until(is_so: Callable[[], bool], what: Callable[[], str] | str, *, timeout_seconds: float = 60.0) -> None:
    """Poll until a condition holds; else raise TimeoutError with what was awaited, described at the end."""
    deadline = time.monotonic() + timeout_seconds
    asked = time.monotonic()
    while not is_so():
        answered = time.monotonic()
        if answered > deadline:
            text = what if isinstance(what, str) else what()
            raise TimeoutError(f"waited {timeout_seconds:g} s in vain for {text}")
        # A costly question is asked less often: looking must not slow down what is looked at.
        time.sleep(min(max(POLL_SECONDS, answered - asked), MOST_POLL_SECONDS))
        asked = time.monotonic()
