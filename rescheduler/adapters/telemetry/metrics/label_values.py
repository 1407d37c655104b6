"""Keeps the number of label values small, whatever is told: a metric must not grow with the cluster."""

from __future__ import annotations

import threading
from typing import Final

from rescheduler.adapters.telemetry.redaction import Hide
from rescheduler.model.printable import printable

MOST_VALUES: Final = 64
"""Of one label; the longest list that is meant, the rules that refuse, has about half as many."""
LONGEST: Final = 80
"""Characters of one value."""
OTHER: Final = "other"
NONE: Final = "none"


class LabelValues:
    """The values of one label: the first so many that come, everything after them is ``other``."""

    def __init__(self, hide: Hide = str, most: int = MOST_VALUES) -> None:
        """``hide`` takes out secrets."""
        self._hide = hide
        self._most = most
        self._seen: set[str] = set()
        self._lock = threading.Lock()

    def of(self, value: str) -> str:
        """The value to write."""
        text = printable(self._hide(value), LONGEST) or NONE
        with self._lock:
            if text in self._seen:
                return text
            if len(self._seen) >= self._most:
                return OTHER
            self._seen.add(text)
            return text
