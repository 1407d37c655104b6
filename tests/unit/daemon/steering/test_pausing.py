"""The pause: who, why, until when; and the switch that two people may turn."""

from __future__ import annotations

from rescheduler.daemon.steering.pausing import RAN_OUT, Pause, Switch
from rescheduler.model.daemon.notices import Paused, Resumed


def test_a_pause_lasts_until_somebody_resumes() -> None:
    """However long; each turn of the switch has another tag."""
    switch, told = Switch().paused("jane", "night", None, 5.0)
    assert told == (Paused(5.0, "jane", "night", None),)
    assert switch.at(1e12) == (switch, ())
    after, told_then = switch.resumed("joe", 9.0)
    assert (after.pause, told_then) == (None, (Resumed(9.0, "joe"),))
    assert len({Switch().tag, switch.tag, after.tag}) == 3


def test_a_timed_pause_ends_by_itself_and_says_so() -> None:
    """At the very second, once."""
    switch, _ = Switch().paused("jane", "", 60.0, 0.0)
    assert switch.at(59.9)[1] == ()
    after, told = switch.at(60.0)
    assert (after.pause, told) == (None, (Resumed(60.0, RAN_OUT),))
    assert after.at(61.0) == (after, ())


def test_resuming_where_nobody_paused_changes_nothing() -> None:
    """Nobody is told, and tags stay good."""
    assert Switch(revision=3).resumed("jane", 1.0) == (Switch(revision=3), ())


def test_a_later_pause_replaces_an_earlier_one() -> None:
    """The newest word counts, though it may be shorter."""
    switch = Switch().paused("jane", "long", None, 0.0)[0].paused("joe", "short", 10.0, 1.0)[0]
    assert switch.at(11.0)[0].pause is None


def test_its_words_name_who_why_and_until_when_and_play_no_tricks() -> None:
    """Control characters of a reason are written as escapes; a far end does not fail."""
    assert str(Pause("jane", "a\x1b[2J", 0.0, 86400.0)) == ("paused by jane: a\\x1b[2J, until 1970-01-02 00:00:00 UTC")
    assert str(Pause("jane", "", 0.0)) == "paused by jane"
    assert str(Pause("jane", "", 0.0, 1e300)).endswith("until a time beyond the calendar")
