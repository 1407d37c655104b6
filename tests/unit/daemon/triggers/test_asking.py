"""All triggers are asked, and none of them can end the daemon."""

from __future__ import annotations

from math import nan

import pytest

from rescheduler.daemon.triggers import make_triggers
from rescheduler.daemon.triggers.asking import REST_SECONDS, Asking
from rescheduler.model.daemon.notices import Fault
from rescheduler.model.daemon.rounds import Occasion, RoundReport, Sight
from rescheduler.policy.fields.daemon.triggers import TriggerEntry
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, pod


class Scripted:
    """A trigger that asks always, and fails where it is told to."""

    def __init__(self, name: str, *, wakes: float | None = None, fails: str = "") -> None:
        self.name = name
        self.wakes = wakes
        self.fails = fails
        self.heard: list[RoundReport] = []

    def look(self, sight: Sight) -> Occasion | None:
        """Always."""
        if self.fails == "look":
            raise KeyError("gone\x1b")
        if self.fails == "answer":
            return "now"  # type: ignore[return-value]
        return Occasion(self.name, "because", sight.cluster.taken_at)

    def wake_at(self, now: float) -> float | None:
        """As it was told."""
        if self.fails == "wake_at":
            raise RecursionError("deep")
        if self.fails == "time":
            return nan
        return self.wakes

    def answered(self, report: RoundReport) -> None:
        """Remember it."""
        if self.fails == "answered":
            raise ZeroDivisionError("by zero")
        self.heard.append(report)


def at(seconds: float) -> Sight:
    """An empty cluster so many seconds after NOW."""
    return Sight(cluster(taken_at=NOW + seconds))


REPORT = RoundReport(1, (), NOW, NOW, "Execute", "id")


def test_all_that_ask_are_told_in_the_order_of_the_policy() -> None:
    """One round may have several reasons; two triggers of one name are told apart by their place."""
    asking = Asking([Scripted("b"), Scripted("a"), Scripted("b")])
    assert [(occasion.trigger, occasion.place) for occasion in asking.look(at(0))] == [("b", 0), ("a", 1), ("b", 2)]


def test_it_wakes_with_the_first_of_them() -> None:
    """And never, if none wants to."""
    asking = Asking([Scripted("a", wakes=NOW + 9), Scripted("b"), Scripted("c", wakes=NOW + 5)])
    assert asking.wake_at(NOW) == NOW + 5
    assert Asking([Scripted("b")]).wake_at(NOW) is None
    assert Asking([]).wake_at(NOW) is None


def test_everybody_hears_of_a_round() -> None:
    """Also those that come after one that fails."""
    last = Scripted("c")
    Asking([Scripted("a", fails="answered"), last]).answered(REPORT)
    assert last.heard == [REPORT]


def test_one_that_fails_is_told_of_once_and_rests() -> None:
    """The others go on; after a minute it is asked again."""
    told: list[Fault] = []
    broken, sound = Scripted("broken", fails="look"), Scripted("sound")
    asking = Asking([broken, sound], told.append)
    for seconds in (0, 1, 30):
        assert [occasion.trigger for occasion in asking.look(at(seconds))] == ["sound"]
    (fault,) = told
    assert fault.where == "trigger broken"
    assert fault.message == "KeyError: 'gone\\x1b'; it is asked again after 60s"
    assert asking.wake_at(NOW + 30) == NOW + REST_SECONDS
    broken.fails = ""
    assert [occasion.trigger for occasion in asking.look(at(REST_SECONDS))] == ["broken", "sound"]


def test_failing_while_asked_for_a_time_or_told_of_a_round_is_the_same() -> None:
    """Nothing of a trigger ends the loop."""
    for fails in ("wake_at", "answered"):
        told: list[Fault] = []
        asking = Asking([Scripted("broken", fails=fails)], told.append)
        asking.answered(REPORT)
        assert asking.wake_at(NOW) == NOW + REST_SECONDS
        assert asking.look(at(1)) == ()
        assert len(told) == 1


@pytest.mark.parametrize("ahead", [-3600.0, -5.0, 0.0, 5.0, 3600.0])
def test_our_clock_and_the_servers_may_differ(ahead: float) -> None:
    """A pod's back-off is counted right, whichever of the two is ahead."""
    waiting = pod("web-1", created_at=NOW, unscheduled="Unschedulable", unscheduled_at=NOW)
    asking = Asking(make_triggers(Policy(triggers=(TriggerEntry(name="PendingPods"),)), 0, NOW))

    def look(seconds: float) -> tuple[Occasion, ...]:
        """So many seconds after NOW on the server's clock, which is ahead of ours."""
        return asking.look(Sight(cluster(waiting, taken_at=NOW + seconds)), NOW + seconds - ahead)

    assert look(34) == ()
    assert asking.wake_at(NOW + 34 - ahead) == NOW + 35 - ahead
    assert len(look(35)) == 1
    asking.answered(RoundReport(1, (), NOW + 36 - ahead, NOW + 40 - ahead, "Execute", "id"))
    assert asking.wake_at(NOW + 40 - ahead) == NOW + 40 + 60 + 5 - ahead
    assert look(104) == ()
    assert len(look(105)) == 1


@pytest.mark.parametrize(("fails", "text"), [("answer", "look answered 'now'"), ("time", "wake_at answered nan")])
def test_a_wrong_answer_is_a_failure(fails: str, text: str) -> None:
    """The trigger is named and skipped; the others ask."""
    told: list[Fault] = []
    asking = Asking([Scripted("odd", fails=fails), Scripted("good", wakes=NOW + 5)], told.append)
    assert "good" in [occasion.trigger for occasion in asking.look(at(0))]
    assert asking.wake_at(NOW) == NOW + 5
    assert [fault.where for fault in told] == ["trigger odd"]
    assert text in told[0].message


def test_a_clock_that_is_set_back_ends_the_rest() -> None:
    """Nobody rests for a day because of it."""
    broken = Scripted("broken", fails="look")
    asking = Asking([broken])
    asking.look(at(86400))
    broken.fails = ""
    assert len(asking.look(at(0))) == 1


def test_values_that_cannot_be_had_are_a_fault_of_the_trigger_that_wanted_them() -> None:
    """A policy's other triggers still ask."""

    def values() -> dict[str, float]:
        raise ValueError("no values")

    entries = (TriggerEntry(name="ObjectiveDrift"), TriggerEntry(name="Schedule"))
    told: list[Fault] = []
    asking = Asking(make_triggers(Policy(triggers=entries), 0, NOW), told.append)
    occasions = asking.look(Sight(cluster(taken_at=NOW + 1), values=values))
    assert [occasion.trigger for occasion in occasions] == ["Schedule"]
    assert [fault.where for fault in told] == ["trigger ObjectiveDrift"]


def test_the_default_policy_asks_at_the_start_and_every_five_minutes() -> None:
    """For a pending pod there is no trigger in it."""
    asking = Asking(make_triggers(Policy(), 0, NOW))
    assert [occasion.trigger for occasion in asking.look(at(0))] == ["Schedule"]
    assert asking.look(Sight(cluster(pod("web-1"), taken_at=NOW + 200))) == ()
    assert asking.wake_at(NOW + 200) == NOW + 300
