"""Raise the points that the scheduler gives to pods on their nodes, so that nothing here is undone by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rescheduler.model.plan import Status
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.improvement.answering import as_answer
from rescheduler.planning.improvement.arranging import arrange
from rescheduler.planning.improvement.board import Board
from rescheduler.planning.improvement.improve import Improvement, problem_of
from rescheduler.planning.problem import Problem
from rescheduler.planning.question import Answer, Question
from rescheduler.planning.remaining_limits import remaining_limits
from rescheduler.planning.scheduler_score.search import Search
from rescheduler.planning.scheduler_score.state import SchedulerScoreState
from rescheduler.planning.waves import GroupsOfPods

UNIT = "score points"
SEARCH_SHARE = 0.5  # the rest of the time is for the order of the moves and what the scheduler makes of them
_MOST_ROUNDS = 3


def plan_scheduler_score(question: Question, minimum_gain: float) -> Answer:
    """Moves that each gain at least ``minimum_gain`` points of the scheduler's total score, and that it makes itself.

    A pod's present node is judged as the scheduler would for a replacement: with the pod gone. The value adds up, over
    the moved pods, the total of the new node at the end less that of the old one at the start. A pod goes to a node
    only if the scheduler likes no other better, whether or not holes are held. Where any pod could gain, nothing is
    proven about what all of them could: the bound is None.
    """
    deadline = Deadline(question.clock, question.deadline_seconds)
    problem = problem_of(question)
    limits = remaining_limits(question.eligibility.limits, question.placement)
    state = SchedulerScoreState(problem, minimum_gain)
    board = Board(problem, state, limits, guards=question.guards, move_cost=question.move_cost)
    question.progress("comparing scores")
    schedule, taken_back, is_complete = _searched(board, minimum_gain, deadline)
    value = float(sum(_points(board, row) for row in board.moved))
    answer = as_answer(
        question,
        problem,
        Improvement(board, schedule, 0.0, -value),
        deadline,
        value=value,
        bound=0.0 if not board.moved and is_complete and not taken_back else None,
        unit=UNIT,
        message=_message(board, value, minimum_gain, taken_back, is_complete=is_complete),
        reason=_reason(board),
    )
    return answer if answer.moves or answer.status == Status.OPTIMAL else replace(answer, status=Status.UNKNOWN)


def _searched(board: Board, minimum_gain: float, deadline: Deadline) -> tuple[Schedule, int, bool]:
    """A schedule whose moves stand on the board, how many moves could not be kept, whether the search was complete."""
    search = Search(board, minimum_gain)
    groups = GroupsOfPods(board.problem)
    schedule, taken_back = Schedule(), 0
    for _ in range(_MOST_ROUNDS):
        made = search.run(deadline.part(SEARCH_SHARE))
        if not made:
            break
        schedule, taken_back = arrange(board, groups, deadline, only_predicted=True)
        if not taken_back:
            break
    while weak := [row for row in board.moved if _points(board, row) < minimum_gain]:
        for row in reversed(weak):  # others arrived beside them
            board.undo(row)
        schedule, more = arrange(board, groups, deadline, only_predicted=True)
        taken_back += len(weak) + more
    return schedule, taken_back, search.is_complete


def _points(board: Board, row: int) -> int:
    """Total of a moved pod's new node at the end, less that of its old node at the start."""
    problem, pod = board.problem, board.pod(row)
    before = problem.prediction.totals(pod, problem.start)[problem.origin[row]]
    return int(problem.prediction.totals(pod, board.placement)[board.moved[row]]) - int(before)


def _message(board: Board, value: float, minimum_gain: float, taken_back: int, *, is_complete: bool) -> str:
    count = len(board.moved)
    if count:
        told = f"{count} pod{'s' if count != 1 else ''} gain{'s' if count == 1 else ''} {value:g} points in all"
        parts = [f"{told}, each at least {minimum_gain:g}", "more is not ruled out"]
        parts += ["limits.maxEvictions is used up"] if board.evictions_left <= 0 else []
    elif is_complete and not taken_back:
        parts = [f"proven: no pod gains {minimum_gain:g} points or more by a move that its scheduler would make"]
    else:
        parts = ["no pod is moved" if is_complete else "no move was found in time"]
    if taken_back:
        parts.append(f"left out: {taken_back} more that would not come about, or gain too little beside the others")
    return "; ".join(parts)


def _reason(board: Board) -> Callable[[int, int], str]:
    """Why a pod goes to a node: the points there and here, as things were at the start."""
    problem: Problem = board.problem

    def reason(pod: int, node: int) -> str:
        total = problem.prediction.totals(pod, problem.start)
        here, there = int(total[problem.start.node_of[pod]]), int(total[node])
        return f"its scheduler scores the node {there}, its present one {here}"

    return reason
