"""Small replacement problems made of numbers alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from rescheduler.planning.replacement.replacement_problem import ReplacementProblem


def replacement(
    pods: Sequence[tuple[int, int, int]],
    machines: Sequence[tuple[float, int, int]],
    nodes: Sequence[tuple[int, int]] = (),
    *,
    alone: Sequence[int] = (),
    types: Sequence[int] | None = None,
    most_types: int = 3,
) -> ReplacementProblem:
    """``pods``: (how many, cpu, memory) by kind; ``machines``: (price, cpu, memory); ``nodes``: room that there is.

    ``alone``: kinds of which no two share a node.
    """
    request = np.array([[cpu, memory] for _, cpu, memory in pods], dtype=np.int64)
    count = np.array([number for number, _, _ in pods], dtype=np.int64)
    machine_room = np.array([[cpu, memory] for _, cpu, memory in machines], dtype=np.int64).reshape(-1, 2)
    node_room = np.array(nodes, dtype=np.int64).reshape(-1, 2)
    highest = np.array([1 if kind in alone else number for kind, number in enumerate(count)], dtype=np.int64)

    def most(room: np.ndarray) -> np.ndarray:
        return np.minimum((room[None] // request[:, None]).min(axis=2), highest[:, None])

    return ReplacementProblem(
        count=count,
        request=request,
        machine_room=machine_room,
        price=np.array([price for price, _, _ in machines], dtype=np.float64),
        type_of=np.arange(len(machines)) if types is None else np.array(types, dtype=np.int64),
        most_on_machine=most(machine_room),
        node_room=node_room,
        most_on_node=most(node_room),
        most_types=most_types,
    )


def takes_all(problem: ReplacementProblem, numbers: Sequence[int]) -> bool:
    """Whether the pods can be packed, by trying every way."""
    rooms = [problem.machine_room[machine] for machine in np.repeat(np.arange(len(numbers)), numbers)]
    most = [problem.most_on_machine[:, machine] for machine in np.repeat(np.arange(len(numbers)), numbers)]
    rooms += list(problem.node_room)
    most += list(problem.most_on_node.T)

    def seats(room: int, left: tuple[int, ...]) -> bool:
        if not any(left):
            return True
        if room == len(rooms):
            return False
        choices = product(*(range(min(have, int(limit)) + 1) for have, limit in zip(left, most[room], strict=True)))
        return any(
            seats(room + 1, tuple(have - taken for have, taken in zip(left, chosen, strict=True)))
            for chosen in choices
            if (np.array(chosen) @ problem.request <= rooms[room]).all()
        )

    return seats(0, tuple(int(number) for number in problem.count))


def least_cost(problem: ReplacementProblem) -> float:
    """The cheapest set there is, by trying all; infinite where none takes the pods."""
    sets: Iterator[tuple[int, ...]] = product(range(problem.pods + 1), repeat=len(problem.price))
    costs = {numbers: problem.cost(numbers) for numbers in sets}
    for numbers, cost in sorted(costs.items(), key=lambda item: item[1]):
        used = {int(problem.type_of[machine]) for machine, number in enumerate(numbers) if number}
        if len(used) <= problem.most_types and takes_all(problem, numbers):
            return cost
    return float("inf")
