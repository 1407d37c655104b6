"""Benchmark: the share of free cores that no 16-core VM can use, after a limited number of moves.

``python -m benchmarks.fragment_rate --data PATH --max-moves 50 --deadline 5s --seed N -o RESULT.json``. The rate is
(free cores - 16 * sum over NUMA nodes of floor(free / 16)) / free cores.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.command_line import answer, parser_for
from benchmarks.fragments.bounds import most_gain, most_gain_of_anything
from benchmarks.fragments.fragmented import blocks_of
from benchmarks.fragments.greedy_moves import greedy_moves
from benchmarks.fragments.host_changes import Prices
from benchmarks.fragments.item_moves import ItemMove, item_moves
from benchmarks.fragments.most_worth import most_worth
from benchmarks.machine import MonotonicClock, peak_megabytes
from benchmarks.vm_mapping import CORES, VmMapping, read_mapping
from rescheduler.planning.problem.deadline import Deadline

BLOCK = 16
_SHARE_OF_GREEDY = 0.5
"""At most, for an answer to fall back on."""
_SHARE_OF_DEADLINE = 0.75
"""The rest is for ordering moves, for the bound, and for the overshoot of the solver."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; returns the exit code."""
    parser = parser_for("fragment_rate", __doc__, deadline_seconds=5.0)
    parser.add_argument("--max-moves", type=int, default=50, help="limit of moves")
    options = parser.parse_args(arguments)
    return answer(options, read_mapping, lambda found: run(found, options.max_moves, options.deadline))


def run(mapping: VmMapping, most_moves: int, deadline_seconds: float) -> dict[str, Any]:
    """Plan once; value and bound are fragment rates after the moves."""
    started = time.perf_counter()
    deadline = Deadline(MonotonicClock(), deadline_seconds)
    worth = blocks_of(np.array([BLOCK, 0]))
    first = greedy_moves(mapping.problem, worth, most_moves, mapping.items, deadline.part(_SHARE_OF_GREEDY))
    prices, moves = None, first
    if not deadline.is_over():
        chosen, columns = most_worth(mapping.problem, worth, most_moves, deadline.part(_SHARE_OF_DEADLINE))
        prices, best = chosen.prices, item_moves(mapping.problem, columns, chosen.changes, mapping.items)
        moves = min(best, first, key=lambda found: (rate_after(mapping, found), len(found)))
    bound = _largest_gain(mapping, prices, most_moves, deadline)
    seconds = time.perf_counter() - started
    return {
        "instance": mapping.name,
        "seconds": round(seconds, 4),
        "peakMegabytes": peak_megabytes(),
        "value": rate_after(mapping, moves),
        "bound": _rate(mapping.problem.free[..., CORES], bound),
        "result": {
            "moves": [[mapping.vm_names[move.item], mapping.host_names[move.host], move.compartment] for move in moves]
        },
    }


def rate_after(mapping: VmMapping, moves: Sequence[ItemMove]) -> float:
    """Carry the moves out and compute the rate anew."""
    cores = mapping.problem.free[..., CORES].copy()
    items = {item.number: item for item in mapping.items}
    for move in moves:
        item = items[move.item]
        size = mapping.problem.request[item.kind, CORES]
        cores[item.host, _index(item.compartment)] += size
        cores[move.host, _index(move.compartment)] -= size
    return _rate(cores, 0)


def _index(compartment: int) -> int | slice:
    return slice(None) if compartment < 0 else compartment


def _rate(cores: np.ndarray, more_blocks: int) -> float:
    total = int(cores.sum())
    return 0.0 if total == 0 else (total - BLOCK * (int((cores // BLOCK).sum()) + more_blocks)) / total


def _largest_gain(mapping: VmMapping, prices: Prices | None, most_moves: int, deadline: Deadline) -> int:
    simple = most_gain_of_anything(mapping.problem, CORES, BLOCK, most_moves)
    if prices is None:
        return simple
    priced = most_gain(mapping.problem, CORES, BLOCK, most_moves, prices, deadline)
    return simple if priced is None else min(simple, priced)


if __name__ == "__main__":
    raise SystemExit(main())
