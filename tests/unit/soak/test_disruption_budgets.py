"""PodDisruptionBudgets are judged by what was shown at the send and by the truth at the effect."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.objects.constraints import LabelSelector, Requirement
from tests.builders import budget
from tests.soak.invariants.disruption_budgets import DisruptionBudgets
from tests.unit.soak.scenes import a_world
from tests.unit.soak.story import Story


def under(*budgets: Any) -> Story:
    """Four pods under budgets."""
    return Story(DisruptionBudgets, a_world(4, 4, *budgets))


def web(allowed: int = 1, **fields: Any) -> Any:
    """A budget that wants three of the four."""
    return budget("web", allowed, **{"desired_healthy": 3, "current_healthy": 4, "min_available": "3", **fields})


def test_one_that_is_allowed_is_right() -> None:
    """And was looked at twice: as shown, and in truth."""
    story = under(web())
    story.send("web-0")
    assert story.found == []
    assert story.guard == 2


@pytest.mark.parametrize(
    ("budgets", "why"),
    [
        ((web(0),), "left 0"),
        ((web(1, generation=2, observed_generation=1),), "not observed"),
        ((web(3, desired_healthy=4),), "left 0"),
        ((web(), budget("again", 1, app="web")), "2 budgets"),
        ((web(1, selector=LabelSelector((Requirement("app", "Near", ("x",)),)), problem="x"),), "cannot be read"),
    ],
)
def test_what_the_snapshot_showed_binds(budgets: tuple[Any, ...], why: str) -> None:
    """Whatever the API server would answer."""
    story = under(*budgets)
    story.send("web-0", effect="never")
    assert len(story.found) == 1
    assert why in story.found[0]


def test_own_debts_that_the_snapshot_does_not_show_count() -> None:
    """The second of two sends on one snapshot finds nothing left."""
    story = under(web())
    story.send("web-0", effect="never", answer="Failed")
    story.send("web-1", effect="never", without=["read"])
    assert len(story.found) == 1
    assert "sent since 1" in story.found[0]


def test_a_stale_count_does_not_cover_a_broken_floor() -> None:
    """The status still allows two, and two pods have long been unready."""
    story = under(web(2))
    story.set_pod("web-3", is_ready=False).sleep(60)
    stale = story.show(pods=tuple(structs.replace(item, is_ready=True) for item in story.store.pods.values()))
    story.read(shown=stale).send("web-0", without=["read"])
    assert any("left 2 healthy of the 3" in message for message in story.found)


def test_a_budget_that_has_just_been_tightened_is_no_reproach() -> None:
    """Nobody could have seen it."""
    story = under(web(2, min_available="4"))
    story.happen("budget tightened", "default/web")
    story.send("web-0")
    assert not any("healthy" in message for message in story.found)


def test_an_unready_pod_spends_nothing() -> None:
    """Its budget may be exhausted."""
    story = under(web(0))
    story.set_pod("web-0", is_ready=False)
    story.send("web-0")
    assert story.found == []
