"""What the command line sets in place of the policy."""

from __future__ import annotations

import pytest

from rescheduler.policy.models import Policy
from rescheduler.policy.overrides import overridden


def test_only_what_is_given_is_replaced() -> None:
    """The other limits stay as the policy has them."""
    changed = overridden(Policy(), max_evictions=3, deadline_seconds=2.5)
    assert (changed.limits.max_evictions, changed.limits.deadline) == (3, 2.5)
    assert overridden(changed) == changed
    assert overridden(changed, max_evictions=0).limits.deadline == 2.5


def test_an_objective_named_twice_counts_once() -> None:
    """The order of first mention is kept."""
    assert [one.name for one in overridden(Policy(), objectives=["MakeRoom", "MakeRoom"]).objectives] == ["MakeRoom"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("EmptyNodes", "EmptyNodes is not supported yet"),
        ("makeroom", "there is only MakeRoom"),
        ("MakeRom", "did you mean MakeRoom"),
    ],
)
def test_an_objective_that_there_is_not_names_those_there_are(name: str, text: str) -> None:
    """Later objectives say so; others get the nearest name."""
    with pytest.raises(ValueError, match=text):
        overridden(Policy(), objectives=[name])
