"""What stops a process altogether: the cluster's health, the breaker, the switch; and what it may never do."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.resources import resources
from rescheduler.policy.fields.policy import Mode
from tests.soak.invariants.checker import Checker
from tests.soak.invariants.circuit_breaker import CircuitBreaker
from tests.soak.invariants.dry_run import DryRun
from tests.soak.invariants.health import HealthFreeze
from tests.soak.invariants.load import Load
from tests.soak.invariants.prefixes import PrefixSafety
from tests.soak.invariants.stopping import Stopping
from tests.unit.soak.scenes import a_world
from tests.unit.soak.story import Story


@pytest.mark.parametrize("checker", [HealthFreeze, CircuitBreaker, Stopping, DryRun, Load, PrefixSafety])
def test_an_ordinary_day_is_right(checker: type[Checker]) -> None:
    """Two evictions, each replaced."""
    story = Story(checker)
    for name in ("web-0", "web-1"):
        story.send(name)
        story.repay(name)
    assert story.end() == []


def down(story: Story, *names: str) -> Story:
    """Nodes fail."""
    for name in names:
        story.node(name, is_ready=False)
    return story


@pytest.mark.parametrize(("seconds", "is_right"), [(20, True), (40, False)])
def test_half_a_minute_after_nodes_fail_nothing_is_moved(seconds: float, is_right: bool) -> None:
    """One of a zone of two."""
    story = down(Story(HealthFreeze), "n1").sleep(seconds)
    story.send("web-0", without=["read"])
    assert (story.found == []) is is_right


@pytest.mark.parametrize(("seconds", "is_right"), [(550, False), (610, True)])
def test_it_has_to_be_calm_for_a_while(seconds: float, is_right: bool) -> None:
    """Ten minutes after the last snapshot that showed it."""
    story = down(Story(HealthFreeze), "n1").read().node("n1", is_ready=True).sleep(seconds)
    story.send("web-0")
    assert (story.found == []) is is_right


def test_an_answer_that_was_lost_shows_nothing() -> None:
    """The newest snapshot before it may be old."""
    story = down(Story(HealthFreeze), "n1").read().node("n1", is_ready=True).sleep(500)
    story.answer(story.ask("list", "cluster", "p0"), "slow").sleep(110)
    story.send("web-0")
    assert story.found == []


def test_many_new_nodes_are_waited_for() -> None:
    """Two of six within five minutes."""
    for seconds, is_right in ((60, False), (301, True)):
        story = Story(HealthFreeze)
        for name in ("new-0", "new-1"):
            story.node(name, allocatable=resources({"cpu": 4000}.items()))
        story.sleep(seconds).send("web-0")
        assert (story.found == []) is is_right


def test_a_wrong_clock_freezes() -> None:
    """By more than half a minute, for more than half a minute."""
    for size, is_right in (("+20 s", True), ("-45 s", False)):
        story = Story(HealthFreeze).process("wall-clock", detail=size).sleep(60)
        story.send("web-0")
        assert (story.found == []) is is_right


def test_who_makes_no_replacement_stops_us() -> None:
    """Ninety seconds after an eviction, there is no new pod."""
    story = Story(HealthFreeze)
    story.send("web-0")
    story.go("web-0").sleep(95)
    story.send("web-1")
    assert any("nothing was made in place of default/web-0" in message for message in story.found)


def lost(story: Story, *names: str) -> Story:
    """Evictions whose replacements never work."""
    for name in names:
        story.send(name)
        story.go(name).come(f"{name}-new", "n3", is_ready=False)
    return story


@pytest.mark.parametrize(("seconds", "is_right"), [(330, True), (400, False)])
def test_two_evictions_in_vain_open_the_breaker(seconds: float, is_right: bool) -> None:
    """Five minutes and the pod's grace after they were sent."""
    story = lost(Story(CircuitBreaker, a_world(9)), "web-0", "web-1").sleep(seconds)
    story.send("web-2")
    assert (story.found == []) is is_right


@pytest.mark.parametrize(("ready_after", "is_right"), [(280.0, True), (310.0, False)])
def test_who_was_replaced_in_time_was_not_late_however_long_nothing_happened_then(
    ready_after: float, is_right: bool
) -> None:
    """Half a minute after it became ready a replacement has proven itself, though nobody looks for an hour."""
    story = lost(Story(CircuitBreaker, a_world(9)), "web-0", "web-1").sleep(ready_after)
    story.set_pod("web-0-new", is_ready=True).set_pod("web-1-new", is_ready=True).sleep(3600.0)
    story.send("web-2")
    assert (story.found == []) is is_right


def test_one_in_vain_opens_it_after_a_quarter_of_an_hour() -> None:
    """However many others went well."""
    story = lost(Story(CircuitBreaker, a_world(9)), "web-0").sleep(970)
    story.send("web-2")
    assert any("is not replaced since" in message for message in story.found)


