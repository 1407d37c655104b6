"""Pending pods that fit as things stand: the scheduler lets them in whatever is planned, so they count as placed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.plan_request import PlannedPlace, PlanRequest
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.waves.arrivals import Arrivals
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.scheduler_choice import SchedulerChoice
from rescheduler.scheduling.queue import queue_order

# Pending pods that the scheduler has made room for itself: their nominated node is theirs once pods there are gone.


def seat_nominated(prediction: SchedulerPrediction, placement: Placement) -> dict[int, int]:
    """Put pending pods on the node they are nominated to, in ``placement``, where they only wait for pods to end there.

    Such a pod needs no help, and nobody else may be sent to its room. One that fits there already, and one that would
    not fit even then, waits like any other. Returns the pods with their nodes.
    """
    columns = placement.columns
    seated: dict[int, int] = {}
    for pod, node in sorted(nominations(placement).items(), key=lambda item: _by_priority(placement, item[0])):
        ending = np.flatnonzero(columns.is_terminating & (placement.node_of == node))
        if not len(ending) or not prediction.static_feasible(pod)[node]:
            continue
        request = columns.requests[:, columns.shape_of[pod]]
        room = placement.free()[:, [node]]
        held = np.array([placement.held_at(other, node) for other in ending.tolist()])
        later = room + held.sum(axis=0)[:, None]
        if not fits(request, room)[0] and fits(request, later)[0]:
            placement.assume(pod, node)
            seated[pod] = node
    return seated


def nominations(placement: Placement) -> dict[int, int]:
    """Pending pods without a place, not gated, with the node that they are nominated to."""
    columns = placement.columns
    found = {}
    for number in np.flatnonzero(placement.node_of == NOWHERE).tolist():
        pod = columns.cluster.pods[number]
        node = columns.node_index.get(pod.nominated_node) if pod.nominated_node else None
        if node is not None and pod.is_pending and not pod.scheduling_gates:
            found[number] = node
    return found


def _by_priority(placement: Placement, pod: int) -> tuple[int, int]:
    return -placement.columns.cluster.pods[pod].spec.priority, pod


# Where pending pods that fit already will be put: the scheduler needs no plan for them, so its own choice is told.


def as_the_scheduler_places(problem: Problem, schedule: WaveSchedule, deadline: Deadline) -> WaveSchedule:
    """The same pods, each on a node that the scheduler likes best, in the order of its queue.

    Where that leaves one of them without a place, or time is over, the planner's own places stay.
    """
    helped = {pod for pod, _, _ in schedule.places}
    placement = problem.start.copy()
    nominated = nominations(placement)
    places: list[tuple[int, int, int]] = []
    for pod in queue_order(problem.columns.cluster):
        if pod in helped:
            best = _best_node(problem, placement, pod, nominated.get(pod))
            if best is None or deadline.is_over():
                return schedule
            placement.assume(pod, best)
            places.append((pod, best, 0))
    followed = WaveSchedule((), tuple(places))
    return schedule if replay(problem, followed) else followed


def _best_node(problem: Problem, placement: Placement, pod: int, nominated: int | None) -> int | None:
    """The node that the scheduler takes: the one the pod is nominated to if it still can be."""
    if nominated is not None and problem.prediction.feasible(pod, placement)[nominated]:
        return nominated
    return next(iter(SchedulerChoice(problem, placement).best(pod)), None)


# Places pending pods without moving anybody: what every plan must at least match.


def place_without_moves(problem: Problem) -> WaveSchedule:
    """Give pending pods, most important first and then largest first, the tightest node that takes them now.

    Of pods that go together all get one, or none.
    """
    state = Arrivals(problem)
    places: list[tuple[int, int, int]] = []
    capacity = np.maximum(1, problem.columns.allocatable.max(axis=1, initial=1))
    size = {pod: float((problem.request_of(pod) / capacity).max()) for pod in problem.pending}
    order = sorted(problem.pending, key=lambda pod: (-problem.pending_groups.priority(pod), -size[pod], pod))
    for unit in problem.pending_groups.in_units(order):
        nodes = _place_all(problem, state, unit)
        places += [(pod, node, 0) for pod, node in nodes.items()]
    return WaveSchedule((), tuple(places))


def _place_all(problem: Problem, state: Arrivals, unit: Sequence[int]) -> dict[int, int]:
    """Nodes for all these pods, in ``state`` too, or for none."""
    placed: dict[int, int] = {}
    for pod in unit:
        nodes = np.flatnonzero(state.open_nodes(pod))
        if not len(nodes):
            for other in placed:
                state.placement.forget(other)
            return {}
        placed[pod] = tightest(state.placement.free(), problem.request_of(pod), nodes)
        state.placement.assume(pod, placed[pod])
    return placed


def tightest(room: IntArray, request: IntArray, nodes: IntArray) -> int:
    """Of some nodes the one with the least room left after a pod arrives, each resource as a share of the most."""
    scale = np.maximum(1, room.max(axis=1, initial=1))[:, None]
    left = ((room[:, nodes] - request[:, None]) / scale).sum(axis=0)
    return int(nodes[int(np.argmin(left))])


def places_already_free(request: PlanRequest, deadline: Deadline) -> list[PlannedPlace]:
    """Where the scheduler puts them, in an order in which each finds its room."""
    if not request.eligibility.helpable:
        return []
    problem = Problem(request.prediction, request.placement, request.eligibility)
    schedule = as_the_scheduler_places(problem, place_without_moves(problem), deadline)
    return [PlannedPlace(pod, node, 0) for pod, node, _ in schedule.places]
