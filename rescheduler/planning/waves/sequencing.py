"""Orders moves into waves in which every pod arrives before it departs.

Greedy first; where that is stuck and the plan is small, every order is tried.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, count
from typing import NamedTuple, TypeAlias

from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import Draft, WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.arrivals import Arrivals, can_exchange, exchange
from rescheduler.planning.waves.placing_times import settle_places
from rescheduler.planning.waves.waves import GroupsOfPods, Waves

# Orders of moves of which some leave before they arrive: every order tried where that is cheap, else a greedy one.
## As few pods as can be are down while others leave: what single moves can do is not done this way.

MOST_EVENTS_IN_ALL_ORDERS = 9
A_POD = 1000
Event: TypeAlias = tuple[int, int]
SingleMove: TypeAlias = tuple[Event, ...]


class Steps(NamedTuple):
    """Steps in their order, several moves of one step being an exchange; None: none found. ``was_complete``: or are."""

    steps: tuple[SingleMove, ...] | None
    was_complete: bool


def greedy_exchanges(problem: Problem, draft: Draft) -> WaveSchedule | None:
    """Waves of single moves, and where these are stuck a small exchange, again and again; None if that is stuck too."""
    waves = Waves(problem)
    left = dict(draft.moves)
    while left:
        made = [pod for pod, node in left.items() if waves.try_move(pod, node)]
        if not waves.close():
            made = [pod for pod, _ in waves.exchange_some(tuple(left.items()))]
        if not made:
            return None
        left = {pod: node for pod, node in left.items() if pod not in made}
    return settle_places(problem, waves.done, draft.places, waves.evict_first)


def best_exchanges(problem: Problem, draft: Draft, deadline: Deadline) -> tuple[WaveSchedule | None, bool]:
    """The order in which the fewest pods leave before they arrive; None, and whether it is certain that there is none.

    Only for drafts of few moves and places.
    """
    groups = GroupsOfPods(problem)
    waves = Waves(problem, groups)
    found = any_steps(Arrivals(problem), draft, deadline, waves.keeps_allowances)
    if found.steps is None:
        return None, found.was_complete
    places = waves.run(found.steps, draft.places)
    whole = settle_places(problem, waves.done, draft.places, waves.evict_first)
    return whole or WaveSchedule(tuple(waves.done), tuple(places), frozenset(waves.evict_first)), True


def any_steps(
    start: Arrivals, draft: Draft, deadline: Deadline, is_allowed: Callable[[SingleMove], bool] = lambda _: True
) -> Steps:
    """Search over all orders of moves, exchanges and arrivals; those in which few pods change places come first.

    ``is_allowed``: asked of each exchange before the filters are.
    """
    events: list[Event] = [*draft.moves.items(), *draft.places.items()]
    everything = (1 << len(events)) - 1
    order = count()
    queue: list[tuple[int, int, int, Arrivals, tuple[SingleMove, ...]]] = [(0, next(order), 0, start, ())]
    best = {0: 0}
    while queue and not deadline.is_over():
        cost, _, done, now, steps = heapq.heappop(queue)
        if done == everything:
            return Steps(steps, was_complete=True)
        if cost > best[done]:
            continue
        for after, step in _following(events, len(draft.moves), done):
            price = cost + _price(step)
            if price < best.get(after, price + 1) and _is_possible(now, step, is_allowed):
                best[after] = price
                later = now.copy()
                exchange(later.placement, step)
                heapq.heappush(queue, (price, next(order), after, later, (*steps, step)))
    return Steps(None, was_complete=not queue)


def _price(step: SingleMove) -> int:
    """Fewest pods that leave before they arrive; then few of them at once."""
    return A_POD * len(step) + len(step) ** 2 if len(step) > 1 else 0


def _following(events: list[Event], moves: int, done: int) -> Iterator[tuple[int, SingleMove]]:
    """Single events that are left, and all groups of moves among them; with what is done after each."""
    left = [number for number in range(len(events)) if not done >> number & 1]
    for number in left:
        yield done | 1 << number, (events[number],)
    movers = [number for number in left if number < moves]
    for size in range(2, len(movers) + 1):
        for chosen in combinations(movers, size):
            yield done | sum(1 << number for number in chosen), tuple(events[number] for number in chosen)


def _is_possible(now: Arrivals, step: SingleMove, is_allowed: Callable[[SingleMove], bool]) -> bool:
    if len(step) == 1:
        return now.can_arrive(*step[0])
    return is_allowed(step) and can_exchange(now, step)


MOST_EVENTS_TO_PERMUTE = 12


class Sequencing(NamedTuple):
    """A schedule, or none; ``is_impossible``: every order was tried and none works."""

    schedule: WaveSchedule | None
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


def _packed(problem: Problem, order: list[tuple[int, int]], draft: Draft) -> WaveSchedule:
    """Pack an order of events into waves; a place that comes before a move ends the wave."""
    builder = Waves(problem)
    places = builder.run(([event] for event in order), draft.places)
    return WaveSchedule(tuple(builder.done), tuple(places))
