"""The search level by level of importance where pods have a prize: what the most important are worth comes first."""

from __future__ import annotations

from typing import NamedTuple

from rescheduler.model.disruption import MoveLimits
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.make_room.opening import open_problem
from rescheduler.planning.make_room.request import MakeRoomRequest
from rescheduler.planning.make_room.search import Outcome, Search
from rescheduler.planning.problem import Problem


class Found(NamedTuple):
    """What a search found, for the pods of ``problem``; ``is_settled``: the levels before are proven best as well."""

    problem: Problem
    outcome: Outcome
    is_settled: bool = True


def search_for(
    problem: Problem, request: MakeRoomRequest, deadline: Deadline, limits: MoveLimits | None = None
) -> Found:
    """Search for all pods at once, or, with a prize, for each importance in turn.

    Pods of higher importance that are worth their evictions stay helped; those that are not are left out for good.
    ``limits``: in place of the request's.
    """
    levels = problem.wishes.levels
    if problem.wishes.prize is None or len(levels) < 2:
        return Found(problem, Search(problem, deadline, request.seed, request.progress).run())
    helped: list[int] = []
    found: Found | None = None
    for number, level in enumerate(levels):
        pending = [*helped, *(pod for pod in problem.pending if problem.wishes.priority(pod) == level)]
        part = open_problem(request, pending, limits)
        search = Search(part, deadline.part(1 / (len(levels) - number)), request.seed, request.progress)
        if found is not None:
            search.begin_with(found.outcome.best)
        is_settled = found is None or (found.is_settled and found.outcome.is_done(found.problem))
        found = Found(part, search.run(), is_settled)
        helped = [pod for pod, _, _ in found.outcome.best.places]
    assert found is not None
    return found
