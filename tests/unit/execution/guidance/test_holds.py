"""The life of placeholders: renewed in time, given up loudly, released once."""

from __future__ import annotations

import pytest

from rescheduler.adapters.simulated.clock import SimulatedClock
from rescheduler.execution.guidance.hold_maker import HeldRoom
from rescheduler.execution.guidance.holds import AT_ONCE, Holds
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.extension_points import ClusterError, HoldRequest
from rescheduler.model.plan.plan import PodReference
from tests.builders import cluster, node, pod

FIRST, SECOND = PodReference("default", "a", "1"), PodReference("default", "b", "2")


def hold(pod: PodReference, name: str, on: str = "n0", cpu: int = 1000) -> HeldRoom:
    """A placeholder of ten seconds."""
    return HeldRoom(pod, HoldRequest(name, on, (("cpu", cpu),), "", "default-scheduler", 10, "a"), True)


class Keeper:
    """A target that remembers, and fails to renew as often as told."""

    def __init__(self) -> None:
        self.renewed: list[float] = []
        self.released: list[str] = []
        self.failures = 0
        self.lost: list[str] = []
        self.clock = SimulatedClock()

    def hold(self, requests: list[HoldRequest]) -> None:
        """Take note of nothing."""

    def renew(self, requests: list[HoldRequest]) -> list[str]:
        """Fail, or tell what is lost."""
        if self.failures:
            self.failures -= 1
            raise ClusterError("connection refused")
        self.renewed.append(self.clock.now())
        return self.lost

    def release(self, names: list[str]) -> None:
        """Take note."""
        self.released.extend(names)


def standing(keeper: Keeper) -> Holds:
    """Two placeholders."""
    holds = Holds(keeper, keeper.clock)  # type: ignore[arg-type]
    holds.set([hold(FIRST, "hold-a-0"), hold(SECOND, "hold-a-1", "n1")])
    return holds


def keep_for(holds: Holds, keeper: Keeper, seconds: int) -> None:
    """Look once a second."""
    for _ in range(seconds):
        keeper.clock.sleep(1)
        holds.keep()


def test_renewal_comes_after_a_third_of_the_time_and_not_before() -> None:
    """One request for each placeholder and third of a deadline, however often it is looked at."""
    keeper = Keeper()
    holds = standing(keeper)
    for _ in range(26):
        holds.keep()
        keeper.clock.sleep(0.5)
    assert keeper.renewed == [3.5, 7.0, 10.5]


def test_a_failed_renewal_is_tried_again_until_the_deadline() -> None:
    """The API server may be away for a moment; past the deadline the room counts as lost."""
    keeper = Keeper()
    holds = standing(keeper)
    keeper.failures = 3
    keep_for(holds, keeper, 8)
    assert keeper.renewed == [7.0]
    keeper.failures = 100
    with pytest.raises(PlanStoppedError, match="connection refused"):
        keep_for(holds, keeper, 12)


def test_a_placeholder_that_somebody_removed_stops_the_plan() -> None:
    """The room is not kept any more; the node is named."""
    keeper = Keeper()
    holds = standing(keeper)
    keeper.lost = ["hold-a-1"]
    keeper.clock.sleep(6)
    with pytest.raises(PlanStoppedError, match="n1"):
        holds.keep()


def test_releasing_twice_asks_once() -> None:
    """And releasing what never stood asks nothing."""
    keeper = Keeper()
    holds = standing(keeper)
    holds.release([FIRST, PodReference("default", "c", "3")])
    holds.release([FIRST])
    holds.release_all()
    assert keeper.released == ["hold-a-0", "hold-a-1"]
    keeper.clock.sleep(100)
    holds.keep()
    assert keeper.renewed == []


def test_room_counts_what_stands_and_what_is_kept() -> None:
    """Others' placeholders are in the way only if the pod would not fit beside them; its own never is."""
    keeper = Keeper()
    holds = Holds(keeper, keeper.clock)  # type: ignore[arg-type]
    guest = pod("guest-0", "1", node="n1")
    own = PodReference("default", "guest-0", guest.uid)
    other = hold(FIRST, "hold-a-0", cpu=2000)
    holds.set([other, hold(own, "hold-a-1", cpu=1000)])
    start = cluster(node("n0", "4"), node("n1", "4"), pod("web-0", "1", node="n0"), guest)
    assert holds.in_the_way(guest, "n0", start) == []
    fuller = cluster(node("n0", "4"), node("n1", "4"), pod("web-0", "2", node="n0"), guest)
    assert holds.in_the_way(guest, "n0", fuller) == [other]
    assert holds.on(["n0"], but_for=[own]) == [other]


def test_new_placeholders_do_not_put_off_the_renewal_of_older_ones() -> None:
    """A wave sets some every few seconds; the older ones would run out meanwhile."""
    keeper = Keeper()
    holds = standing(keeper)
    for number in range(4):
        keeper.clock.sleep(2)
        holds.set([hold(PodReference("default", f"w{number}", f"w{number}"), f"hold-a-w{number}")])
        holds.keep()
    assert keeper.renewed == [4.0, 8.0]


def test_many_placeholders_are_made_in_parts_and_kept_meanwhile() -> None:
    """A slow job controller takes longer for all than the first ones last."""
    keeper = Keeper()
    parts: list[int] = []

    def slow(requests: list[HoldRequest]) -> None:
        parts.append(len(requests))
        keeper.clock.sleep(4)

    keeper.hold = slow  # type: ignore[method-assign]
    holds = Holds(keeper, keeper.clock)  # type: ignore[arg-type]
    holds.set([HeldRoom(None, hold(FIRST, f"hold-a-{number}").request) for number in range(3 * AT_ONCE + 1)])
    assert parts == [AT_ONCE, AT_ONCE, AT_ONCE, 1]
    assert keeper.renewed == [4.0, 8.0, 12.0]


def test_placeholders_for_nobody_are_found_by_node_and_removed_by_themselves() -> None:
    """They stand in the way of everybody, and go with the others at the end."""
    keeper = Keeper()
    holds = standing(keeper)
    closing = HeldRoom(None, HoldRequest("hold-a-9", "n0", (("cpu", 4000),), "", "default-scheduler", 10, "a"))
    holds.set([closing])
    assert holds.on(["n0"], but_for=[FIRST]) == [closing]
    start = cluster(node("n0", "4"), node("n1", "4"), pod("guest-0", "1", node="n1"))
    assert closing in holds.in_the_way(start.pod_by_key["default/guest-0"], "n0", start)
    assert holds.stands(closing)
    holds.remove([closing])
    holds.remove([closing])
    assert not holds.stands(closing)
    assert keeper.released == ["hold-a-9"]
    holds.release_all()
    assert keeper.released == ["hold-a-9", "hold-a-0", "hold-a-1"]


def test_of_many_lost_placeholders_a_few_nodes_are_named() -> None:
    """Each once, however many placeholders it had."""
    keeper = Keeper()
    holds = Holds(keeper, keeper.clock)  # type: ignore[arg-type]
    holds.set([hold(FIRST, f"hold-a-{number}", f"n{number // 2}") for number in range(24)])
    keeper.lost = [f"hold-a-{number}" for number in range(24)]
    keeper.clock.sleep(6)
    with pytest.raises(PlanStoppedError) as stopped:
        holds.keep()
    told = "the room kept on n0, n1, n10, n11, n2 and 7 more nodes was given up: its placeholder is gone"
    assert str(stopped.value) == told
