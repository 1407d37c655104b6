"""Orders moves into waves in which every pod arrives before it departs.

Greedy first; where that is stuck and the plan is small, every order is tried.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Draft, Schedule
from rescheduler.planning.exchange_orders import MOST_EVENTS_IN_ALL_ORDERS, best_exchanges, greedy_exchanges
from rescheduler.planning.placing_times import settle_places
from rescheduler.planning.problem import Problem
from rescheduler.planning.waves import Waves

MOST_EVENTS_TO_PERMUTE = 12


class Sequencing(NamedTuple):
    """A schedule, or none; ``is_impossible``: every order was tried and none works."""

    schedule: Schedule | None
    is_impossible: bool = False


def sequence(problem: Problem, draft: Draft, deadline: Deadline, hint: Sequence[tuple[int, int]] = ()) -> Sequencing:
    """Find an order in which every event of a draft may happen; ``hint`` is an order of its moves to try early.

    Where the problem allows that, pods may leave before they arrive, but only if no other order is found.
    """
    found = sequence_single_moves(problem, draft, deadline, hint)
    if found.schedule is not None or not problem.may_evict_first or len(draft.moves) < 2:
        return found
    if len(draft.moves) + len(draft.places) <= MOST_EVENTS_IN_ALL_ORDERS:
        schedule, is_certain = best_exchanges(problem, draft, deadline)
        return Sequencing(schedule, is_impossible=is_certain and schedule is None)
    return Sequencing(greedy_exchanges(problem, draft))


def sequence_single_moves(
    problem: Problem, draft: Draft, deadline: Deadline, hint: Sequence[tuple[int, int]] = ()
) -> Sequencing:
    """As ``sequence``, where every pod arrives before it departs."""
    for waves in (greedy_waves(problem, draft), waves_in_order(problem, hint) if hint else None):
        schedule = None if waves is None else settle_places(problem, waves, draft.places)
        if schedule is not None:
            return Sequencing(schedule)
    if len(draft.moves) + len(draft.places) > MOST_EVENTS_TO_PERMUTE:
        return Sequencing(None)
    order, was_complete = any_order(Arrivals(problem), draft, deadline)
    if order is None:
        return Sequencing(None, is_impossible=was_complete)
    return Sequencing(_packed(problem, order, draft))


def greedy_waves(problem: Problem, draft: Draft) -> list[tuple[tuple[int, int], ...]] | None:
    """Waves of as many moves as may run side by side, most waited-for origin first; None where that is stuck."""
    builder, remaining = _run_greedily(problem, draft)
    return None if remaining else builder.done


def possible_part(problem: Problem, draft: Draft) -> Draft:
    """What of a draft can be done before it is stuck: moves in waves, then the places that are free by then."""
    builder, remaining = _run_greedily(problem, draft)
    places = {}
    for pod in problem.pending:
        if pod in draft.places and builder.now.can_arrive(pod, draft.places[pod]):
            builder.now.placement.assume(pod, draft.places[pod])
            places[pod] = draft.places[pod]
    return Draft({pod: node for pod, node in draft.moves.items() if pod not in remaining}, places)


def _run_greedily(problem: Problem, draft: Draft) -> tuple[Waves, dict[int, int]]:
    builder = Waves(problem)
    remaining = dict(draft.moves)
    origin = problem.start.node_of
    while remaining:
        waited_for = Counter(remaining.values())
        waited_for.update(draft.places.values())
        for pod in sorted(remaining, key=lambda pod: (-waited_for[int(origin[pod])], pod)):
            if builder.try_move(pod, remaining[pod]):
                del remaining[pod]
        if not builder.close():
            break
    return builder, remaining


def waves_in_order(problem: Problem, order: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], ...]] | None:
    """Pack an order of moves into waves; None if a move is not possible when its turn comes."""
    builder = Waves(problem)
    for pod, node in order:
        if not builder.try_move(pod, node) and not (builder.close() and builder.try_move(pod, node)):
            return None
    builder.close()
    return builder.done


def any_order(start: Arrivals, draft: Draft, deadline: Deadline) -> tuple[list[tuple[int, int]] | None, bool]:
    """Depth-first search over all orders of moves and arrivals; each set of finished events is looked at once.

    Returns an order or None, and whether the search was complete.
    """
    events = [*draft.moves.items(), *draft.places.items()]
    everything = (1 << len(events)) - 1
    seen = {0}
    stack: list[tuple[int, Arrivals, tuple[int, ...]]] = [(0, start, ())]
    while stack and not deadline.is_over():
        done, now, order = stack.pop()
        if done == everything:
            return [events[number] for number in order], True
        for number in reversed(range(len(events))):
            after = done | 1 << number
            if done >> number & 1 or after in seen:
                continue
            pod, node = events[number]
            if now.can_arrive(pod, node):
                seen.add(after)
                stack.append((after, _after(now, pod, node, is_move=pod in draft.moves), (*order, number)))
    return None, not stack


def _after(now: Arrivals, pod: int, node: int, *, is_move: bool) -> Arrivals:
    later = now.copy()
    if is_move:
        later.placement.move(pod, node)
        later.placement.settle()
    else:
        later.placement.assume(pod, node)
    return later


def _packed(problem: Problem, order: list[tuple[int, int]], draft: Draft) -> Schedule:
    """Pack an order of events into waves; a place that comes before a move ends the wave."""
    builder = Waves(problem)
    places = builder.run(([event] for event in order), draft.places)
    return Schedule(tuple(builder.done), tuple(places))
