"""Separates antagonists by the fewest evictions: start reading here."""

from __future__ import annotations

from rescheduler.model.plan import Status
from rescheduler.planning.antagonists.antagonists import Antagonists
from rescheduler.planning.antagonists.bounds import least_pairs
from rescheduler.planning.antagonists.case import case_for
from rescheduler.planning.antagonists.messages import Telling
from rescheduler.planning.antagonists.state import SeparationState
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Schedule
from rescheduler.planning.improvement.answering import planned_moves
from rescheduler.planning.improvement.improve import problem_of
from rescheduler.planning.problem import Problem
from rescheduler.planning.question import Answer, Question
from rescheduler.planning.rearrangement.rearranging import Rearrangement, cost_after, rearrange
from rescheduler.planning.rearrangement.staying import Staying
from rescheduler.planning.remaining_limits import remaining_limits

UNIT = "pairs"
SEARCH_SHARE = 0.9  # of the time; the rest is for the words


def plan_separate_antagonists(question: Question, antagonists: Antagonists) -> Answer:
    """The fewest pairs of antagonists that share a node, then the fewest evictions; ``value`` is the pairs that stay.

    INFEASIBLE: it is proven that some pair must stay; the message and the refusals say which do and why.
    """
    deadline = Deadline(question.clock, question.deadline_seconds)
    problem = problem_of(question)
    state = SeparationState(problem, antagonists)
    if not state.cost:
        return _answer(question, problem, antagonists, Rearrangement(Schedule(), 0.0), 0, deadline)
    limits = remaining_limits(question.eligibility.limits, question.placement)
    bound = least_pairs(problem, antagonists.foes, state.apart.codes, limits)
    case = case_for(problem, antagonists, limits)
    found = rearrange(
        question,
        problem,
        case,
        lambda: SeparationState(problem, antagonists),
        deadline.part(SEARCH_SHARE),
        float(bound),
    )
    return _answer(question, problem, antagonists, found, max(bound, found.bound or 0), deadline)


def _answer(
    question: Question,
    problem: Problem,
    antagonists: Antagonists,
    found: Rearrangement,
    bound: int,
    deadline: Deadline,
) -> Answer:
    before, after = SeparationState(problem, antagonists), SeparationState(problem, antagonists)
    cost_after(problem, found.schedule, after)
    told = Telling(problem, antagonists, before.apart, found.ends(problem))
    message, refusals = told.outcome(after.apart, found.schedule.evictions, Staying(question, problem, found.schedule))
    return Answer(
        status=Status.INFEASIBLE if bound else Status.OPTIMAL if found.cost <= bound else Status.FEASIBLE,
        value=found.cost,
        bound=float(bound),
        unit=UNIT,
        message="; ".join([message, *found.notes(question), *antagonists.warnings]),
        moves=planned_moves(question, problem, found.schedule, deadline, told.reason),
        refusals=refusals,
    )
