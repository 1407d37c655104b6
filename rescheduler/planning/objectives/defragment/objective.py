"""Make room for as many further pods of some shapes as possible by few moves: start reading here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rescheduler.model.columns.arrays import IntArray
from rescheduler.model.plan.plan import Status
from rescheduler.planning.objectives.defragment.ceiling import Ceiling
from rescheduler.planning.objectives.defragment.exact import best_plan
from rescheduler.planning.objectives.defragment.following import Unguided, following_the_scheduler
from rescheduler.planning.objectives.defragment.messages import blocked_nodes, describe, reason_of, refusals_of
from rescheduler.planning.objectives.defragment.rounds import Rounds
from rescheduler.planning.objectives.defragment.situation import Situation
from rescheduler.planning.objectives.defragment.state import DefragmentState
from rescheduler.planning.objectives.defragment.wanted_shapes import WeightedShape
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Schedule
from rescheduler.planning.problem.plan_request import Answer, Question
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.answering import as_answer
from rescheduler.planning.search.local_search import Improvement
from rescheduler.planning.search.search_state import Board
from rescheduler.planning.waves.closing import close

SEARCH_SHARE = 0.7  # of the time that is left at each step
_BOUND_SHARE = 0.5
_EXACT_SHARE = 0.5
_FOLLOWING_SHARE = 0.6


def plan_defragment(question: Question, shapes: Sequence[WeightedShape]) -> Answer:
    """The most pods of the wanted ``shapes`` (what one requests, its weight), then the fewest evictions for it.

    Each shape is counted as if it were alone. Plans within the deadline; the plan is never worse than doing nothing,
    every prefix of its waves is allowed, and no plan within the limits reaches more than ``bound``.
    """
    deadline = Deadline(question.clock, question.deadline_seconds)
    situation = Situation(question, shapes)
    state = DefragmentState(situation.problem, situation.shapes)
    board = Board(situation.problem, state, situation.limits, guards=question.guards, move_cost=question.move_cost)
    before = state.cost
    question.progress("looking for room for the shapes")
    schedule, is_best = _searched(situation, question, board, deadline)
    question.progress("proving how much room there can be")
    bound = -state.cost if is_best and not question.move_cost else _bound(situation, board, deadline)
    question.progress("predicting destinations")
    if question.is_guided_by_holds and board.moved:
        part = deadline.part(_FOLLOWING_SHARE)
        schedule = following_the_scheduler(board, schedule, _gainers(situation, board), part)
    return _answer(situation, question, Improvement(board, schedule, before, state.cost), bound, deadline)


def _bound(situation: Situation, board: Board, deadline: Deadline) -> float:
    part = deadline.part(_BOUND_SHARE)
    return max(Ceiling(situation, part).value(part), -board.state.cost)


def _searched(situation: Situation, question: Question, board: Board, deadline: Deadline) -> tuple[Schedule, bool]:
    """A schedule, whose moves stand on the board, and whether no plan is better."""
    search = deadline.part(SEARCH_SHARE)
    if not question.is_guided_by_holds:
        return Unguided(situation, board).run(search), False
    exact = best_plan(situation, question, board, search.part(_EXACT_SHARE))
    if exact is not None and exact.is_best:
        return exact
    kept, cost = list(board.moved.items()), board.cost
    board.reset([])
    rounds = Rounds(situation, board)
    rounds.run(search)
    if exact is None or board.cost < cost:
        return rounds.schedule, False
    board.reset(kept)
    return exact


def _answer(
    situation: Situation, question: Question, improvement: Improvement, bound: float, deadline: Deadline
) -> Answer:
    board = improvement.board
    closes = _gainers(situation, board)
    held = question.placement.copy()
    close(held, closes)
    answer = as_answer(
        question,
        Problem(question.prediction, held, question.eligibility),
        improvement,
        deadline,
        value=0.0 - board.state.cost,
        bound=bound,
        unit="pods" if situation.shapes.is_counted else "weighted pods",
        message=describe(situation, board, bound),
        reason=reason_of(situation, board),
        refusals=refusals_of(situation, blocked_nodes(situation), question.eligibility),
    )
    status = answer.status if answer.moves or answer.status == Status.OPTIMAL else Status.UNKNOWN
    return replace(answer, status=status, closes=closes)


def _gainers(situation: Situation, board: Board) -> tuple[int, ...]:
    """Nodes that pods left and where more fits than before: they are kept for the shapes."""
    shapes = situation.shapes
    left: IntArray = np.unique(situation.problem.origin[list(board.moved)].astype(np.int64))
    gains = shapes.worth(board.free[:, left], left) - shapes.worth(situation.problem.free[:, left], left)
    return tuple(left[gains > 0].tolist())
