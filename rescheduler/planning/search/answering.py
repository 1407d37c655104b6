"""From an improvement to an answer: which moves need guidance, what is proven, and what could not be kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rescheduler.model.plan.plan import Refusal, Status
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import ObjectivePlan, PlannedMove, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.search.local_search import LocalSearchResult
from rescheduler.planning.waves.scheduler_choice import guided_moves

_SAME = 1e-9


def as_answer(
    request: PlanRequest,
    problem: Problem,
    improvement: LocalSearchResult,
    deadline: Deadline,
    *,
    value: float,
    bound: float | None,
    unit: str,
    message: str,
    reason: Callable[[int, int], str],
    refusals: Sequence[Refusal] = (),
) -> ObjectivePlan:
    """The answer with its moves marked: OPTIMAL where ``value`` meets ``bound``, else FEASIBLE.

    ``reason``: why a pod (index) goes to a node (index), in words for people.
    """
    is_proven = bound is not None and abs(value - bound) <= _SAME * max(1.0, abs(bound))
    return ObjectivePlan(
        status=Status.OPTIMAL if is_proven else Status.FEASIBLE,
        value=value,
        bound=bound,
        unit=unit,
        message="; ".join([message, *_notes(request, improvement)]),
        moves=planned_moves(request, problem, improvement.schedule, deadline, reason),
        refusals=tuple(refusals),
    )


def planned_moves(
    request: PlanRequest,
    problem: Problem,
    schedule: WaveSchedule,
    deadline: Deadline,
    reason: Callable[[int, int], str],
) -> tuple[PlannedMove, ...]:
    """Moves in their waves. With holds, those need guidance that the scheduler would not choose, origins closed.

    When time is over, the moves that are left count as such.
    """
    guided = frozenset[int]()
    if request.is_guided_by_holds:
        guided = guided_moves(problem, problem.start.copy(), schedule, deadline)
    return tuple(
        PlannedMove(pod, node, number, pod in guided, reason(pod, node), number in schedule.evict_first)
        for number, wave in enumerate(schedule.waves, start=1)
        for pod, node in wave
    )


def _notes(request: PlanRequest, improvement: LocalSearchResult) -> list[str]:
    count = improvement.taken_back
    exchanges = improvement.schedule.notes_on_exchanges
    if not count:
        return exchanges
    moves = "1 more move" if count == 1 else f"{count} more moves"
    if request.is_guided_by_holds:
        return [*exchanges, f"{moves} would help, but found no order in which every pod arrives before it departs"]
    return [f"left out without guidance: {moves} that would help, but that the scheduler would not make by itself"]
