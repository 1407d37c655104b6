"""The least that any rescheduler could do with: bounds by small integer programs, apart from our planner."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.side_by_side.state import Amounts, StandingPod, State, total

SLACK = 1e-9


def fewest_to_empty(state: State, count: int) -> int | None:
    """Evictions without which ``count`` more nodes cannot be empty, as the others must offer all that is asked for.

    Minimises the pods on the chosen nodes (a covering knapsack); shapes of pods are left out, so it is a lower bound.
    None where no choice of nodes leaves enough.
    """
    if count == 0:
        return 0
    names = sorted(state.capacity.keys() - state.empty_nodes())
    crowds = np.array([len(state.movable_on(name)) for name in names], dtype=float)
    offered = {
        name: state.capacity[name] - total(pod.amounts for pod in state.daemons_on(name)) for name in state.capacity
    }
    demand = total(pod.amounts for pod in state.pods if not pod.is_daemon and pod.node)
    spare = total(offered.values()) - demand
    whole = total(state.capacity.values())
    closed = np.array([offered[name] for name in names]).T
    constraints = [
        LinearConstraint(closed / whole[:, None], ub=spare / whole + SLACK),
        LinearConstraint(np.ones((1, len(names))), lb=count, ub=count),
    ]
    return _least(crowds, constraints)


def fewest_to_relieve(state: State, mark: float) -> int:
    """Evictions without which some node stays above ``mark`` of what it offers, node by node and exact."""
    return sum(
        fewest_to_leave(state.movable_on(name), state.asked(name) - mark * offered, offered)
        for name, offered in state.capacity.items()
    )


def fewest_to_admit(state: State, asked: Amounts, count: int, nodes: Collection[str]) -> int | None:
    """Evictions without which ``count`` pods that ask for so much each do not get a place; None where they never can.

    For each node, the fewest departures for 1, 2, … of them; the best mix by dynamic programming. ``nodes``: where they
    may go.
    """
    unreachable = len(state.pods) + 1
    least = [0] + [unreachable] * count
    for name in sorted(nodes):
        prices = _prices(state, name, asked, count)
        least = [
            min(least[placed - here] + price for here, price in enumerate(prices) if here <= placed)
            for placed in range(count + 1)
        ]
    return least[count] if least[count] < unreachable else None


def fewest_to_leave(pods: Sequence[StandingPod], excess: Amounts, offered: Amounts) -> int:
    """Fewest of a node's pods that together ask for the excess in every resource; ValueError where all do not."""
    wanted = excess / offered
    if (wanted <= SLACK).all():
        return 0
    shares = np.array([pod.amounts / offered for pod in pods]).reshape(-1, len(offered)).T
    found = _least(np.ones(len(pods)), [LinearConstraint(shares, lb=wanted - SLACK)])
    if found is None:
        raise ValueError("the node stays above, whatever leaves")
    return found


def _prices(state: State, node: str, asked: Amounts, count: int) -> list[int]:
    """How many pods must leave a node for 0, 1, 2, … further ones, as far as that is possible."""
    prices = [0]
    free = state.capacity[node] - state.asked(node)
    for guests in range(1, count + 1):
        try:
            prices.append(fewest_to_leave(state.movable_on(node), guests * asked - free, state.capacity[node]))
        except ValueError:
            break
    return prices


def _least(costs: Amounts, constraints: list[LinearConstraint]) -> int | None:
    """Least cost of a choice (each of the things or not), rounded up against the solver's tolerance."""
    if not len(costs):
        return None
    answer = milp(costs, integrality=np.ones(len(costs)), bounds=Bounds(0, 1), constraints=constraints)
    return None if answer.x is None else round(float(costs @ np.round(answer.x)))
