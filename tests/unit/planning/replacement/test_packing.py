"""Packing by a simple rule: what it packs is packed."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from rescheduler.planning.replacement.packing import beside_nodes, of_one_machine, packs
from tests.unit.planning.replacement.problems import replacement, takes_all
from tests.unit.planning.replacement.test_choosing import MACHINE, NODE, POD


@settings(max_examples=60)
@given(st.lists(POD, min_size=1, max_size=2), MACHINE, st.lists(NODE, max_size=2), st.integers(0, 3))
def test_what_is_said_to_pack_packs(
    pods: list[tuple[int, int, int]], machine: tuple[float, int, int], nodes: list[tuple[int, int]], number: int
) -> None:
    """It may miss a way, and never claims one that there is not."""
    problem = replacement(pods, [machine], nodes)
    if packs(problem, [number]):
        assert takes_all(problem, [number])
    alone = of_one_machine(problem, 0, beside_nodes(problem), problem.pods)
    if alone is not None:
        assert takes_all(problem, [alone])


def test_more_than_the_most_is_not_told() -> None:
    """Nor what some pods do not fit on."""
    problem = replacement([(4, 3, 1)], [(1.0, 4, 9)])
    assert of_one_machine(problem, 0, problem.count, 4) == 4
    assert of_one_machine(problem, 0, problem.count, 3) is None
    large = replacement([(1, 5, 1)], [(1.0, 4, 9)])
    assert of_one_machine(large, 0, large.count, 9) is None
