"""The pending pods that fit nowhere as things stand, by class, and what several of them lack on each node."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from rescheduler.model.columns.arrays import BoolArray, IntArray
from rescheduler.planning.problem.amounts import fits
from rescheduler.planning.problem.draft import WaveSchedule
from rescheduler.planning.problem.problem import Problem
from rescheduler.planning.room_model.ranking import help_stages
from rescheduler.planning.solvers.master import Column
from rescheduler.planning.waves.arrivals import Arrivals

# Which movable pods would find a place on another node as things stand.

ROOMIEST = 24
_CHUNK = 4096


def placeable_rows(problem: Problem, room: IntArray) -> BoolArray:
    """Movable pods, bool[M], for which some node but their own has room (int64[R, N]) and passes the static filters.

    Pods alike in request and mask are looked at once, against the roomiest nodes first.
    """
    answer = np.zeros(len(problem.movable), dtype=np.bool_)
    numbers = problem.mask_numbers
    for number in np.unique(numbers).tolist():
        rows = np.flatnonzero(numbers == number)
        mask = problem.masks[number]
        answer[rows] = _placeable(problem, room, rows, mask)
    return answer


def _placeable(problem: Problem, room: IntArray, rows: IntArray, mask: BoolArray) -> BoolArray:
    nodes = np.flatnonzero(mask)
    shapes = problem.columns.shape_of[problem.movable[rows]]
    _, first, class_of = np.unique(shapes, return_index=True, return_inverse=True)
    requests = problem.requests[:, rows[first]]
    sample = _roomiest(room, nodes)
    hits = np.concatenate(
        [_hits(requests[:, start : start + _CHUNK], room[:, sample]) for start in range(0, requests.shape[1], _CHUNK)]
    )
    answer: BoolArray = (hits >= 2)[class_of]  # one of the two is not its own node
    for number in np.flatnonzero(hits < 2).tolist():
        open_nodes = nodes[fits(requests[:, number], room[:, nodes])]
        members = np.flatnonzero(class_of == number)
        if len(open_nodes) == 1:
            answer[members] = problem.origin[rows[members]] != open_nodes[0]
        else:
            answer[members] = len(open_nodes) > 1
    return answer


def _hits(requests: IntArray, room: IntArray) -> IntArray:
    """On how many of a few nodes each request fits, int64[classes]."""
    fitting = (requests[:, :, None] <= room[:, None, :]) | (requests[:, :, None] == 0)
    return np.asarray(fitting.all(axis=0).sum(axis=1))


def _roomiest(room: IntArray, nodes: IntArray) -> IntArray:
    """A few nodes with the most room: in each resource, and in all of them together."""
    if len(nodes) <= ROOMIEST:
        return nodes
    inside = room[:, nodes]
    shares = inside / np.maximum(1, inside.max(axis=1, initial=1))[:, None]
    picks = [np.argsort(-shares.min(axis=0), kind="stable")[: ROOMIEST // 2]]
    picks += [np.argsort(-share, kind="stable")[: ROOMIEST // 6] for share in shares[:3]]
    return nodes[np.unique(np.concatenate(picks))]


MOST_MULTISETS = 80
MOST_TOGETHER = 3


class WaitingForReplacements:
    """Pods that wait for room, in classes of identical ones.

    ``state``: the start with the pods placed that fit without moves; ``placed``: where those are; ``counts``: pods of
    each class; ``stages``: weight of each class, most important stage first.
    """

    def __init__(self, problem: Problem, without_moves: WaveSchedule) -> None:
        """``without_moves``: a placing of the pods that fit already."""
        self.problem = problem
        self.placed = {pod: node for pod, node, _ in without_moves.places}
        self.pods = tuple(pod for pod in problem.pending if pod not in self.placed)
        self.state = Arrivals(problem)
        for pod, node in self.placed.items():
            self.state.placement.assume(pod, node)
        classes: dict[Hashable, list[int]] = {}
        for pod in self.pods:
            classes.setdefault(self._key(pod), []).append(pod)
        self.classes = tuple(map(tuple, classes.values()))
        self.counts = tuple(map(len, self.classes))
        self.stages = self._stages()

    @cached_property
    def together(self) -> tuple[tuple[int, ...], ...]:
        """Classes of each group, which are helped whole or not at all; a class is of one group only."""
        groups: dict[int, list[int]] = {}
        for number, members in enumerate(self.classes):
            group = self.problem.pending_groups.group_of.get(members[0])
            if group is not None:
                groups.setdefault(group, []).append(number)
        return tuple(map(tuple, groups.values()))

    @cached_property
    def room(self) -> IntArray:
        """Room with the placed pods in, int64[R, N]."""
        return self.state.placement.free()

    @cached_property
    def placeable(self) -> BoolArray:
        """Movable pods, bool[M], that would find a place on another node beside the placed pods."""
        return placeable_rows(self.problem, self.room)

    @cached_property
    def most_together(self) -> int:
        """How many waiting pods at most one multiset holds."""
        number = len(self.classes)
        if number == 1:
            return min(self.counts[0], 12)
        for size in range(MOST_TOGETHER, 1, -1):
            if sum(_multisets(number, together) for together in range(1, size + 1)) <= MOST_MULTISETS:
                return size
        return 1

    @cached_property
    def multisets(self) -> tuple[tuple[int, ...], ...]:
        """Counts by class of all small multisets of waiting pods."""
        number = len(self.classes)
        found = []
        for size in range(1, self.most_together + 1):
            for picks in combinations_with_replacement(range(number), size):
                counts = tuple(picks.count(item) for item in range(number))
                if all(count <= most for count, most in zip(counts, self.counts, strict=True)):
                    found.append(counts)
        return tuple(found)

    def by_size(self, *, largest_first: bool) -> list[int]:
        """The waiting pods, most important first, then by the largest share of a node that they ask for."""
        capacity = np.maximum(1, self.problem.columns.allocatable.max(axis=1, initial=1))
        sign = -1 if largest_first else 1
        size = {pod: sign * float((self.problem.request_of(pod) / capacity).max()) for pod in self.pods}
        return sorted(self.pods, key=lambda pod: (-self.problem.pending_groups.priority(pod), size[pod], pod))

    def demand(self, multiset: Sequence[int]) -> IntArray:
        """What the pods of a multiset ask for together, int64[R]."""
        total = np.zeros(len(self.room), dtype=np.int64)
        for members, count in zip(self.classes, multiset, strict=True):
            total += count * self.problem.request_of(members[0])
        return total

    def deficit(self, multiset: Sequence[int], room: IntArray | None = None) -> IntArray:
        """What a multiset lacks on each node, int64[R, N]; not positive where nothing lacks."""
        demand = self.demand(multiset)[:, None]
        return np.where(demand > 0, demand - (self.room if room is None else room), 0)

    def allowed(self, multiset: Sequence[int]) -> BoolArray:
        """Nodes that pass the static filters of all pods of a multiset, bool[N]."""
        masks = [
            self.problem.static_mask(members[0])[1]
            for members, count in zip(self.classes, multiset, strict=True)
            if count
        ]
        return np.asarray(np.logical_and.reduce(masks))

    def open_now(self, multiset: Sequence[int]) -> BoolArray:
        """Nodes that nothing but room keeps from taking a multiset as things stand, bool[N]."""
        mask = self.allowed(multiset).copy()
        for members, count in zip(self.classes, multiset, strict=True):
            if count and self.problem.is_entangled(members[0]):
                mask &= ~self.problem.refused_by_others(members[0], self.state.placement)
        return mask

    def assign(self, columns: Sequence[Column]) -> dict[int, int]:
        """Name the pods that columns place, first come first served; no more than wait."""
        queues = [list(members) for members in self.classes]
        places: dict[int, int] = {}
        for column in columns:
            for queue, count in zip(queues, column.counts, strict=True):
                for _ in range(min(count, len(queue))):
                    places[queue.pop(0)] = column.node
        return places

    def _key(self, pod: int) -> Hashable:
        columns = self.problem.columns
        pending_groups = self.problem.pending_groups
        group, priority = pending_groups.group_of.get(pod, -1), pending_groups.priority(pod)
        if self.problem.is_entangled(pod):
            alone = pod if columns.cluster.pods[pod].volumes else -1
            return (group, priority, int(columns.shape_of[pod]), int(columns.label_set_of[pod]), alone)
        return (group, priority, self.problem.static_mask(pod)[0], self.problem.request_of(pod).tobytes())

    def _stages(self) -> tuple[Mapping[int, int], ...]:
        """With a worth in evictions the least important classes are a stage of their own."""
        priority = [self.problem.pending_groups.priority(members[0]) for members in self.classes]
        found = []
        for weights in help_stages(self.problem):
            stage = {number: weights[level] for number, level in enumerate(priority) if level in weights}
            levels = (
                self.problem.pending_groups.levels if self.problem.pending_groups.evictions_per_pod is not None else ()
            )
            last = levels[-1] if levels else None
            above = {number: weight for number, weight in stage.items() if priority[number] != last}
            least = {number: 1 for number in stage if priority[number] == last}
            found += [part for part in (above, least) if part]
        return tuple(found)


def _multisets(kinds: int, size: int) -> int:
    count = 1
    for step in range(size):
        count = count * (kinds + step) // (step + 1)
    return count
