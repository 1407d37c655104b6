"""What moves by load, and when it may not."""

from __future__ import annotations

import pytest
from msgspec import structs

from tests.soak.invariants.measured_load import MeasuredLoad
from tests.soak.world.lies import LIES, LYING, TRUE, Lie
from tests.unit.soak.story import Story


def moved(story: Story, objective: str = "SpreadLoad") -> list[str]:
    """A pod is evicted for this objective; what was found."""
    story.read().gates([structs.replace(story.move("web-0", "n3"), objective=objective)])
    story.send("web-0", without=["read", "gate"])
    return story.found


def lying(lie: Lie, seconds: float) -> Story:
    """For so long, after an hour in which all was well."""
    return Story(MeasuredLoad).sleep(3600).happen(LYING, lie.name, lie.fault).sleep(seconds)


def test_what_is_measured_well_may_steer() -> None:
    """And is counted, so that a run in which nothing moved by load shows nothing."""
    story = Story(MeasuredLoad).sleep(600)
    assert moved(story) == []
    assert story.guard == 1


@pytest.mark.parametrize(("seconds", "is_right"), [(30, False), (61, True)])
def test_three_samples_are_needed(seconds: float, is_right: bool) -> None:
    """Of this process: one that was killed begins anew."""
    story = Story(MeasuredLoad).sleep(3600).start("p0").sleep(seconds)
    assert (moved(story) == []) is is_right


@pytest.mark.parametrize("lie", LIES, ids=lambda lie: lie.name)
def test_nothing_moves_by_what_is_not_true(lie: Lie) -> None:
    """From when it can be known on, as long as it can; other objectives do not ask."""
    assert moved(lying(lie, lie.noticed_after - 1)) == []
    (found,) = moved(lying(lie, lie.noticed_after + 10))
    assert f"the metrics API is wrong since {lie.noticed_after + 10:.0f} s: {lie.name} ({lie.fault})" in found
    assert moved(lying(lie, lie.noticed_after + 10), "MakeRoom") == []
    assert moved(lying(lie, lie.noticed_after + 10).happen(TRUE, "metrics")) == []
    if lie.name == "halved":
        assert moved(lying(lie, lie.until + 1)) == []
