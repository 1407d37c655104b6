"""Raise the points that the scheduler gives to pods on their nodes, so that nothing here is undone by it."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable
from dataclasses import replace

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.plan.plan import Status
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.scheduler_score.estimates import estimated_gains
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.problem.remaining_limits import remaining_limits
from rescheduler.planning.search.answering import as_answer
from rescheduler.planning.search.arranging import arrange
from rescheduler.planning.search.local_search import LocalSearchResult, SimpleMoves, begun_with, problem_of
from rescheduler.planning.search.objective_state import ObjectiveState
from rescheduler.planning.search.search_state import SAME, SearchState
from rescheduler.planning.waves.waves import GroupsOfPods
from rescheduler.policy.fields.objectives import SchedulerScoreArgs

# What the objective SchedulerScore thinks of a placement: points that moved pods gained, negated.


class SchedulerScoreState(ObjectiveState):
    """Cost: minus the points that each pod gained by going where it is, at the time it went.

    A pod's scheduler would judge a replacement, so the pod counts as gone on its own node. Where that node would be
    refused to it there is nothing to compare with, and its move is worth nothing.
    """

    def __init__(self, problem: Problem, minimum_gain: float) -> None:
        """Begin with the start of the problem. ``minimum_gain``: pods that gain less are not ``promising``."""
        self._problem = problem
        self._minimum_gain = minimum_gain
        self._placement = problem.start.copy()
        self.cost = 0.0

    def change(self, row: int) -> FloatArray:
        """Points lost on each node against the one where the pod is, float64[N]; infinite where a filter refuses."""
        pod = int(self._problem.movable[row])
        total = self._problem.prediction.totals(pod, self._placement)
        here = int(self._placement.node_of[pod])
        lost = (total[here] - total).astype(np.float64) if total[here] >= 0 else np.zeros(len(total))
        lost[total < 0] = np.inf
        lost[here] = 0.0
        return lost

    def promising(self) -> IntArray:
        """Pods that may gain enough, those first that may gain the most."""
        gains = estimated_gains(self._problem, self._placement)
        order = np.argsort(-gains, kind="stable")
        found: IntArray = order[gains[order] >= self._minimum_gain]
        return found

    def move(self, row: int, node: int) -> None:
        """Take a pod to a node."""
        pod = int(self._problem.movable[row])
        change = float(self.change(row)[node])
        self.cost += change if np.isfinite(change) else 0.0
        self._placement.forget(pod)
        self._placement.assume(pod, node)


# Moves one pod after another to the node that its scheduler likes best, the largest gain first.

_LEAST_LOOKED_AT = 400
_LOOKED_AT_A_MOVE = 10


class ScoreSearch:
    """Makes moves on a search state; ``is_complete``: nothing was left out for want of time."""

    def __init__(self, current: SearchState, minimum_gain: float) -> None:
        """``minimum_gain``: points that each move must gain, what it costs aside."""
        self._current = current
        self._minimum_gain = minimum_gain
        self.is_complete = True

    def run(self, deadline: Deadline) -> int:
        """Move pods until none gains enough, the limits are reached, or time is over; how many were moved."""
        made = 0
        while self._current.evictions_left > 0:
            more = self._run_once(deadline)
            made += more
            if not more or not self.is_complete:
                break
        return made

    def _run_once(self, deadline: Deadline) -> int:
        current = self._current
        gains = estimated_gains(current.problem, current.placement, deadline.part(0.6))
        self.is_complete = self.is_complete and not deadline.is_over()
        order = np.argsort(-gains, kind="stable")
        rows = [row for row in order[gains[order] >= self._minimum_gain].tolist() if current.may_leave(row)]
        most = max(_LEAST_LOOKED_AT, _LOOKED_AT_A_MOVE * min(current.evictions_left, len(rows)))
        made = 0
        for first in range(0, len(rows), most):  # mostly the first part is enough
            part = rows[first : first + most]
            made += self._take_best([(-float(gains[row]), row) for row in part], deadline)
            if made or not self.is_complete:
                break
        return made

    def _take_best(self, queue: list[tuple[float, int]], deadline: Deadline) -> int:
        """Take pods as long as they gain enough; who gains less than thought waits for its turn."""
        heapq.heapify(queue)
        made = 0
        while queue and self._current.evictions_left > 0:
            if deadline.is_over():
                self.is_complete = False
                break
            _, row = heapq.heappop(queue)
            gain, node = self._best_move(row)
            if gain < self._minimum_gain:
                continue
            if queue and gain < -queue[0][0] - SAME:
                heapq.heappush(queue, (-gain, row))
                continue
            self._current.move(row, node)
            made += 1
        return made

    def _best_move(self, row: int) -> tuple[float, int]:
        """Points gained by the best node, and that node; minus infinity where the pod stays."""
        current = self._current
        if not current.may_leave(row):
            return -np.inf, -1
        lost = current.state.change(row)
        best = float(lost.min())
        nodes = _open(current, row, np.flatnonzero(lost <= best + SAME)) if best < 0 else ()
        fee = current.fee(row)
        return next(((-best, node) for node in nodes if -best > fee + SAME), (-np.inf, -1))


def _open(current: SearchState, row: int, nodes: IntArray) -> Iterable[int]:
    open_to = current.open_to(row)
    return (node for node in nodes.tolist() if open_to[node])


UNIT = "score points"
_SHARE_OF_START = 0.3
SEARCH_SHARE = 0.5  # the rest of the time is for the order of the moves and what the scheduler makes of them
_MOST_ROUNDS = 3


class SchedulerScoreObjective(PlanningObjective):
    """Points that the scheduler gives to pods on their nodes, raised by moves that it makes itself."""

    name = "SchedulerScore"
    arguments = SchedulerScoreArgs
    is_better_higher = True

    def plan(self, request: PlanRequest) -> ObjectivePlan:
        """Moves that each gain at least ``minimumGain`` points of the scheduler's total score and that it makes itself.

        A pod's present node is judged as the scheduler would for a replacement: with the pod gone. The value adds up,
        over the moved pods, the total of the new node at the end less that of the old one at the start. A pod goes to a
        node only if the scheduler likes no other better, whether or not holes are held. Where any pod could gain,
        nothing is proven about what all of them could: the bound is None.
        """
        minimum_gain = self.args.minimum_gain
        deadline = request.deadline()
        problem = problem_of(request)
        limits = remaining_limits(request.eligibility.limits, request.placement)
        state = self.state(problem)
        current = SearchState(problem, state, limits, guards=request.guards, move_cost=request.move_cost)
        request.progress("comparing scores")
        schedule, taken_back, is_complete = _searched(current, request, minimum_gain, deadline)
        value = float(sum(_points(current, row) for row in current.moved))
        answer = as_answer(
            request,
            problem,
            LocalSearchResult(current, schedule, 0.0, -value),
            deadline,
            value=value,
            bound=0.0 if not current.moved and is_complete and not taken_back else None,
            unit=UNIT,
            message=_message(current, value, minimum_gain, taken_back, is_complete=is_complete),
            reason=_reason(current),
        )
        return answer if answer.moves or answer.status == Status.OPTIMAL else replace(answer, status=Status.UNKNOWN)

    def state(self, problem: Problem) -> SchedulerScoreState:
        """Minus the points that moves gain."""
        return SchedulerScoreState(problem, self.args.minimum_gain)


def _searched(
    current: SearchState, request: PlanRequest, minimum_gain: float, deadline: Deadline
) -> tuple[WaveSchedule, int, bool]:
    """A schedule whose moves stand on the state, how many moves could not be kept, whether the search was complete."""
    search = ScoreSearch(current, minimum_gain)
    groups = GroupsOfPods(current.problem)
    begun = _begun(current, request, groups, minimum_gain, deadline.part(_SHARE_OF_START))
    schedule, taken_back = WaveSchedule(), 0
    for _ in range(_MOST_ROUNDS):
        made = search.run(deadline.part(SEARCH_SHARE))
        if not made:
            break
        schedule, taken_back = arrange(current, groups, deadline, only_predicted=True)
        if not taken_back:
            break
    schedule, more = _without_weak(current, schedule, groups, minimum_gain, deadline)
    if begun is not None and begun.cost < _lost(current):
        current.reset(begun.moves)
        return begun.schedule, begun.taken_back, False
    return schedule, taken_back + more, search.is_complete


def _begun(
    current: SearchState, request: PlanRequest, groups: GroupsOfPods, minimum_gain: float, deadline: Deadline
) -> SimpleMoves | None:
    """The plan to begin with, if there is one, less what gains too little now; nobody has moved on the state."""
    begun = begun_with(current, request, groups, deadline)
    if begun is None:
        return None
    current.reset(begun.moves)
    schedule, _ = _without_weak(current, begun.schedule, groups, minimum_gain, deadline)
    found = SimpleMoves(tuple(current.moved.items()), schedule, _lost(current), begun.taken_back, is_start=True)
    current.reset([])
    return found


def _lost(current: SearchState) -> float:
    """Minus what all moves gain, with what they cost."""
    return current.charged - sum(_points(current, row) for row in current.moved)


def _without_weak(
    current: SearchState, schedule: WaveSchedule, groups: GroupsOfPods, minimum_gain: float, deadline: Deadline
) -> tuple[WaveSchedule, int]:
    """The schedule without moves that gain too little, and how many are gone; the state follows."""
    taken_back = 0
    while weak := [row for row in current.moved if _points(current, row) < minimum_gain]:
        for row in reversed(weak):  # others arrived beside them
            current.undo(row)
        schedule, more = arrange(current, groups, deadline, only_predicted=True)
        taken_back += len(weak) + more
    return schedule, taken_back


def _points(current: SearchState, row: int) -> int:
    """Total of a moved pod's new node at the end, less that of its old node at the start."""
    problem, pod = current.problem, current.pod(row)
    before = problem.prediction.totals(pod, problem.start)[problem.origin[row]]
    return int(problem.prediction.totals(pod, current.placement)[current.moved[row]]) - int(before)


def _message(current: SearchState, value: float, minimum_gain: float, taken_back: int, *, is_complete: bool) -> str:
    count = len(current.moved)
    if count:
        told = f"{count} pod{'s' if count != 1 else ''} gain{'s' if count == 1 else ''} {value:g} points in all"
        parts = [f"{told}, each at least {minimum_gain:g}", "more is not ruled out"]
        parts += ["limits.maxEvictions is used up"] if current.evictions_left <= 0 else []
    elif is_complete and not taken_back:
        parts = [f"proven: no pod gains {minimum_gain:g} points or more by a move that its scheduler would make"]
    else:
        parts = ["no pod is moved" if is_complete else "no move was found in time"]
    if taken_back:
        parts.append(f"left out: {taken_back} more that would not come about, or gain too little beside the others")
    return "; ".join(parts)


def _reason(current: SearchState) -> Callable[[int, int], str]:
    """Why a pod goes to a node: the points there and here, as things were at the start."""
    problem: Problem = current.problem

    def reason(pod: int, node: int) -> str:
        total = problem.prediction.totals(pod, problem.start)
        here, there = int(total[problem.start.node_of[pod]]), int(total[node])
        return f"its scheduler scores the node {there}, its present one {here}"

    return reason
