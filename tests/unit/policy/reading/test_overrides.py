"""What the command line sets in place of the policy."""

from __future__ import annotations

import pytest

from rescheduler.planning.objectives import OBJECTIVES
from rescheduler.policy.fields.policy import Objective, Policy
from rescheduler.policy.reading.overrides import overridden


def test_only_what_is_given_is_replaced() -> None:
    """The other limits stay as the policy has them."""
    changed = overridden(Policy(), OBJECTIVES, max_evictions=3, deadline_seconds=2.5)
    assert (changed.limits.max_evictions, changed.limits.deadline) == (3, 2.5)
    assert overridden(changed, OBJECTIVES) == changed
    assert overridden(changed, OBJECTIVES, max_evictions=0).limits.deadline == 2.5


def test_an_objective_named_twice_counts_once() -> None:
    """The order of first mention is kept."""
    changed = overridden(Policy(), OBJECTIVES, objectives=["MakeRoom", "MakeRoom"])
    assert [one.name for one in changed.objectives] == ["MakeRoom"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Defragment", "Defragment needs shapes; write them into a policy, under args"),
        ("makeroom", "there are MakeRoom, EmptyNodes, SpreadLoad"),
        ("MakeRom", "did you mean MakeRoom"),
    ],
)
def test_an_objective_that_there_is_not_names_those_there_are(name: str, text: str) -> None:
    """A name gets the nearest one that there is; an objective without a needed argument says which."""
    with pytest.raises(ValueError, match=text):
        overridden(Policy(), OBJECTIVES, objectives=[name])


def test_an_objective_that_the_policy_names_keeps_its_arguments() -> None:
    """``--objective`` changes which and in what order, not how."""
    mine = Objective(name="Defragment", args={"shapes": [{"cpu": "16"}]}, weight=2.0)
    policy = Policy(objectives=(Objective(), mine))
    assert overridden(policy, OBJECTIVES, objectives=["Defragment", "EmptyNodes"]).objectives == (
        mine,
        Objective(name="EmptyNodes"),
    )
