"""Empties as many nodes as can be found, and then spends few moves on it."""

from __future__ import annotations

from math import ceil

import numpy as np

from benchmarks.packing.fewest_moves import Emptying
from benchmarks.packing.kept_types import KeptTypes, KeptTypesProgram
from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.planning.objectives.empty_nodes.repacking.drainage import Drainage
from rescheduler.planning.objectives.empty_nodes.repacking.mending import bring_home, mend
from rescheduler.planning.objectives.empty_nodes.repacking.repacking import seat_by_alignment
from rescheduler.planning.objectives.empty_nodes.repacking.seating import Seating
from rescheduler.planning.problem.deadline import Deadline

_FIRST_SPARE = 0.02
_FINEST_SPARE = 0.001
_LARGEST_SPARE = 0.64
_FIRST_RELEASE = 0.0625
_FEW, _FEW_SHARE = 3, 0.002
_SHARE_OF_MENDING = 0.2
_SHARE_OF_THE_LEAST = 0.15
_SHARE_OF_SEATING = 0.75
_SHARE_OF_SEARCH = 0.95


def empty_most_nodes(drainage: Drainage, deadline: Deadline, seed: int) -> tuple[Emptying | None, int]:
    """The best found, and how many nodes any plan can leave empty at most (those empty already included).

    The linear program says which types to keep; the share of room that it leaves spare is lowered by bisection for as
    long as all pods still find seats.
    """
    program = KeptTypesProgram(drainage)
    whole = program.solve(0.0, fills_empty=True)
    if whole is None:
        return None, 0
    bound = drainage.node_count - ceil(whole.total - 1e-6)
    random = np.random.default_rng(seed)
    best = _least_spare(drainage, program, deadline.part(_SHARE_OF_SEATING), random)
    if best is None:
        return None, bound
    bring_home(best, deadline.part(_SHARE_OF_SEARCH), random)
    return _emptying(best), bound


def _least_spare(
    drainage: Drainage, program: KeptTypesProgram, deadline: Deadline, random: np.random.Generator
) -> Seating | None:
    """Everybody seated on as few nodes as could be found."""
    best = _seated(drainage, program.solve(0.0, fills_empty=False), deadline.part(_SHARE_OF_THE_LEAST), random)
    if best is not None:
        return best
    least, most = 0.0, _FIRST_SPARE
    while best is None and most <= _LARGEST_SPARE and not deadline.is_over():
        best = _seated(drainage, program.solve(most, fills_empty=False), deadline, random)
        if best is None:
            least, most = most, most * 2
    while best is not None and most - least > _FINEST_SPARE and not deadline.is_over():
        middle = (least + most) / 2
        found = _seated(drainage, program.solve(middle, fills_empty=False), deadline, random)
        if found is None:
            least = middle
        else:
            best, most = found, middle
    return best


def _emptying(seating: Seating) -> Emptying:
    home = seating.drainage.home
    emptied = np.flatnonzero(seating.is_emptied)
    return Emptying(tuple(emptied.tolist()), seating.node_of.copy(), int((seating.node_of != home).sum()))


def _seated(
    drainage: Drainage, types: KeptTypes | None, deadline: Deadline, random: np.random.Generator
) -> Seating | None:
    """Everybody seated on the kept types, or None; where needed, pods of ever more kept nodes are seated anew."""
    if types is None:
        return None
    emptied = _with_fewest_pods(drainage, types)
    release = 0.0
    while not deadline.is_over():
        seating = Seating(drainage, emptied)
        seat_by_alignment(seating)
        if release and seating.unseated:
            _release(seating, release)
            seat_by_alignment(seating)
        few = len(seating.unseated) <= _FEW + _FEW_SHARE * len(drainage.home)
        if few and mend(seating, len(drainage.home), deadline.part(_SHARE_OF_MENDING), random):
            return seating
        if release >= 1.0:
            return None
        release = min(1.0, release * 4 or _FIRST_RELEASE)
    return None


def _with_fewest_pods(drainage: Drainage, types: KeptTypes) -> list[int]:
    """Nodes to empty: of each type those with the fewest pods."""
    pods_on = drainage.pods_on
    emptied: list[int] = []
    for kind, kept in enumerate(types.kept):
        nodes = np.flatnonzero(types.type_of == kind)
        keep = min(len(nodes), ceil(kept - 1e-6))
        order: IntArray = np.lexsort((nodes, -pods_on[nodes], drainage.can_be_emptied[nodes]))
        emptied += nodes[order][keep:].tolist()
    return sorted(emptied)


def _release(seating: Seating, share: float) -> None:
    """Take everybody off who had to move, and the pods of the nodes whose free room fits together worst."""
    natives = seating.kept
    imbalance = seating.free[natives] * seating.weight
    unfit = imbalance.max(axis=1) - imbalance.min(axis=1)
    chosen = natives[np.argsort(-unfit, kind="stable")[: ceil(share * len(natives))]]
    is_chosen = np.isin(seating.node_of, chosen) | ~seating.is_native
    for pod in np.flatnonzero(is_chosen & (seating.node_of != NOWHERE)).tolist():
        seating.seat(pod, NOWHERE)
