"""Seats pods for which no room was left, by exchanges, the cheapest first; then brings displaced pods home."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, BoolArray, IntArray
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.objectives.empty_nodes.repacking.seating import Seating
from rescheduler.planning.problem.deadline import Deadline

# Makes room on one node for one pod by exchanging smaller differences with other nodes.

MOST_STEPS = 25
MOST_PARTNERS = 1500
# What a pod that leaves its home counts against room won, the pod's whole shortage being the unit.
_PRICE_OF_A_MOVE = 0.002
_SMALLEST_GAIN = 1e-12


class Room(NamedTuple):
    """What was done: (pod, node before) in order, and how many more pods than before are away from a kept home."""

    steps: tuple[tuple[int, int], ...]
    price: int


class _Step(NamedTuple):
    """A pod of the node goes to another one, perhaps in exchange for a pod of that (NOWHERE: for none)."""

    value: float
    pod: int
    partner: int
    node: int
    price: int


def make_room(seating: Seating, pod: int, node: int, *, may_displace: bool, random: np.random.Generator) -> Room | None:
    """Exchange pods until ``pod`` fits on ``node``; None, and nothing changed, where that is not reached.

    ``may_displace``: whether pods may leave kept nodes that are their home; else only such as must move anyway do.
    """
    steps: list[tuple[int, int]] = []
    price = 0
    for _ in range(MOST_STEPS):
        shortage = _shortage(seating, pod, node)
        if shortage == 0:
            return Room(tuple(steps), price)
        best = _best_step(seating, pod, node, shortage, may_displace=may_displace, random=random)
        if best is None:
            break
        steps += _carry_out(seating, best, node)
        price += best.price
    if _shortage(seating, pod, node) == 0:
        return Room(tuple(steps), price)
    seating.restore(steps)
    return None


def _shortage(seating: Seating, pod: int, node: int) -> float:
    missing = np.maximum(0, seating.drainage.request[pod] - seating.free[node])
    return float((missing * seating.weight).max(initial=0.0))


def _carry_out(seating: Seating, step: _Step, node: int) -> list[tuple[int, int]]:
    done = [(step.pod, node)]
    seating.seat(step.pod, NOWHERE)
    if step.partner != NOWHERE:
        done.append((step.partner, step.node))
        seating.seat(step.partner, node)
    seating.seat(step.pod, step.node)
    return done


def _best_step(
    seating: Seating, pod: int, node: int, shortage: float, *, may_displace: bool, random: np.random.Generator
) -> _Step | None:
    mine = np.array([p for p in seating.pods_of[node] if may_displace or not _is_at_home(seating, p)], dtype=np.int64)
    if not mine.size:
        return None
    found = [
        step
        for step in (
            _best_departure(seating, pod, node, mine, shortage),
            _best_exchange(seating, pod, node, mine, shortage, may_displace=may_displace, random=random),
        )
        if step is not None
    ]
    return min(found, default=None, key=lambda step: step.value)


def _is_at_home(seating: Seating, pod: int) -> bool:
    return bool(seating.is_native[pod] and seating.node_of[pod] == seating.drainage.home[pod])


def _prices(seating: Seating, pods: IntArray, goals: IntArray) -> IntArray:
    """Pods more away from a kept home if each pod goes to each goal, int64[pods, goals] (broadcast)."""
    home = seating.drainage.home[pods][:, None]
    native = seating.is_native[pods][:, None]
    at_home = (seating.node_of[pods] == seating.drainage.home[pods])[:, None]
    leaves: IntArray = (native & at_home & (home != goals[None, :])).astype(np.int64)
    returns: IntArray = (native & ~at_home & (home == goals[None, :])).astype(np.int64)
    return leaves - returns


def _best_departure(seating: Seating, pod: int, node: int, mine: IntArray, shortage: float) -> _Step | None:
    """A pod of the node simply leaves."""
    drainage = seating.drainage
    goals = seating.kept[seating.kept != node]
    leaving = drainage.request[mine]
    fits: BoolArray = (seating.free[goals][None] >= leaving[:, None]).all(axis=2)
    fits &= drainage.open_to[drainage.class_of[mine]][:, goals]
    prices = _prices(seating, mine, goals)
    after = _shortages_after(seating, pod, seating.free[node] + leaving)[:, None]
    value = np.where(fits & (after < shortage - _SMALLEST_GAIN), after + _PRICE_OF_A_MOVE * shortage * prices, np.inf)
    if not value.size or not np.isfinite(value.min()):
        return None
    row, column = np.unravel_index(int(value.argmin()), value.shape)
    return _Step(float(value[row, column]), int(mine[row]), NOWHERE, int(goals[column]), int(prices[row, column]))


def _best_exchange(
    seating: Seating,
    pod: int,
    node: int,
    mine: IntArray,
    shortage: float,
    *,
    may_displace: bool,
    random: np.random.Generator,
) -> _Step | None:
    """A pod of the node and one of another node change places."""
    drainage = seating.drainage
    others = _partners(seating, node, may_displace=may_displace, random=random)
    if not others.size:
        return None
    at = seating.node_of[others]
    won = drainage.request[mine][:, None] - drainage.request[others][None]
    here = seating.free[node] + won
    fits: BoolArray = (here >= 0).all(axis=2) & (seating.free[at][None] >= won).all(axis=2)
    fits &= drainage.open_to[drainage.class_of[mine]][:, at]
    fits &= drainage.open_to[drainage.class_of[others], node][None]
    prices = _prices(seating, mine, at) + _prices(seating, others, np.array([node])).T
    after = _shortages_after(seating, pod, here)
    # Of steps that are enough the one that wins least beyond it keeps room for other pods.
    waste = ((here - drainage.request[pod]) * seating.weight).max(axis=2).clip(min=0)
    value = after + _PRICE_OF_A_MOVE * shortage * prices + np.where(after == 0, 1e-3 * waste, 0.0)
    value = np.where(fits & (after < shortage - _SMALLEST_GAIN), value, np.inf)
    if not np.isfinite(value.min(initial=np.inf)):
        return None
    row, column = np.unravel_index(int(value.argmin()), value.shape)
    return _Step(
        float(value[row, column]), int(mine[row]), int(others[column]), int(at[column]), int(prices[row, column])
    )


def _partners(seating: Seating, node: int, *, may_displace: bool, random: np.random.Generator) -> IntArray:
    """Pods of other nodes: all that must move anyway, and a sample of the others."""
    seated = (seating.node_of != NOWHERE) & (seating.node_of != node)
    away = seating.node_of != seating.drainage.home
    free_of_charge = np.flatnonzero(seated & away)
    if not may_displace:
        return free_of_charge
    at_home = np.flatnonzero(seated & ~away)
    most = max(0, MOST_PARTNERS - free_of_charge.size)
    if at_home.size > most:
        at_home = random.choice(at_home, size=most, replace=False)
    return np.concatenate((free_of_charge, at_home))


def _shortages_after(seating: Seating, pod: int, free: IntArray) -> FloatArray:
    missing = np.maximum(0, seating.drainage.request[pod] - free) * seating.weight
    shortages: FloatArray = missing.max(axis=-1, initial=0.0)
    return shortages


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
