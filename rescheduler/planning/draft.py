"""Plans in the making: who goes where, and the same once it has an order."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Draft:
    """Where moved pods and helped pods end, without an order. Keys are pod indices, values node indices."""

    moves: dict[int, int] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Schedule:
    """A draft with an order: waves of (pod, node) moves, and (pod, node, wave) places, free at the end of that wave."""

    waves: tuple[tuple[tuple[int, int], ...], ...] = ()
    places: tuple[tuple[int, int, int], ...] = ()

    @property
    def evictions(self) -> int:
        """Number of moves."""
        return sum(map(len, self.waves))

    @property
    def draft(self) -> Draft:
        """The same without its order."""
        return Draft(
            moves={pod: node for wave in self.waves for pod, node in wave},
            places={pod: node for pod, node, _ in self.places},
        )
