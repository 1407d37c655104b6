"""Plans in the making: who goes where, and the same once it has an order."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Draft:
    """Where moved pods and helped pods end, without an order. Keys are pod indices, values node indices."""

    moves: dict[int, int] = field(default_factory=dict)
    places: dict[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class WaveSchedule:
    """A draft with an order: waves of (pod, node) moves, and (pod, node, wave) places, free at the end of that wave.

    ``evict_first``: numbers (from 1) of the waves in which all pods leave before any of them arrives.
    """

    waves: tuple[tuple[tuple[int, int], ...], ...] = ()
    places: tuple[tuple[int, int, int], ...] = ()
    evict_first: frozenset[int] = frozenset()

    @property
    def evictions(self) -> int:
        """Number of moves."""
        return sum(map(len, self.waves))

    @property
    def exchanged(self) -> int:
        """Number of moves whose pods are down while others leave."""
        return sum(len(self.waves[number - 1]) for number in self.evict_first)

    @property
    def notes_on_exchanges(self) -> list[str]:
        """What to say of pods that are down while others leave; nothing where there are none."""
        if not self.evict_first:
            return []
        return [f"{self.exchanged} pods leave before they arrive: no order of single moves was found that does as much"]

    @property
    def draft(self) -> Draft:
        """The same without its order."""
        return Draft(
            moves={pod: node for wave in self.waves for pod, node in wave},
            places={pod: node for pod, node, _ in self.places},
        )
