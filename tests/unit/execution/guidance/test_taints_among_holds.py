"""Placeholders and taints of one plan: each kind is made, renewed and removed by its own requests."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.execution.guidance.holds import AT_ONCE, Holds
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ClusterError, TaintLostError
from tests.builders import cluster, node, pod
from tests.unit.execution.guidance.keepers import FIRST, SECOND, Noting, hold, taint


def holds_of(target: Any) -> Holds:
    """None yet."""
    return Holds(target, target.clock)


def mixed() -> tuple[Noting, Holds]:
    """One placeholder on n0, taints on n1 and n2."""
    target = Noting()
    holds = holds_of(target)
    holds.set([taint("t1", "n1"), hold(FIRST, "h0"), taint("t2", "n2")])
    return target, holds


def test_taints_are_put_on_before_placeholders_are_made() -> None:
    """All of a kind in one request, with the plan's own time."""
    target, holds = mixed()
    assert target.did == [("taint", "n1", "n2", "a", 10), ("hold", "h0")]
    assert holds.tainted == ["n1", "n2"]


def test_taints_are_renewed_last_and_taken_off_first() -> None:
    """They do not end by themselves: what fails in between leaves the less of them."""
    target, holds = mixed()
    target.did.clear()
    target.clock.sleep(5.0)
    holds.keep()
    assert target.did == [("renew", "h0"), ("taint", "n1", "n2", "a", 10)]
    target.did.clear()
    holds.release_all()
    assert target.did == [("untaint", "n1", "n2"), ("release", "h0")]
    assert holds.tainted == []
    target.did.clear()
    holds.release_all()
    assert target.did == []


def test_only_what_stands_of_a_kind_is_asked_for() -> None:
    """No empty requests, of either kind."""
    target = Noting()
    holds = holds_of(target)
    holds.set([taint("t1", "n1")])
    target.clock.sleep(5.0)
    holds.keep()
    holds.release_all()
    assert [name for name, *_ in target.did] == ["taint", "taint", "untaint"]


def test_a_taint_that_cannot_be_taken_off_leaves_no_placeholder() -> None:
    """It stands in the books, so that it is taken off later."""
    target, holds = mixed()
    target.fails["untaint"] = 1
    with pytest.raises(ClusterError):
        holds.release_all()
    assert target.did[-1] == ("release", "h0")
    assert holds.tainted == ["n1", "n2"]
    assert holds.of(FIRST) is None


def test_a_taint_that_somebody_took_off_stops_the_plan_at_once() -> None:
    """There is nothing to try again."""
    target, holds = mixed()

    def lost(*_: object) -> None:
        raise TaintLostError("our taint on n1 is gone")

    target.taint = lost  # type: ignore[method-assign]
    target.clock.sleep(5.0)
    with pytest.raises(PlanStoppedError, match="our taint on n1 is gone"):
        holds.keep()


def test_a_pods_own_placeholder_is_found_released_and_forgotten() -> None:
    """By the very pod that it is for."""
    target = Noting()
    holds = holds_of(target)
    own, other = hold(FIRST, "h0"), hold(SECOND, "h1")
    holds.set([own, other])
    assert (holds.of(FIRST), holds.of(SECOND)) == (own, other)
    holds.release([FIRST])
    assert target.did[-1] == ("release", "h0")
    assert (holds.of(FIRST), holds.stands(own), holds.of(SECOND)) == (None, False, other)


def test_a_newer_placeholder_of_a_pod_outlives_an_older_one() -> None:
    """Whoever removes the one that was there before does not lose sight of the one that stands."""
    target = Noting()
    holds = holds_of(target)
    old, new = hold(FIRST, "h0"), hold(FIRST, "h1", "n1")
    holds.set([old])
    holds.set([new])
    holds.remove([old])
    assert holds.of(FIRST) == new


def test_forty_placeholders_are_made_at_once() -> None:
    """So many are there in a few seconds; the next ones are asked for after them."""
    assert AT_ONCE == 40
    target = Noting()
    holds_of(target).set([hold(None, f"h{number}") for number in range(41)])
    assert [len(what) - 1 for what in target.did] == [40, 1]


def test_the_shortest_time_is_the_one_that_counts() -> None:
    """A third of it after the first were made, all are renewed; an empty set changes nothing."""
    target = Noting()
    holds = holds_of(target)
    holds.set([])
    target.clock.sleep(100.0)
    holds.keep()
    holds.set([hold(FIRST, "h0", seconds=30), hold(SECOND, "h1", seconds=12)])
    target.clock.sleep(3.9)
    holds.keep()
    assert target.did == [("hold", "h0", "h1")]
    target.clock.sleep(0.1)
    holds.keep()
    assert target.did[-1] == ("renew", "h0", "h1")


def test_a_renewal_that_failed_is_tried_again_a_second_later() -> None:
    """And not at every look; when all the time is over, the room is lost."""
    target = Noting()
    holds = holds_of(target)
    holds.set([hold(FIRST, "h0")])
    target.fails["renew"] = 100
    for _ in range(33):
        target.clock.sleep(0.1)
        holds.keep()
    assert target.did == [("hold", "h0")]
    target.clock.sleep(3.5 - target.clock.monotonic())
    for _ in range(10):
        holds.keep()
        target.clock.sleep(0.25)
    assert target.did.count(("renew", "h0")) == 3
    target.clock.sleep(10.0 - target.clock.monotonic())
    with pytest.raises(PlanStoppedError, match="could not be kept longer: renew: connection refused"):
        holds.keep()


def test_every_node_whose_placeholder_is_gone_is_named() -> None:
    """In order; no other."""
    target = Noting()
    holds = holds_of(target)
    holds.set([hold(FIRST, "h0", "n2"), hold(SECOND, "h1", "n1"), hold(None, "h2", "n3")])
    target.lost = ["h0", "h1"]
    target.clock.sleep(5.0)
    with pytest.raises(PlanStoppedError, match=r"the room kept on n1, n2 was given up: its placeholder is gone"):
        holds.keep()


def test_a_placeholder_that_could_not_be_made_is_released_all_the_same() -> None:
    """Where it was made half-way it would stand for nobody."""
    target = Noting()
    holds = holds_of(target)
    target.fails["hold"] = 1
    with pytest.raises(ClusterError):
        holds.set([hold(FIRST, "h0")])
    holds.release_all()
    assert target.did == [("hold", "h0"), ("release", "h0")]


def test_a_pods_own_placeholder_is_never_in_its_way() -> None:
    """Nor is one on another node; without any nothing is."""
    holds = holds_of(Noting())
    guest = pod("guest-0", "3", node="n1", uid=FIRST.uid)
    seen = cluster(node("n0", "4"), node("n1", "4"), guest)
    assert holds.in_the_way(guest, "n0", seen) == []
    holds.set([hold(FIRST, "h0", cpu=4000), hold(SECOND, "h1", "n1", cpu=4000)])
    assert holds.in_the_way(guest, "n0", seen) == []
    other = hold(SECOND, "h2", cpu=2000)
    holds.set([other])
    assert holds.in_the_way(guest, "n0", seen) == [other]
