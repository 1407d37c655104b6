"""Which of its pods a ReplicaSet deletes, in the order of the real controller."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects.annotations import DELETION_COST
from rescheduler.model.objects.pod import Pod
from rescheduler.model.objects.scale_down_order import first_to_go
from tests.builders import NOW, pod

HOUR = 3600.0


def names(pods: list[Pod]) -> list[str]:
    """Of pods, in order."""
    return [one.name for one in pods]


@pytest.mark.parametrize(
    ("loses", "stays"),
    [
        (pod("a"), pod("b", node="n")),
        (pod("a", node="n", phase="Pending", is_ready=False), pod("b", node="n", is_ready=False)),
        (pod("a", node="n", is_ready=False), pod("b", node="n")),
        (pod("a", node="n"), pod("b", node="n", annotations={DELETION_COST: "5"})),
        (pod("a", node="n", annotations={DELETION_COST: "-5"}), pod("b", node="n", annotations={DELETION_COST: "x"})),
        (pod("a", node="n", ready_at=NOW), pod("b", node="n", ready_at=NOW - 60.0)),
        (pod("a", node="n", restart_count=3), pod("b", node="n")),
        (pod("a", node="n", created_at=NOW), pod("b", node="n", created_at=NOW - 60.0)),
        (pod("a", node="n", is_ready=False, created_at=NOW), pod("b", node="n", is_ready=False)),
        (pod("a", node="n", created_at=None), pod("b", node="n")),
    ],
)
def test_which_of_two_goes(loses: Pod, stays: Pod) -> None:
    """Whichever comes first, and each rule before those after it."""
    assert first_to_go([loses, stays], 1, [], NOW) == first_to_go([stays, loses], 1, [], NOW) == [loses]
    assert first_to_go([loses, stays], 0, [], NOW) == first_to_go([loses, stays], -1, [], NOW) == []
    assert len(first_to_go([loses, stays], 3, [], NOW)) == 2


def test_one_in_company_goes_before_a_younger_one() -> None:
    """That of another ReplicaSet of its Deployment counts; a lower deletion cost comes first."""
    lone, young = pod("lone", node="n"), pod("young", node="m", ready_at=NOW)
    assert names(first_to_go([lone, young], 1, [lone, young, pod("older-0", node="n")], NOW)) == ["lone"]
    assert names(first_to_go([lone, young], 1, [lone, young], NOW)) == ["young"]
    cheap = pod("cheap", node="m", annotations={DELETION_COST: "-1"})
    assert names(first_to_go([lone, cheap], 1, [lone, cheap, pod("older-0", node="n")], NOW)) == ["cheap"]


@pytest.mark.parametrize(
    ("younger", "older", "goes"),
    [
        (40.0, 60.0, "old"),  # both between 2**35 and 2**36 nanoseconds: the lower uid
        (60.0, 70.0, "young"),
        (19 * HOUR, 20 * HOUR, "young"),  # 2**46 of them are between
        (20 * HOUR, 39 * HOUR, "old"),
        (0.0, 1.0, "young"),
        (-5.0, 0.0, "old"),  # a clock that is ahead: of no age
    ],
)
def test_ages_differ_where_their_logarithms_do(younger: float, older: float, goes: str) -> None:
    """To base 2 and rounded down, of nanoseconds; where these are equal uids decide."""
    fields: dict[str, Any] = {"node": "n", "created_at": 0.0}
    at = 1000 * HOUR
    pods = [pod("young", uid="b", ready_at=at - younger, **fields), pod("old", uid="a", ready_at=at - older, **fields)]
    assert names(first_to_go(pods, 1, [], at)) == [goes]


@given(
    st.permutations(range(6)),
    st.lists(st.tuples(st.sampled_from("mno"), st.booleans(), st.integers(0, 2)), min_size=6, max_size=6),
    st.lists(st.integers(1, 10**6), min_size=6, max_size=6, unique=True),
    st.integers(0, 6),
)
def test_who_goes_hangs_on_no_order(
    order: list[int], states: list[tuple[str, bool, int]], ages: list[int], count: int
) -> None:
    """With ages all different; one unready never outlives one Ready of the same company."""
    pods = [
        pod(f"p-{at}", node=node, is_ready=is_ready, annotations={DELETION_COST: str(cost)}, created_at=NOW - age)
        for at, ((node, is_ready, cost), age) in enumerate(zip(states, ages, strict=True))
    ]
    goes = first_to_go(pods, count, pods, NOW)
    assert goes == first_to_go([pods[at] for at in order], count, pods, NOW)
    assert len(goes) == count
    assert all(one.is_ready or not other.is_ready for other in goes for one in pods if one not in goes)
