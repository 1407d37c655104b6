"""What ours must reach beside the descheduler, judged from the rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from benchmarks.side_by_side.contenders import STOCK
from benchmarks.side_by_side.rows import Row

LONGEST_CYCLE_SECONDS: Final = 10.0
MOST_MEGABYTES: Final = 1000.0
ABOVE_LEAST: Final = 1.1
SHARE_OF_THEIRS: Final = 0.5


class Goal(NamedTuple):
    """One thing to reach, and whether it was."""

    what: str
    found: str
    is_reached: bool


def goals(scenario: str, rows: Sequence[Row]) -> list[Goal]:
    """The goals of one kind of cluster; ``rows`` are the sums, one for each contender and way of scheduling."""
    found: list[Goal] = []
    for ours in rows:
        if ours.is_ours:
            peers = [row for row in rows if not row.is_ours and row.scheduler == ours.scheduler]
            found.extend(_of(scenario, ours, peers))
    return found


def _of(scenario: str, ours: Row, peers: Sequence[Row]) -> Iterator[Goal]:
    """What holds everywhere, and what counts on this kind of cluster."""
    yield Goal("no refusals by budgets", f"{ours.refused_by_budget}", ours.refused_by_budget == 0)
    yield Goal("no pod comes back to its node", f"{ours.returned}", ours.returned == 0)
    yield Goal("no cycle fails", f"{ours.failed_cycles}", ours.failed_cycles == 0)
    yield from {"consolidation": _consolidation, "spreading": _spreading, "pending": _pending}[scenario](ours, peers)
    yield _at_most("longest cycle, s", ours.longest_cycle_seconds, LONGEST_CYCLE_SECONDS)
    yield _at_most("peak MB", ours.peak_megabytes, MOST_MEGABYTES)


def _consolidation(ours: Row, peers: Sequence[Row]) -> Iterator[Goal]:
    """More nodes than any, for at most half the evictions each; a packing scheduler helps both, so there: for fewer."""
    for peer in peers:
        name = f"{peer.contender}, {peer.scheduler} scheduler"
        yield Goal(
            f"more nodes emptied than {name}", f"{ours.emptied} against {peer.emptied}", ours.emptied > peer.emptied
        )
        if peer.evicted:
            share = SHARE_OF_THEIRS if peer.scheduler == STOCK else 1.0
            yield _at_most(f"evictions per node beside {name}", ours.evicted_per_node, share * peer.evicted_per_node)
    if ours.least_to_empty is not None:
        yield _at_most("evictions, 1.1 times the least", ours.evicted, ABOVE_LEAST * ours.least_to_empty)


def _spreading(ours: Row, peers: Sequence[Row]) -> Iterator[Goal]:
    for peer in peers:
        yield _at_most(f"overload left, as {peer.contender}", ours.overload, peer.overload)
        is_less = ours.evicted_per_overload < peer.evicted_per_overload
        found = f"{ours.evicted_per_overload:.2f} against {peer.evicted_per_overload:.2f}"
        yield Goal(f"fewer evictions per overload than {peer.contender}", found, is_less)
    if ours.least_to_relieve is not None:
        yield _at_most("evictions, 1.1 times the least", ours.evicted, ABOVE_LEAST * ours.least_to_relieve)


def _pending(ours: Row, peers: Sequence[Row]) -> Iterator[Goal]:
    for peer in peers:
        yield Goal(
            f"fewer pending than {peer.contender}",
            f"{ours.pending} against {peer.pending}",
            ours.pending < peer.pending,
        )
        if peer.evicted:
            is_less = ours.evicted_per_helped < peer.evicted_per_helped
            found = f"{ours.evicted_per_helped:.2f} against {peer.evicted_per_helped:.2f}"
            yield Goal(f"fewer evictions for each pod helped than {peer.contender}", found, is_less)


def _at_most(what: str, found: float, limit: float) -> Goal:
    return Goal(what, f"{found:.2f}, at most {limit:.2f}", found <= limit)
