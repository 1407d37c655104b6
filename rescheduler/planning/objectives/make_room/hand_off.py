"""What to add where no rearrangement helps: which shape of node, and how many of them at least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rescheduler.model.columns.arrays import NOWHERE, IntArray
from rescheduler.model.columns.spread import HOSTNAME
from rescheduler.model.objects.constraints import NodeSelectorTerm
from rescheduler.model.objects.resources import PODS, format_amount
from rescheduler.planning.objectives.make_room.flow_programme import NOISE, FlowProgramme, requests_of
from rescheduler.planning.problem.amounts import fits as fits_in
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.problem.problem import Problem


@dataclass(frozen=True)
class NodesToAdd:
    """At least ``count`` more nodes like ``example`` (a node index) help ``pods``; ``enough`` help them for certain.

    ``too_large``: pods for which no node of the cluster is large enough, though its labels and taints let them in.
    """

    count: int = 0
    enough: int = 0
    example: int = NOWHERE
    pods: tuple[int, ...] = ()
    too_large: tuple[int, ...] = ()

    def facts(self, problem: Problem) -> dict[str, Any]:
        """The same for users; empty if there is nothing to say."""
        found: dict[str, Any] = {}
        if self.pods:
            node = problem.columns.cluster.nodes[self.example]
            shape = {name: format_amount(name, amount) for name, amount in node.allocatable}
            found["addNodes"] = {
                "count": self.count,
                "enough": self.enough,
                "helps": len(self.pods),
                "shape": shape,
                "example": node.name,
            }
        if self.too_large:
            found["largerThanEveryNode"] = needed(problem, self.too_large)
        return found


def nodes_to_add(problem: Problem, left: Sequence[int], deadline: Deadline) -> NodesToAdd:
    """The smallest shape of existing nodes that takes all pods that are ``left`` (or else the most of them)."""
    if not left or not problem.node_count:
        return NodesToAdd()
    asked = requests_of(problem, left)
    room = _room_when_new(problem)
    distinct, number_of = np.unique(asked, axis=0, return_inverse=True)
    fits = np.array([fits_in(request, room) for request in distinct])[number_of.reshape(-1)]
    allowed = np.array([problem.static_mask(pod)[1] for pod in left]).reshape(len(left), -1)
    is_open = np.array([not _is_tied_to_a_node(problem, pod) for pod in left], dtype=np.bool_)
    helped = fits & allowed & is_open[:, None]
    is_large = allowed.any(axis=1) & ~(fits & allowed).any(axis=1)
    large = tuple(left[number] for number in np.flatnonzero(is_large).tolist())
    if not helped.any():
        return NodesToAdd(too_large=large)
    example = _smallest(room, helped, asked)
    pods = tuple(pod for pod, is_helped in zip(left, helped[:, example], strict=True) if is_helped)
    enough = _packed(problem, pods, room[:, example])
    rest = [pod for pod in problem.pending if pod not in left]
    fewest = None
    if not deadline.is_over():
        fewest = FlowProgramme(problem, [*rest, *pods]).fewest_added(room[:, example], example, deadline)
    count = 1 if fewest is None else max(1, int(np.ceil(fewest - NOISE)))
    return NodesToAdd(min(count, enough), enough, example, pods, large)


def needed(problem: Problem, pods: Sequence[int]) -> dict[str, str]:
    """The most of each resource that one of the pods asks for."""
    names = problem.columns.resources
    most = requests_of(problem, pods).max(axis=0)
    told = zip(names, most, strict=True)
    return {name: format_amount(name, int(amount)) for name, amount in told if amount and name != PODS}


def _room_when_new(problem: Problem) -> IntArray:
    """Room of a node like each one when it is new, int64[R, N]: only pods that come with every node are there."""
    columns = problem.columns
    room = columns.allocatable.copy()
    for number, pod in enumerate(columns.cluster.pods):
        node = int(columns.initial_node_of[number])
        if node != NOWHERE and pod.belongs_to_its_node:
            room[:, node] -= columns.held(number)
    return np.maximum(room, 0)


def _smallest(room: IntArray, helped: np.ndarray[Any, np.dtype[np.bool_]], asked: IntArray) -> int:
    """Of the nodes like which a new one takes the most pods, the one with the least room in what is asked for."""
    rows = np.flatnonzero(asked.any(axis=0))
    number = helped.sum(axis=0)
    best = np.flatnonzero(number == number.max())
    scale = np.maximum(1, room[rows].max(axis=1, initial=1))[:, None]
    return int(best[int(np.argmin((room[rows][:, best] / scale).sum(axis=0)))])


def _packed(problem: Problem, pods: Sequence[int], room: IntArray) -> int:
    """How many empty nodes are enough: the largest pods first, each where it fits; entangled ones alone on theirs."""
    asked = {pod: problem.request_of(pod) for pod in pods}
    share = {pod: float((asked[pod] / np.maximum(1, room)).max()) for pod in pods}
    rooms: list[IntArray] = []
    alone = 0
    for pod in sorted(pods, key=lambda pod: (-share[pod], pod)):
        if problem.is_entangled(pod):
            alone += 1
            continue
        at = next((n for n, left in enumerate(rooms) if ((asked[pod] <= left) | (asked[pod] == 0)).all()), len(rooms))
        if at == len(rooms):
            rooms.append(room.copy())
        rooms[at] = rooms[at] - asked[pod]
    return len(rooms) + alone


def _is_tied_to_a_node(problem: Problem, pod: int) -> bool:
    """Whether the pod names the node that it wants, so that no new one will do."""
    spec = problem.columns.cluster.pods[pod].spec
    terms = (spec.node_affinity.required if spec.node_affinity else None) or ()
    return HOSTNAME in dict(spec.node_selector) or bool(terms and all(map(_names_nodes, terms)))


def _names_nodes(term: NodeSelectorTerm) -> bool:
    return any(rule.operator == "In" for rule in term.fields) or any(
        rule.key == HOSTNAME and rule.operator == "In" for rule in term.expressions
    )
