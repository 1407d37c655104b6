"""What a replay says beside what was played, as sums over all steps, and where they are further apart than promised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from benchmarks.replayed_days.playing import PlayedHistory

EVICTIONS, NODES_EMPTIED, PENDING = "evictions", "nodes emptied", "pending minutes"
TOLERANCES: Final[Mapping[str, float]] = {EVICTIONS: 0.05, NODES_EMPTIED: 0.05, PENDING: 0.15}


class Sums(NamedTuple):
    """Of all steps; ``in_use`` in the mean."""

    evictions: float
    emptied: float
    in_use: float
    pending_minutes: float

    def value(self, name: str) -> float:
        """One that is promised."""
        return {EVICTIONS: self.evictions, NODES_EMPTIED: self.emptied, PENDING: self.pending_minutes}[name]


def played_sums(played: PlayedHistory) -> Sums:
    """Waits that ended within their step are the control plane's own and stand apart."""
    steps = played.steps
    return Sums(
        sum(step.evictions for step in steps),
        sum(step.in_use_before - step.in_use for step in steps),
        round(sum(step.in_use for step in steps) / len(steps), 2),
        round(played.waits.whole_steps, 1),
    )


def foretold_sums(rows: Sequence[Mapping[str, Any]]) -> Sums:
    """The rows of one policy."""
    return Sums(
        sum(row["evictions"] for row in rows),
        sum(row["nodesEmptied"] for row in rows),
        round(sum(row["nodesInUse"] for row in rows) / len(rows), 2),
        round(sum(row["pendingMinutes"] for row in rows), 1),
    )


def mean_of(draws: Sequence[Sums]) -> Sums:
    """Of one history, foretold by several draws of what chance decides."""
    return Sums(*(round(sum(amounts) / len(draws), 2) for amounts in zip(*draws, strict=True)))


def together(histories: Sequence[Sums]) -> Sums:
    """Of several histories."""
    evictions, emptied, in_use, pending = (sum(amounts) for amounts in zip(*histories, strict=True))
    return Sums(round(evictions, 2), round(emptied, 2), round(in_use / len(histories), 2), round(pending, 1))


def apart(foretold: Sums, played: Sums) -> dict[str, float]:
    """By how large a share of what was played each forecast is off."""
    found = {}
    for name in TOLERANCES:
        wanted, said = played.value(name), foretold.value(name)
        found[name] = 0.0 if wanted == said else round((said - wanted) / wanted, 3) if wanted else float("inf")
    return found


def broken(foretold: Sums, played: Sums) -> list[str]:
    """Promises that do not hold, in words."""
    return [
        f"{name}: foretold {foretold.value(name):g}, played {played.value(name):g}: {off:+.1%} is more than"
        f" {TOLERANCES[name]:.0%}"
        for name, off in apart(foretold, played).items()
        if abs(off) > TOLERANCES[name]
    ]
