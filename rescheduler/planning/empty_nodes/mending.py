"""Seats pods for which no room was left, by exchanges, the cheapest first; then brings displaced pods home."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rescheduler.model.arrays import NOWHERE, IntArray
from rescheduler.planning.deadline import Deadline
from rescheduler.planning.empty_nodes.exchange import Room, make_room
from rescheduler.planning.empty_nodes.seating import Seating

_TARGETS = 6
_MOST_FAILURES = 12


def mend(seating: Seating, most_displaced: int, deadline: Deadline, random: np.random.Generator) -> bool:
    """Seat all that have no seat, with at most so many pods displaced; False if some are left or that is exceeded."""
    waiting = seating.unseated

    def is_over() -> bool:
        return deadline.is_over() or seating.displaced > most_displaced

    if not seat_waiting(seating, waiting, random, most_failures=_MOST_FAILURES, is_over=is_over):
        return False
    bring_home(seating, deadline, random)
    return seating.displaced <= most_displaced


def seat_waiting(
    seating: Seating,
    waiting: list[int],
    random: np.random.Generator,
    *,
    most_failures: int,
    is_over: Callable[[], bool],
) -> bool:
    """Seat these pods, exchanging where needed; False, and some left, after so many failures in a row or when over.

    The first is tried first; after a failure any of them, with more targets.
    """
    failures = 0
    while waiting:
        if failures > most_failures or is_over():
            return False
        pod = waiting[0] if failures == 0 else waiting[int(random.integers(len(waiting)))]
        if seat_or_make_room(seating, pod, _TARGETS + failures, random):
            waiting.remove(pod)
            failures = 0
        else:
            failures += 1
    return True


def seat_or_make_room(seating: Seating, pod: int, targets: int, random: np.random.Generator) -> bool:
    """Seat a pod where it fits, else on one of the ``targets`` nodes that lack least for it, after exchanges."""
    fits = np.flatnonzero(seating.fits(pod))
    if fits.size:
        seating.seat(pod, int(fits[0]))
        return True
    nodes = _nearly_fitting(seating, pod, targets)
    for node in nodes:
        if make_room(seating, pod, node, may_displace=False, random=random) is not None:
            seating.seat(pod, node)
            return True
    rooms = [(price, node) for node in nodes if (price := _price_of_room(seating, pod, node, random)) is not None]
    for _, node in sorted(rooms):
        if make_room(seating, pod, node, may_displace=True, random=random) is not None:
            seating.seat(pod, node)
            return True
    return False


def _price_of_room(seating: Seating, pod: int, node: int, random: np.random.Generator) -> int | None:
    room: Room | None = make_room(seating, pod, node, may_displace=True, random=random)
    if room is None:
        return None
    seating.restore(room.steps)
    return room.price


def _nearly_fitting(seating: Seating, pod: int, most: int) -> list[int]:
    """Kept nodes that lack the least for a pod."""
    drainage = seating.drainage
    nodes: IntArray = seating.kept[drainage.open_to[drainage.class_of[pod], seating.kept]]
    missing = np.maximum(0, drainage.request[pod] - seating.free[nodes]) * seating.weight
    order = np.argsort(missing.max(axis=1, initial=0.0), kind="stable")[:most]
    return [int(node) for node in nodes[order]]


def bring_home(seating: Seating, deadline: Deadline, random: np.random.Generator) -> None:
    """Give displaced pods their seat at home back where pods that must move anyway can make room for them."""
    home = seating.drainage.home
    for pod in np.flatnonzero(seating.is_native & (seating.node_of != home)).tolist():
        if deadline.is_over():
            return
        before, goal = int(seating.node_of[pod]), int(home[pod])
        if before == goal:
            continue
        displaced = seating.displaced
        seating.seat(pod, NOWHERE)
        room = make_room(seating, pod, goal, may_displace=False, random=random)
        if room is not None:
            seating.seat(pod, goal)
            if seating.displaced < displaced:
                continue
            seating.seat(pod, NOWHERE)
            seating.restore(room.steps)
        seating.seat(pod, before)
