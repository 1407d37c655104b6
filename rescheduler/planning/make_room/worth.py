"""Whether a plan is worth most where each of the least important pods has a prize, by bounds on evictions alone."""

from __future__ import annotations

from collections.abc import Callable

from rescheduler.planning.draft import Schedule
from rescheduler.planning.problem import Problem
from rescheduler.planning.proof_state import HelpVector
from rescheduler.planning.ranking import help_vector, helped_by

MOST_COMPARED = 60


def is_worth_most(problem: Problem, best: Schedule, least: int, least_for: Callable[[HelpVector], int]) -> bool:
    """Whether no number of helped pods of the last importance can be worth more than the schedule's.

    ``least``: the evictions that its help takes at least, ``least_for``: those of any help. Needs all more important
    pods helped, and few enough of the others to ask of each number.
    """
    prize = problem.wishes.prize
    helped, everybody = helped_by(problem, best), help_vector(problem, problem.pending)
    if prize is None or helped[:-1] != everybody[:-1] or everybody[-1] > MOST_COMPARED or best.evictions > least:
        return False
    worth = prize * helped[-1] - best.evictions
    others = (number for number in range(everybody[-1] + 1) if number != helped[-1] and prize * number >= worth)
    for number in others:
        reach = prize * number - least_for((*helped[:-1], number))
        if reach > worth or (reach == worth and number > helped[-1]):
            return False
    return True
