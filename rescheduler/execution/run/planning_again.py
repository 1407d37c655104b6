"""What is left of a plan, planned again on the cluster as it is when everything that was under way has come to rest."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from msgspec import structs

from rescheduler.execution.run.executor import Executor
from rescheduler.execution.run.resuming import made_at
from rescheduler.extension_points import ExecutionInterruptedError, ReschedulerError
from rescheduler.model.plan.attempts import (
    MOST_ATTEMPTS,
    NO_EARLIER_ATTEMPTS,
    EarlierAttempts,
    is_as_planned,
    joined,
    may_have_left,
)
from rescheduler.model.plan.plan import OutcomeKind, Plan, PlanResult, PodReference


class AttemptEnd(NamedTuple):
    """What one attempt came to. ``was_stopped`` and ``ready``: see ``Executor``."""

    result: PlanResult
    was_stopped: bool
    ready: frozenset[PodReference] = frozenset()


def attempted(executor: Executor, plan: Plan) -> AttemptEnd:
    """One attempt. Raises as ``Executor.carry_out``."""
    result = executor.carry_out(plan)
    return AttemptEnd(result, executor.was_stopped, executor.ready)


CarryOut = Callable[[Plan, EarlierAttempts], AttemptEnd]
"""Carries a plan out, of which these attempts were made before."""
PlanAgain = Callable[[EarlierAttempts], Plan | str]
"""Plans on the live state, with what these attempts have left of the limits; in words why that is not done."""


def in_attempts(plan: Plan, carry_out: CarryOut, plan_again: PlanAgain) -> PlanResult:
    """Carry a plan out, and what is left of it planned again, twice at most; what all of that came to.

    Nothing is planned again where all ended well, where something stopped the plan that stops every other too, and
    where nobody knows what became of a pod. Raises ExecutionInterruptedError with the result so far, and whatever
    carrying out the first plan raises.
    """
    first = carry_out(plan, NO_EARLIER_ATTEMPTS)
    results, earlier, last = [first.result], NO_EARLIER_ATTEMPTS, first
    while len(results) < MOST_ATTEMPTS and _is_worth_another(last):
        earlier = _with(earlier, last, plan)
        try:
            again = plan_again(earlier)
            if isinstance(again, str):
                return _noted(results, f"what is left was not planned again: {again}")
            if not again.moves and not again.placements:
                return _noted(results, f"attempt {earlier.attempt}: planned again, and nothing more can be done now")
            last = carry_out(_telling_why(again, last.result, earlier.attempt), earlier)
        except KeyboardInterrupt:
            raise ExecutionInterruptedError(
                "interrupted", _noted(results, "interrupted while planning again")
            ) from None
        except ExecutionInterruptedError as stop:
            raise ExecutionInterruptedError(str(stop), joined([*results, stop.result])) from None
        except ReschedulerError as error:
            return _noted(results, f"what is left was not planned again: {error}")
        results.append(last.result)
    return joined(results)


def _is_worth_another(attempt: AttemptEnd) -> bool:
    moves = attempt.result.moves
    is_known = all(move.outcome is not OutcomeKind.UNKNOWN for move in moves)
    # A message alone: a node that was to be empty is not, since somebody else's pod came.
    is_reached = is_as_planned(attempt.result) and not attempt.result.message
    return not attempt.was_stopped and is_known and not is_reached


def _with(earlier: EarlierAttempts, attempt: AttemptEnd, plan: Plan) -> EarlierAttempts:
    """The same with one attempt more."""
    sent = tuple(move for move in attempt.result.moves if may_have_left(move))
    since = made_at(plan) if earlier.since is None else earlier.since
    return EarlierAttempts((*earlier.sent, *sent), earlier.ready | attempt.ready, since, earlier.number + 1)


def _telling_why(again: Plan, before: PlanResult, attempt: int) -> Plan:
    why = before.message or next((move.message for move in before.moves if not move.outcome.has_landed), "")
    text = f"attempt {attempt}: what was left was planned again" + (f", since {why}" if why else "")
    return structs.replace(again, warnings=(text, *again.warnings))


def _noted(results: list[PlanResult], text: str) -> PlanResult:
    whole = joined(results)
    return structs.replace(whole, warnings=(*whole.warnings, text))
