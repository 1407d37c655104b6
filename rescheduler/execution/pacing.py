"""How fast a run may ask the API server: where it asked for much, it looks less often and begins no further move."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

WINDOW_SECONDS: Final = 60.0
BRISK: Final = 420
"""Up to so many requests within the window nothing is slowed down; beyond, no further move is begun."""
MOST: Final = 540
"""Looks never bring it to more. Ten a second on average may be sent; what is left is for what cannot wait."""
LONGEST_SECONDS: Final = 5.0
"""No look waits longer for this."""


class RequestPace:
    """``asked``: how many requests were sent within the window; whoever need not be paced has none counted."""

    def __init__(self, asked: Callable[[], int] = lambda: 0) -> None:
        self.asked = asked

    @property
    def is_hurried(self) -> bool:
        """Whether so much was asked that whatever can wait should."""
        return self.asked() > BRISK

    def pause(self, before: int) -> float:
        """How long to wait after a look, before which ``before`` requests were counted.

        Looks as dear as this one, each after such a pause, use up within a window what is left of it.
        """
        now = self.asked()
        if now <= BRISK:
            return 0.0
        return min(LONGEST_SECONDS, max(1, now - before) * WINDOW_SECONDS / max(1, MOST - now))
