"""Pending pods that fit as things stand: the scheduler lets them in whatever is planned, so they count as placed."""

from __future__ import annotations

from rescheduler.planning.deadline import Deadline
from rescheduler.planning.planned import PlannedPlace
from rescheduler.planning.problem import Problem
from rescheduler.planning.question import Question
from rescheduler.planning.queue_places import as_the_scheduler_places
from rescheduler.planning.zero_moves import place_without_moves


def places_already_free(question: Question, deadline: Deadline) -> list[PlannedPlace]:
    """Where the scheduler puts them, in an order in which each finds its room."""
    if not question.eligibility.helpable:
        return []
    problem = Problem(question.prediction, question.placement, question.eligibility)
    schedule = as_the_scheduler_places(problem, place_without_moves(problem), deadline)
    return [PlannedPlace(pod, node, 0) for pod, node, _ in schedule.places]
