"""Asks a component's health endpoint whether it is ready."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import urllib3


def healthy(url: str, authority: Path | None = None) -> Callable[[], bool]:
    """Return a question: does this address answer 200?"""

    # The authority is read at the first question: its file may not be written yet.
    def ask() -> bool:
        with urllib3.PoolManager(
            ca_certs=str(authority) if authority else None, retries=False, timeout=urllib3.Timeout(2.0)
        ) as pool:
            try:
                return pool.request("GET", url).status == 200
            except (urllib3.exceptions.HTTPError, OSError):
                return False

    return ask
