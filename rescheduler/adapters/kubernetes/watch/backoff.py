"""How long to wait before the next try: longer each time, and never the same for two of us."""

from __future__ import annotations

from random import Random


class Backoff:
    """Doubles from ``first`` up to ``longest`` seconds; each wait is between half and one and a half of that."""

    def __init__(self, random: Random, first: float = 0.8, longest: float = 30.0) -> None:
        self._random = random
        self._first, self._longest = first, longest
        self._next = first

    def seconds(self) -> float:
        """The next wait."""
        base, self._next = self._next, min(2 * self._next, self._longest)
        return min(base, self._longest) * self._random.uniform(0.5, 1.5)

    def reset(self) -> None:
        """All is well again."""
        self._next = self._first
