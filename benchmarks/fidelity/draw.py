"""Random choices from a seed, with a density that makes constraints rarer in some worlds than in others."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeVar

T = TypeVar("T")
Manifest = dict[str, Any]

DENSITIES = (100, 60, 30, 15, 15)
"""Percent of the usual constraints; few of them leave many nodes to score, many leave none."""


class Draw:
    """Random pieces from one seed; the same seed gives the same pieces."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.density = self.random.choice(DENSITIES)

    def one(self, choices: Any) -> Any:
        """One of the choices."""
        return self.random.choice(choices)

    def number(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return self.random.randint(low, high)

    def chance(self, percent: int) -> bool:
        """True that often."""
        return self.random.randrange(100) < percent

    def seldom(self, percent: int) -> bool:
        """True that often in a dense world, less in others."""
        return self.random.randrange(10_000) < percent * self.density

    def some(self, make: Callable[[], T], most: int = 2, percent: int = 40) -> list[T]:
        """A short list, most often empty, rarer in a world that is not dense."""
        return [make() for _ in range(self.number(1, most))] if self.seldom(percent) else []
