"""Whoever carries a plan out goes on or ends once all that it evicted is made good."""

from __future__ import annotations

import pytest

from tests.soak.invariants.progress import Progress
from tests.soak.trace import RoundEvent
from tests.unit.soak.story import Story


def at_the_end(story: Story) -> Story:
    """The round is over."""
    story.trace.tell(RoundEvent(story.t, "p0", None, "done"))
    return story


@pytest.mark.parametrize(("seconds", "is_right"), [(100, True), (140, False)])
def test_two_minutes_after_all_is_well_there_has_been_a_step(seconds: float, is_right: bool) -> None:
    """Silence, for which no request is needed."""
    story = Story(Progress).plan("web-0")
    story.send("web-0")
    story.repay("web-0")
    assert (at_the_end(story.sleep(seconds)).found == []) is is_right


def test_looks_at_pods_are_no_steps() -> None:
    """However many; another request is one."""
    story = Story(Progress).plan("web-0")
    story.send("web-0")
    story.repay("web-0")
    for _ in range(20):
        story.sleep(5.0).ask("list", "pods")
    story.ask("get", "ledger")
    for _ in range(20):
        story.sleep(5.0).ask("list", "pods")
    assert story.found == []
    for _ in range(5):
        story.sleep(5.0).ask("list", "pods")
    assert len(story.found) == 1


def test_who_waits_for_the_api_server_is_not_stuck() -> None:
    """Two looks that take a minute and a half each: what is asked next comes within two minutes of its own time."""
    story = Story(Progress).plan("web-0")
    story.send("web-0")
    story.repay("web-0")
    for _ in range(2):
        look = story.ask("list", "pods")
        story.sleep(90.0).answer(look, "slow")
    story.ask("delete", "jobs")
    assert story.found == []


def test_an_answer_that_was_outstanding_excuses_no_silence_after_it() -> None:
    """Slow looks, and more than two minutes between them: the run is stuck as well."""
    story = Story(Progress).plan("web-0")
    story.send("web-0")
    story.repay("web-0")
    for _ in range(2):
        look = story.ask("list", "pods")
        story.sleep(90.0).answer(look, "slow").sleep(65.0)
    story.ask("delete", "jobs")
    assert len(story.found) == 1


def test_an_answer_outstanding_since_before_all_was_well_counts_from_then() -> None:
    """Only what was waited for after that is time of the server's."""
    story = Story(Progress).plan("web-0")
    story.send("web-0")
    look = story.ask("list", "pods")
    story.sleep(200.0)
    story.repay("web-0")
    story.answer(look, "slow").sleep(100.0)
    assert story.found == []
    assert len(at_the_end(story.sleep(30.0)).found) == 1


def test_who_waits_for_a_replacement_may_wait() -> None:
    """A pod that does not come is no fault of the plan's."""
    story = Story(Progress).plan("web-0")
    story.send("web-0")
    assert at_the_end(story.sleep(500)).found == []
