"""Make room for pending pods: start reading here. Cheap and certain steps first, search only for what is left."""

from __future__ import annotations

import numpy as np

from rescheduler.model.plan import Status
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.destinations import predict_with_holds
from rescheduler.planning.draft import Schedule
from rescheduler.planning.general import General
from rescheduler.planning.instance_builder import build_instance
from rescheduler.planning.make_room.request import MakeRoomAnswer, MakeRoomRequest, PlannedMove, PlannedPlace
from rescheduler.planning.problem import Problem
from rescheduler.planning.proof_state import Proven
from rescheduler.planning.ranking import help_vector, helped_by
from rescheduler.planning.reasons import reasons_of_moves
from rescheduler.planning.replay import replay
from rescheduler.planning.zero_moves import place_without_moves


def plan_make_room(request: MakeRoomRequest) -> MakeRoomAnswer:
    """Plan within the deadline. The plan is never worse than doing nothing, and replayed before it is returned."""
    deadline = Deadline(request.clock, request.deadline_seconds)
    problem = Problem(request.prediction, request.placement, request.eligibility)
    best = place_without_moves(problem)
    everybody = help_vector(problem, problem.pending)
    proven = Proven()
    if helped_by(problem, best) == everybody:
        proven = Proven(everybody, 0, everybody)
    else:
        instance = build_instance(problem, np.arange(problem.node_count))
        search = General(problem, instance, deadline, request.seed, best)
        search.run()
        proven = search.proven
        if search.best is not None and not replay(problem, search.best):
            best = search.best
    return _answer(problem, request, best, proven)


def _answer(problem: Problem, request: MakeRoomRequest, best: Schedule, proven: Proven) -> MakeRoomAnswer:
    guided: frozenset[int] = frozenset()
    if best.waves:
        best, guided = predict_with_holds(problem, best)
    helped = helped_by(problem, best)
    wanted = len(problem.pending)
    value = best.evictions
    bound = min(value, proven.bound_for(helped))
    reasons = reasons_of_moves(problem, best)
    return MakeRoomAnswer(
        status=_status(helped, wanted, value, bound, proven),
        value=value,
        bound=bound,
        gap=abs(value - bound) / max(1, abs(bound)),
        helped=sum(helped),
        wanted=wanted,
        message="",
        moves=tuple(
            PlannedMove(pod, node, number, pod in guided, reasons[pod])
            for number, wave in enumerate(best.waves, start=1)
            for pod, node in wave
        ),
        placements=tuple(PlannedPlace(pod, node, wave) for pod, node, wave in best.places),
    )


def _status(helped: tuple[int, ...], wanted: int, value: int, bound: int, proven: Proven) -> Status:
    if sum(helped) == wanted:
        return Status.OPTIMAL if value == bound else Status.FEASIBLE
    if proven.most_help is not None and sum(proven.most_help) < wanted:
        return Status.INFEASIBLE
    return Status.FEASIBLE if any(helped) else Status.UNKNOWN
