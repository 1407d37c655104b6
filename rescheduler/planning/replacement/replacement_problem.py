"""The pods that must leave, the machines that could be bought for them, and the room that there is, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from rescheduler.extension_points import SchedulerPrediction
from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.model.columns.placement import Placement
from rescheduler.model.columns.spread import HOSTNAME
from rescheduler.model.plan.disruption import Eligibility
from rescheduler.model.usage.usage import FloatArray
from rescheduler.planning.problem.problem import Problem


@dataclass(frozen=True, eq=False)
class ReplacementProblem:
    """K kinds of pods, T machines, E nodes that stay, R resources.

    ``count``: int64[K]; ``request``: int64[K, R]; ``machine_room``: int64[T, R]; ``node_room``: int64[E, R], never
    negative. ``most_on_machine``, ``most_on_node``: int64[K, T] and int64[K, E], how many of a kind one of them takes
    at most. ``price``: float64[T]; ``type_of``: int64[T], machines of one number are of one type.
    """

    count: IntArray
    request: IntArray
    machine_room: IntArray
    price: FloatArray
    type_of: IntArray
    most_on_machine: IntArray
    node_room: IntArray
    most_on_node: IntArray
    most_types: int = 3

    @cached_property
    def pods(self) -> int:
        """How many pods must leave."""
        return int(self.count.sum())

    def without_nodes(self) -> ReplacementProblem:
        """The same, where nothing finds room but on machines."""
        return replace(self, node_room=self.node_room[:0], most_on_node=np.zeros((len(self.count), 0), dtype=np.int64))

    def cost(self, numbers: Sequence[int]) -> float:
        """Price of so many of each machine."""
        return float(np.asarray(numbers) @ self.price)


def replacement_problem(
    prediction: SchedulerPrediction,
    eligibility: Eligibility,
    pods: Sequence[int],
    machines: Sequence[int],
    nodes: Sequence[int],
    price: FloatArray,
    type_of: IntArray,
    *,
    as_it_stands: bool = False,
) -> ReplacementProblem:
    """The arrays. ``pods``: those that leave; ``machines``: nodes that stand for one of each; ``nodes``: that stay.

    Rules between pods are left out but for pods that may not meet on a node, so that no arrangement is missed in which
    pods of other nodes stay; ``as_it_stands``: of the nodes that stay those only that take a pod now, by all rules.
    """
    problem = Problem(prediction, Placement(prediction.columns), eligibility)
    groups = _kinds(problem, pods)
    examples = [group[0] for group in groups]
    request = np.array([problem.request_of(pod) for pod in examples], dtype=np.int64).reshape(len(groups), -1)
    count = np.array([len(group) for group in groups], dtype=np.int64)
    is_alone = np.array([_is_alone(problem, group) for group in groups], dtype=np.bool_)
    static = np.array([prediction.static_feasible(pod) for pod in examples], dtype=np.bool_)
    now = static & ~np.array([_meets(problem, pod, pods) for pod in examples], dtype=np.bool_)
    if as_it_stands:
        now = np.array([prediction.feasible(pod, problem.start) for pod in examples], dtype=np.bool_)
    room = np.maximum(problem.free, 0).T
    at, stay = np.asarray(machines, dtype=np.int64), np.asarray(nodes, dtype=np.int64)
    highest = np.where(is_alone, 1, count)
    return ReplacementProblem(
        count=count,
        request=request,
        machine_room=room[at],
        price=price,
        type_of=type_of,
        most_on_machine=_most(request, room[at], static[:, at], highest),
        node_room=room[stay],
        most_on_node=_most(request, room[stay], now[:, stay], highest),
    )


def _kinds(problem: Problem, pods: Sequence[int]) -> list[list[int]]:
    """Pods that no rule here tells apart, in order of their first."""
    columns = problem.columns
    groups: dict[tuple[int, int, int], list[int]] = {}
    for pod in pods:
        mask, _ = problem.static_mask(pod)
        key = int(columns.shape_of[pod]), int(columns.label_set_of[pod]), mask
        groups.setdefault(key, []).append(pod)
    return list(groups.values())


def _is_alone(problem: Problem, group: Sequence[int]) -> bool:
    """Whether no two of them may share a node."""
    return len(group) > 1 and any(
        conflict.topology_key in (None, HOSTNAME) and bool(np.isin(group[1], conflict.pods))
        for conflict in problem.entanglement.conflicts(group[0])
    )


def _meets(problem: Problem, pod: int, leaving: Sequence[int]) -> BoolArray:
    """Nodes on which a pod that stays keeps this one off, bool[N]."""
    found = np.zeros(problem.node_count, dtype=np.bool_)
    for conflict in problem.entanglement.conflicts(pod):
        if conflict.topology_key in (None, HOSTNAME):
            found[problem.start.sites(conflict.pods[~np.isin(conflict.pods, leaving)])] = True
    return found


def _most(request: IntArray, room: IntArray, fits: BoolArray, highest: IntArray) -> IntArray:
    """How many of each kind fit into each room, int64[K, rooms]."""
    asked = np.maximum(request, 1)[:, None, :]
    each = np.where(request[:, None, :] > 0, room[None, :, :] // asked, np.iinfo(np.int64).max)
    most: IntArray = np.where(fits, np.minimum(each.min(axis=2), highest[:, None]), 0)
    return most
