"""Orders of moves of which some leave before they arrive: every order tried where that is cheap, else a greedy one.

As few pods as can be are down while others leave: what single moves can do is not done this way.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import combinations, count
from typing import NamedTuple, TypeAlias

from rescheduler.planning.arrivals import Arrivals
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.draft import Draft, Schedule
from rescheduler.planning.exchanging import can_exchange, exchange
from rescheduler.planning.placing_times import settle_places
from rescheduler.planning.problem import Problem
from rescheduler.planning.waves import GroupsOfPods, Waves

MOST_EVENTS_IN_ALL_ORDERS = 9
A_POD = 1000
Event: TypeAlias = tuple[int, int]
Step: TypeAlias = tuple[Event, ...]


class Steps(NamedTuple):
    """Steps in their order, several moves of one step being an exchange; None: none found. ``was_complete``: or are."""

    steps: tuple[Step, ...] | None
    was_complete: bool


def greedy_exchanges(problem: Problem, draft: Draft) -> Schedule | None:
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


def best_exchanges(problem: Problem, draft: Draft, deadline: Deadline) -> tuple[Schedule | None, bool]:
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
    return whole or Schedule(tuple(waves.done), tuple(places), frozenset(waves.evict_first)), True


def any_steps(
    start: Arrivals, draft: Draft, deadline: Deadline, is_allowed: Callable[[Step], bool] = lambda _: True
) -> Steps:
    """Search over all orders of moves, exchanges and arrivals; those in which few pods change places come first.

    ``is_allowed``: asked of each exchange before the filters are.
    """
    events: list[Event] = [*draft.moves.items(), *draft.places.items()]
    everything = (1 << len(events)) - 1
    order = count()
    queue: list[tuple[int, int, int, Arrivals, tuple[Step, ...]]] = [(0, next(order), 0, start, ())]
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


def _price(step: Step) -> int:
    """Fewest pods that leave before they arrive; then few of them at once."""
    return A_POD * len(step) + len(step) ** 2 if len(step) > 1 else 0


def _following(events: list[Event], moves: int, done: int) -> Iterator[tuple[int, Step]]:
    """Single events that are left, and all groups of moves among them; with what is done after each."""
    left = [number for number in range(len(events)) if not done >> number & 1]
    for number in left:
        yield done | 1 << number, (events[number],)
    movers = [number for number in left if number < moves]
    for size in range(2, len(movers) + 1):
        for chosen in combinations(movers, size):
            yield done | sum(1 << number for number in chosen), tuple(events[number] for number in chosen)


def _is_possible(now: Arrivals, step: Step, is_allowed: Callable[[Step], bool]) -> bool:
    if len(step) == 1:
        return now.can_arrive(*step[0])
    return is_allowed(step) and can_exchange(now, step)
