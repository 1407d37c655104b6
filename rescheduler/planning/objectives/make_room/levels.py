"""The search level by level of importance where pods have a worth: what the most important are worth comes first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.make_room.opening import HelpWanted
from rescheduler.planning.objectives.make_room.search import RoomSearch, SearchOutcome
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.ranking import helped_by
from rescheduler.planning.room_model.trimming import trim
from rescheduler.planning.waves.free_places import place_without_moves
from rescheduler.planning.waves.replay import replay, violated_limits
from rescheduler.planning.waves.sequencing import sequence

SHARE_OF_START = 0.2


class Found(NamedTuple):
    """What a search found, for the pods of ``problem``; ``is_settled``: the levels before are proven best as well."""

    problem: Problem
    outcome: SearchOutcome
    is_settled: bool = True


def search_for(problem: Problem, wanted: HelpWanted, deadline: Deadline, limits: MoveLimits | None = None) -> Found:
    """Search for all pods at once, or, with a worth in evictions, for each importance in turn.

    Pods of higher importance that are worth their evictions stay helped; those that are not are left out for good.
    ``limits``: in place of the request's.
    """
    levels = problem.pending_groups.levels
    if problem.pending_groups.evictions_per_pod is None or len(levels) < 2:
        return Found(problem, _search(problem, wanted, deadline).run())
    helped: list[int] = []
    found: Found | None = None
    for number, level in enumerate(levels):
        pending = [*helped, *(pod for pod in problem.pending if problem.pending_groups.priority(pod) == level)]
        part = wanted.problem(pending, limits)
        search = _search(part, wanted, deadline.part(1 / (len(levels) - number)))
        if found is not None:
            search.begin_with(found.outcome.best)
        is_settled = found is None or (found.is_settled and found.outcome.is_done(found.problem))
        found = Found(part, search.run(), is_settled)
        helped = [pod for pod, _, _ in found.outcome.best.places]
    assert found is not None
    return found


def _search(problem: Problem, wanted: HelpWanted, deadline: Deadline) -> RoomSearch:
    """A search that begins with the plan that moves nobody, or with what the question has to begin with."""
    search = RoomSearch(problem, deadline, wanted.request.seed, wanted.request.progress)
    for schedule in _warm_schedules(problem, wanted.request.start, deadline.part(SHARE_OF_START)):
        search.begin_with(schedule)
    return search


def _warm_schedules(problem: Problem, start: WaveSchedule, deadline: Deadline) -> Iterator[WaveSchedule]:
    """The part of a plan that is about the pods of a problem, as it is and without needless moves; what is possible.

    Pods that need no move get their places beside it.
    """
    if not start.waves and not start.places:
        return
    pending = set(problem.pending)
    moves = {pod: node for pod, node in start.draft.moves.items() if pod in problem.row_of_movable}
    places = {pod: node for pod, node in start.draft.places.items() if pod in pending}
    free = {pod: node for pod, node, _ in place_without_moves(problem).places}
    for draft in (Draft(moves, places), Draft(moves, {**free, **places})):
        for part in (draft, trim(problem, draft)):
            found = sequence(problem, part, deadline).schedule
            if found is not None and not replay(problem, found):
                yield found


# Which limits of the plan keep it from helping more: found by planning once more without them.


@dataclass(frozen=True)
class BindingLimits:
    """Names of the limits that bind, with their values, and what a plan without them would reach."""

    names: tuple[str, ...] = ()
    helped: int = 0
    evictions: int = 0


def find_binding_limits(
    wanted: HelpWanted, whole: Problem, outcome: SearchOutcome, schedule: WaveSchedule, deadline: Deadline
) -> BindingLimits:
    """Limits without which more pods would be helped; empty if there are none, or if time is over."""
    limits = wanted.request.eligibility.limits
    certificate = outcome.certificate
    is_final = certificate is not None and certificate.helpable <= len(schedule.places)
    if limits == MoveLimits() or is_final or deadline.is_over():
        return BindingLimits()
    problem = wanted.problem(limits=MoveLimits())
    better = search_for(problem, wanted, deadline, limits=MoveLimits()).outcome.best
    if helped_by(problem, better) <= helped_by(problem, schedule):
        return BindingLimits()
    names = violated_limits(whole, better)
    return BindingLimits(tuple(names), len(better.places), better.evictions)
