"""Improves a placement round by round: options of nodes, the best choice among them, and an order for its moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.defragment.choosing import Greedy, chosen_seats
from rescheduler.planning.objectives.defragment.kinds import MovableKinds
from rescheduler.planning.objectives.defragment.options import Option, Options
from rescheduler.planning.objectives.defragment.situation import DefragmentSituation, Seat
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import EVICTION_COST
from rescheduler.planning.search.arranging import arrange
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.solvers.loading import may_use_programmes
from rescheduler.planning.waves.waves import GroupsOfPods

_MOST_ROUNDS = 8
_MOST_TARGETS = 600
_TARGETS_A_MOVE = 8
_OPTIONS_SHARE = 0.5  # shares of the time that is left at each step
_SEATS_SHARE = 0.6
_PROGRAM_SHARE = 0.6
_FEW_PODS = 250  # so many movable pods may each be an option of its own
_MOST_OPTIONS_BESIDE = 400
_OPTIONS_A_MOVE = 4
_MOST_BRANCHES = 4_000
_TIE = 1e-3  # of the smallest weight: what all evictions together may weigh


class GreedyRounds:
    """The search of one plan; the moves stand on the search state."""

    def __init__(self, situation: DefragmentSituation, current: SearchState) -> None:
        """Begin with what stands on the search state."""
        self._situation = situation
        self._current = current
        self._groups = GroupsOfPods(situation.problem)
        self._banned: set[Seat] = set()
        self.schedule = WaveSchedule()

    def run(self, deadline: Deadline) -> None:
        """As long as a round lowers the cost, and time is left."""
        for _ in range(_MOST_ROUNDS):
            before, banned = self._current.cost, len(self._banned)
            self._round(deadline)
            is_better = self._current.cost < before - SAME
            if deadline.is_over() or not (is_better or len(self._banned) > banned):
                return

    def _round(self, deadline: Deadline) -> None:
        """A quick choice first; then the integer program's, if it is better."""
        situation, current = self._situation, self._current
        kept = list(current.moved.items())
        spent = np.array([row for row, _ in kept], dtype=np.int64)
        may_leave = np.ones(len(situation.problem.movable), dtype=np.bool_)
        may_leave[spent] = False
        options = Options(situation, current.free, may_leave, spent)
        if options.most_moves <= 0:
            return
        kinds = MovableKinds(situation, current, self._banned, deadline.part(_SEATS_SHARE))
        offered = self._offered(options, deadline.part(_OPTIONS_SHARE))
        profit = self._profit(offered)
        order = _best_first(offered, profit)
        greedy = Greedy(options, kinds)
        greedy.run((offered[number] for number in order if profit[number] > 0), deadline.part(_SEATS_SHARE))
        self._adopt(kept, greedy.seats, deadline)
        if not may_use_programmes(deadline):
            return
        best = order[: _MOST_OPTIONS_BESIDE + _OPTIONS_A_MOVE * options.most_moves]
        fewer = [offered[number] for number in best]
        part = deadline.part(_PROGRAM_SHARE)
        self._adopt(kept, chosen_seats(options, kinds, fewer, profit[best], part, _MOST_BRANCHES), deadline)

    def _adopt(self, kept: Sequence[Seat], seats: Sequence[Seat], deadline: Deadline) -> None:
        """Make these moves beside those that were kept, if they promise and prove to be better than what stands."""
        current, schedule = self._current, self.schedule
        cost, standing = current.cost, list(current.moved.items())
        if not seats or deadline.is_over():
            return
        current.reset([*kept, *seats])
        if current.cost < cost - SAME:
            current.reset(kept)
            refused = self._sit(seats)
            schedule, _ = arrange(current, self._groups, deadline, only_predicted=False)
            self._banned |= refused | {(row, node) for row, node in seats if current.moved.get(row) != node}
        if current.cost < cost - SAME:
            self.schedule = schedule
        else:
            current.reset(standing)

    def _offered(self, options: Options, deadline: Deadline) -> list[Option]:
        situation = self._situation
        most = min(_MOST_TARGETS, max(60, _TARGETS_A_MOVE * options.most_moves))
        found = list(options.covering(self._eviction_cost, most, deadline.part(0.6)))
        found += options.covering(self._size, most, deadline)
        if len(situation.problem.movable) <= _FEW_PODS:
            found += options.single()
            found += options.given_up()
        return _distinct(found)

    def _eviction_cost(self, rows: IntArray) -> IntArray:
        return self._situation.problem.eviction_cost(rows)

    def _size(self, rows: IntArray) -> IntArray:
        """Prefers pods that find a seat easily: small in every resource."""
        scale = np.maximum(1, self._situation.columns.allocatable.max(axis=1, initial=1))
        share = (self._situation.arriving[:, rows] / scale[:, None]).max(axis=0)
        found: IntArray = EVICTION_COST // 4 + np.round(4 * EVICTION_COST * share).astype(np.int64)
        return found

    def _profit(self, offered: Sequence[Option]) -> FloatArray:
        """Gain of each option less what its moves cost; of equal gains the one with fewer and cheaper moves."""
        situation = self._situation
        costs = situation.problem.eviction_cost
        tie = _TIE * float(situation.shapes.weights.min(initial=1.0)) / (1 + situation.most_moves) / EVICTION_COST
        return np.array(
            [
                option.gain
                - tie * float(costs(np.array(option.rows, dtype=np.int64)).sum())
                - sum(self._current.fee(row) for row in option.rows)
                for option in offered
            ],
            dtype=np.float64,
        )

    def _sit(self, seats: Sequence[Seat]) -> set[Seat]:
        """Take pods to their seats, in turns while somebody finds his free; who never does."""
        waiting = list(seats)
        while waiting:
            left = [(row, node) for row, node in waiting if not self._sat(row, node)]
            if len(left) == len(waiting):
                return set(left)
            waiting = left
        return set()

    def _sat(self, row: int, node: int) -> bool:
        current = self._current
        if not current.may_leave(row) or not current.open_to(row)[node]:
            return False
        current.move(row, node)
        return True


def _best_first(offered: Sequence[Option], profit: FloatArray) -> list[int]:
    """Numbers of the options, the most profit for each move first."""
    share = profit / np.array([max(1, option.moves) for option in offered])
    order: list[int] = np.argsort(-share, kind="stable").tolist()
    return order


def _distinct(options: Sequence[Option]) -> list[Option]:
    """Each set of pods of a node once."""
    found: dict[tuple[int, tuple[int, ...], float], Option] = {}
    for option in options:
        found.setdefault((option.node, tuple(sorted(option.rows)), option.gain), option)
    return list(found.values())
