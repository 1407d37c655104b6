"""The least that the side-by-side comparison holds against everybody is what trying every choice finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.side_by_side.least import fewest_to_admit, fewest_to_empty, fewest_to_leave, fewest_to_relieve
from benchmarks.side_by_side.state import StandingPod, State

OFFERED = np.array([8.0, 16.0, 6.0])
NODES = ("a", "b", "c", "d")


def pod(number: int, node: str, cpu: float, memory: float, *, is_daemon: bool = False) -> StandingPod:
    """A pod by its number."""
    return StandingPod(f"pod-{number}", f"uid-{number}", "owner", node, is_daemon, np.array([cpu, memory, 1.0]))


@st.composite
def states(draw: st.DrawFn) -> State:
    """Four nodes of 8 cores, 16 bytes and 6 pods, none overfull."""
    capacity = dict.fromkeys(NODES, OFFERED)
    pods: list[StandingPod] = []
    for name in NODES:
        room = OFFERED.copy()
        for _ in range(draw(st.integers(0, 5))):
            amounts = np.array([draw(st.integers(1, 4)), draw(st.integers(1, 6)), 1])
            if (amounts <= room).all():
                room -= amounts
                is_daemon = draw(st.integers(0, 5)) == 0
                pods.append(pod(len(pods), name, *amounts[:2], is_daemon=is_daemon))
    return State(capacity, tuple(pods))


@settings(max_examples=40, deadline=None)
@given(states(), st.integers(0, 4))
def test_emptying_is_priced_as_trying_every_choice_of_nodes_does(state: State, count: int) -> None:
    """Fewest pods on so many nodes whose going leaves enough on the others; None where no choice leaves enough."""
    full = sorted(state.capacity.keys() - state.empty_nodes())
    prices = []
    for closed in itertools.combinations(full, count):
        open_ = [name for name in NODES if name not in closed]
        offered = sum(OFFERED - sum(pod.amounts for pod in state.daemons_on(name)) for name in open_)
        asked = sum(pod.amounts for pod in state.pods if not pod.is_daemon)
        if np.all(offered - asked >= 0):
            prices.append(sum(len(state.movable_on(name)) for name in closed))
    assert fewest_to_empty(state, count) == (min(prices) if prices else None)


@settings(max_examples=40, deadline=None)
@given(states(), st.sampled_from((0.25, 0.5, 0.75)))
def test_relief_is_priced_node_by_node(state: State, mark: float) -> None:
    """As trying every set of pods that could leave; refused where a DaemonSet alone is too much."""
    prices = [brute_force(state.movable_on(name), state.asked(name) - mark * OFFERED) for name in NODES]
    if None in prices:
        with pytest.raises(ValueError, match="stays above"):
            fewest_to_relieve(state, mark)
    else:
        assert fewest_to_relieve(state, mark) == sum(price or 0 for price in prices)


@settings(max_examples=25, deadline=None)
@given(states(), st.integers(1, 4), st.integers(1, 5))
def test_admission_is_priced_as_every_spread_of_the_guests_over_the_nodes(state: State, cpu: int, count: int) -> None:
    """The cheapest way in which the nodes take so many guests between them; None where they cannot."""
    asked = np.array([float(cpu), 2.0, 1.0])
    missing = {name: asked - (OFFERED - state.asked(name)) for name in NODES}
    table = [
        [brute_force(state.movable_on(name), missing[name] + extra * asked) for extra in range(-1, count)]
        for name in NODES
    ]  # fmt: skip
    prices = []
    for guests in itertools.product(range(count + 1), repeat=len(NODES)):
        chosen = [row[here] for row, here in zip(table, guests, strict=True)]
        if sum(guests) == count and None not in chosen:
            prices.append(sum(price or 0 for price in chosen))
    assert fewest_to_admit(state, asked, count, NODES) == (min(prices) if prices else None)


def test_nothing_in_excess_costs_nothing() -> None:
    """A node exactly at the mark, up to rounding, is not above it."""
    assert fewest_to_leave([], np.array([1e-12, 0.0, -1.0]), OFFERED) == 0


def brute_force(pods: list[StandingPod], excess: np.ndarray) -> int | None:
    """Fewest pods that together ask for the excess."""
    for count in range(len(pods) + 1):
        for some in itertools.combinations(pods, count):
            if np.all(excess - sum((one.amounts for one in some), np.zeros(3)) <= 1e-9):
                return count
    return None
