"""Chooses, among several ways to ask for a metric, the first that covers the nodes; remembers it, and looks again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

PROBE_SECONDS: Final = 300.0
"""How long a way that does not cover enough is put up with before all are tried again."""
NOTHING_SECONDS: Final = 30.0
"""The same for one that covers next to nothing, as when the source has just started."""
ENOUGH: Final = 0.9
"""Share of what was asked for that a way must cover to be taken without looking further."""
_NEXT_TO_NOTHING: Final = 0.001

Way = TypeVar("Way")
Found = TypeVar("Found")


class Choice(NamedTuple, Generic[Way, Found]):
    """A way, what it gave, and the share of what was asked for that it covers."""

    way: Way
    found: Found
    share: float


class Probing(Generic[Way, Found]):
    """One for each source; remembers by metric."""

    def __init__(self, ways: Mapping[str, Sequence[Way]]) -> None:
        self._ways = ways
        self._chosen: dict[str, int] = {}
        self._probed_at: dict[str, float] = {}

    def ask(self, metric: str, run: Callable[[Way], Choice[Way, Found]], now: float) -> Choice[Way, Found]:
        """The answer of the best way; all others are tried only where it covers too little, and not at every call."""
        ways = self._ways[metric]
        at = self._chosen.get(metric)
        kept = run(ways[at]) if at is not None else None
        if kept is not None:
            patience = PROBE_SECONDS if kept.share > _NEXT_TO_NOTHING else NOTHING_SECONDS
            if kept.share >= ENOUGH or abs(now - self._probed_at[metric]) < patience:
                return kept
        best, chosen = kept, at or 0
        for place, way in enumerate(ways):
            if best is not None and best.share >= ENOUGH:
                break
            if place == at:
                continue
            tried = run(way)
            if best is None or tried.share > best.share:
                best, chosen = tried, place
        if best is None:
            raise ValueError(f"no way to ask for {metric}")
        self._chosen[metric], self._probed_at[metric] = chosen, now
        return best

    def forget(self) -> None:
        """Try all ways again at the next call."""
        self._chosen.clear()
