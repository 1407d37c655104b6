"""Chooses changes of hosts that make free room worth the most, within a limit of moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.fragments.column_master import ColumnMaster
from benchmarks.fragments.fragmented import Fragmented, Worth
from benchmarks.fragments.host_changes import HostChange, HostChanges, Prices
from rescheduler.planning.problem.deadline import Deadline

_MOST_ROUNDS = 60
_COLUMNS_A_ROUND = 3
_LEAST_GAIN = 1e-6
_SHARE_OF_PRICING = 0.5


class ChosenChanges(NamedTuple):
    """``changes`` to make, what they are worth (``gain``), and the prices at which no further column was wanted."""

    changes: tuple[HostChange, ...]
    gain: int
    prices: Prices | None


def most_worth(
    problem: Fragmented, worth: Worth, most_moves: int, deadline: Deadline
) -> tuple[ChosenChanges, HostChanges]:
    """Column generation (after Gilmore and Gomory): columns are added as long as one is worth more than its price."""
    columns = HostChanges(problem, worth)
    master = ColumnMaster(len(problem.free), len(problem.request), most_moves)
    kept: dict[HostChange, None] = {}
    for column in columns.singles():
        if deadline.is_over():
            return ChosenChanges((), 0, None), columns
        _add(master, columns, kept, column)
    if not kept or most_moves <= 0:
        return ChosenChanges((), 0, None), columns
    prices = None
    pricing = deadline.part(_SHARE_OF_PRICING)
    for _ in range(_MOST_ROUNDS):
        if pricing.is_over():
            break
        duals = master.prices()
        prices = Prices(duals.move, duals.kind)
        total, chosen = columns.best(prices)
        excess = total - duals.owner[:, None]
        new = 0
        for host in np.flatnonzero(excess.max(axis=1) > _LEAST_GAIN).tolist():
            for wide in np.argsort(-excess[host], kind="stable")[:_COLUMNS_A_ROUND].tolist():
                if excess[host, wide] > _LEAST_GAIN:
                    narrow = tuple(chosen[columns.look_of[host, wide]].tolist())
                    new += _add(master, columns, kept, HostChange(host, wide, narrow))
        if not new:
            break
    names = list(kept)
    taken = () if deadline.is_over() else tuple(names[number] for number in master.choose(deadline.remaining()))
    return ChosenChanges(taken, sum(map(columns.worth_of, taken)), prices), columns


def _add(master: ColumnMaster, columns: HostChanges, kept: dict[HostChange, None], column: HostChange) -> bool:
    if column in kept:
        return False
    kept[column] = None
    master.add(
        value=columns.worth_of(column),
        moves=columns.moves_of(column),
        net=columns.net_of(column),
        owner=column.host,
    )
    return True