def test_a_workload_without_a_ready_pod_opens_it() -> None:
    """Where it was us who took one of several."""
    story = lost(Story(CircuitBreaker, a_world(2)), "web-0").set_pod("web-1", is_ready=False).sleep(60)
    story.come("other-0", "n0", owner="other").send("other-0")
    assert any("has no ready pod left" in message for message in story.found)


def test_the_hour_counts_from_what_opened_the_breaker() -> None:
    """A ledger that answers slowly keeps the breaker from being written; nothing is sent meanwhile."""
    slow = Story(CircuitBreaker).read().sleep(60).breaker(opened_at=1.0, openings=1).sleep(3550)
    slow.send("web-0")
    assert slow.found == []
    early = Story(CircuitBreaker).read().sleep(60).breaker(opened_at=1.0, openings=1).sleep(3500)
    early.send("web-0")
    assert any("is open since 3560 s" in message for message in early.found)


def test_an_open_breaker_lets_one_go_after_an_hour() -> None:
    """The second has to wait for the first."""
    early = Story(CircuitBreaker).breaker(opened_at=1.0, openings=1).sleep(3500)
    early.send("web-0")
    assert any("is open since 3500 s" in message for message in early.found)
    story = Story(CircuitBreaker).breaker(opened_at=1.0, openings=1).sleep(3601)
    story.send("web-0")
    assert story.found == []
    story.send("web-1")
    assert any("on trial already" in message for message in story.found)


def test_a_second_opening_is_for_an_operator() -> None:
    """No trial, however long it rests."""
    story = Story(CircuitBreaker).breaker(opened_at=1.0, openings=2).sleep(90_000)
    story.send("web-0")
    assert any("opened 2 times" in message for message in story.found)


def test_only_a_repaid_trial_closes_it() -> None:
    """Not a restart, say."""
    story = Story(CircuitBreaker).breaker(opened_at=1.0, openings=1).breaker()
    assert any("without a trial" in message for message in story.found)
    good = Story(CircuitBreaker).breaker(opened_at=1.0, openings=1).sleep(3601)
    good.send("web-0")
    good.repay("web-0").breaker(openings=1)
    assert good.found == []


@pytest.mark.parametrize("kind", ["switch", "mark"])
@pytest.mark.parametrize(("seconds", "is_right"), [(0.5, True), (1.5, False)])
def test_stop_means_stop(kind: str, seconds: float, is_right: bool) -> None:
    """Within a second, by whichever means."""
    story = Story(Stopping)
    if kind == "switch":
        story.process("stop")
    else:
        story.happen("ledger marked")
    story.sleep(seconds)
    story.send("web-0", without=["read", "plan", "look", "audit"])
    assert (story.found == []) is is_right


def test_the_switch_holds_over_restarts_until_it_is_taken_back() -> None:
    """A new process finds it again."""
    story = Story(Stopping).process("stop").process("kill").sleep(5).start("p0")
    story.send("web-0")
    assert len(story.found) == 1
    story.process("go on").send("web-1")
    assert len(story.found) == 1


def test_the_dead_send_nothing() -> None:
    """Not even a read."""
    story = Story(Stopping).process("kill")
    story.ask("list", "cluster")
    assert len(story.found) == 1


@pytest.mark.parametrize("mode", ["DryRun", "Approve"])
def test_who_may_not_act_writes_nothing(mode: str) -> None:
    """Neither evictions nor their dry runs, nor the ledger."""
    story = Story(DryRun)
    policy = story.history.policies["p0"]
    story.history.policies["p0"] = policy.model_copy(update={"mode": Mode(mode)})
    story.read().ask("append", "audit")
    assert story.found == []
    story.ask("create", "pods/eviction", dry_run=True)
    story.ask("update", "ledger")
    assert len(story.found) == 2


def test_a_429_is_answered_by_patience() -> None:
    """Half a minute at least, for the same pod."""
    for seconds, is_right in ((29, False), (31, True)):
        story = Story(Load)
        story.send("web-0", effect="never", answer="TooManyRequests")
        story.sleep(seconds).send("web-0", effect="never", answer="Accepted")
        assert (story.found == []) is is_right


def test_three_tries_are_enough() -> None:
    """The fourth of one pod in one plan is found; a dry run and its eviction are one."""
    story = Story(Load)
    for _ in range(3):
        asked = story.ask("create", "pods/eviction", name="web-0", uid="u", dry_run=True)
        story.answer(asked, "Accepted")
        story.answer(story.ask("create", "pods/eviction", name="web-0", uid="u"), "Failed")
    assert story.found == []
    story.ask("create", "pods/eviction", name="web-0", uid="u", dry_run=True)
    assert len(story.found) == 1


def test_a_poll_without_pause_is_found() -> None:
    """More than ten requests a second for a minute."""
    story = Story(Load)
    for _ in range(601):
        story.sleep(0.02).ask("get", "pods")
    assert len(story.found) == 1
