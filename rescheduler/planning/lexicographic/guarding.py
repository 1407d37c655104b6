"""Keeps what earlier objectives have reached, and groups of pods that move together whole."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from msgspec.structs import replace as with_changes

from rescheduler.model.plan.plan import Status
from rescheduler.planning.problem.moving_together import in_broken_groups
from rescheduler.planning.problem.objective import PlanningObjective
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.local_search import problem_of
from rescheduler.planning.search.objective_state import ObjectiveState

ROUNDS = 4
_SAME = 1e-6


def plan_guarded(
    objective: PlanningObjective, request: PlanRequest, earlier: Sequence[PlanningObjective]
) -> ObjectivePlan:
    """The answer of an objective whose moves make none of the earlier ones worse and leave no group in two.

    Pods whose moves do are left where they are, and the objective is asked again; if that does not help within a few
    rounds, nothing is moved for it and the message says so. What is proven without that restriction stays proven with
    it.
    """
    deadline = request.deadline()
    asked, first = request, None
    for number in range(ROUNDS):
        share = 0.6 if number < ROUNDS - 1 and _may_be_asked_again(request, earlier) else 1.0
        answer = objective.plan(replace(asked.within(deadline, share), guards=guards_of(earlier, asked)))
        barred = _to_bar(asked, answer, earlier)
        if not barred:
            return answer if first is None else restricted(objective, answer, first, _held_back(request, asked))
        first = first or answer
        asked = without(asked, barred)
    idle = objective.plan(nobody_moves(asked))
    assert first is not None
    return restricted(objective, idle, first, "every plan that was found would undo what comes before it")


def guards_of(earlier: Sequence[PlanningObjective], request: PlanRequest) -> tuple[ObjectiveState, ...]:
    """What earlier objectives think of the start of a question, made anew."""
    heeded = [objective for objective in earlier if not objective.is_kept_by_places]
    if not heeded:
        return ()
    problem = problem_of(request)
    return tuple(objective.state(problem) for objective in heeded)


def nobody_moves(request: PlanRequest) -> PlanRequest:
    """The same question where no pod may be moved: its answer is what doing nothing is worth."""
    return without(replace(request, deadline_seconds=1.0, nominal_seconds=None), set(request.eligibility.movable))


def _may_be_asked_again(request: PlanRequest, earlier: Sequence[PlanningObjective]) -> bool:
    return bool(request.together) or any(not objective.is_kept_by_places for objective in earlier)


def without(request: PlanRequest, pods: Collection[int]) -> PlanRequest:
    """The same question where some pods may not be moved; itself if there are none."""
    if not pods:
        return request
    left = tuple(pod for pod in request.eligibility.movable if pod not in pods)
    return replace(request, eligibility=with_changes(request.eligibility, movable=left))


def _to_bar(request: PlanRequest, answer: ObjectivePlan, earlier: Sequence[PlanningObjective]) -> set[int]:
    """Pods that must not be moved for this objective, because it moved them and should not have."""
    barred = in_broken_groups(request.together, {move.pod for move in answer.moves})
    heeded = [objective for objective in earlier if not objective.is_kept_by_places] if answer.moves else []
    if heeded:
        problem = problem_of(request)
        for objective in heeded:
            barred |= _worsening(problem, objective.state(problem), answer)
    return barred


def _worsening(problem: Problem, state: ObjectiveState, answer: ObjectivePlan) -> set[int]:
    """Pods whose moves raise a cost that all moves together raise."""
    before, raising = state.cost, set()
    for move in answer.moves:
        row = problem.row_of_movable[move.pod]
        if state.change(row)[move.to_node] > _SAME:
            raising.add(move.pod)
        state.move(row, move.to_node)
    return raising if state.cost > before + _SAME * max(1.0, abs(before)) else set()


def _held_back(request: PlanRequest, asked: PlanRequest) -> str:
    number = len(request.eligibility.movable) - len(asked.eligibility.movable)
    pods = f"{number} pod{'s' if number != 1 else ''}"
    return f"{pods} stay, since their moves would undo what comes before this, or leave a group in two"


def restricted(objective: PlanningObjective, answer: ObjectivePlan, first: ObjectivePlan, note: str) -> ObjectivePlan:
    """An answer with some pods held back; its bound is that of the first answer, which held back nobody."""
    bound = first.bound
    if bound is not None and (answer.helped != first.helped or _is_beyond(objective, answer.value, bound)):
        bound = None
    is_proven = bound is not None and answer.value == bound and first.helped == first.wanted
    status = Status.OPTIMAL if is_proven else Status.FEASIBLE if answer.moves or answer.placements else Status.UNKNOWN
    return replace(answer, status=status, bound=bound, message=f"{answer.message}; {note}", certificate=None)


def _is_beyond(objective: PlanningObjective, value: float, bound: float) -> bool:
    return value > bound if objective.is_better_higher else value < bound
