"""Tests of the back-off: what was moved in vain waits, what was just moved rests."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.earlier.back_off import EvictionBackOff
from rescheduler.model.daemon.ledger import EntryState, LedgerEntry
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.move_method import MoveMethod
from rescheduler.policy.fields.daemon.safety import BackOffPolicy
from tests.builders import NOW, pod
from tests.unit.disruption.ledgers import HOUR, MINUTE, entry, ledger

WEB = "uid-default-web"
OLD = NOW - 100 * 24 * HOUR


def back_off(*entries: LedgerEntry, **rules: Any) -> EvictionBackOff:
    """What is remembered."""
    return EvictionBackOff(ledger(*entries), BackOffPolicy(**rules), NOW)


def stray(number: int = 1, *, ago: float, landed_on: str = "n1", **fields: Any) -> LedgerEntry:
    """A move whose replacement came back, or landed elsewhere."""
    return entry(number, ago=ago, landed_on=landed_on, **fields)


def old(node: str | None = "n1", **fields: Any) -> Pod:
    """A pod that was there long before any eviction."""
    return pod("web-50", node=node, created_at=OLD, **fields)


def test_nothing_is_said_without_a_past() -> None:
    """Nor about other workloads, pods without a node, or entries without a workload."""
    assert back_off().objection(old(), WEB) is None
    memory = back_off(stray(ago=60))
    assert memory.objection(old(), WEB) is not None
    assert memory.objection(old(), "uid-default-other") is None
    assert memory.objection(old(node=None), WEB) is None
    assert back_off(stray(ago=60, workload="")).objection(old(), "") is None


@pytest.mark.parametrize("landed_on", ["n1", "n3"])
def test_a_replacement_that_came_back_or_strayed_costs_an_hour(landed_on: str) -> None:
    """For pods of this workload on this node only; counted from when that was known."""
    memory = back_off(stray(ago=10 * MINUTE, landed_on=landed_on, closed_at=NOW - 9 * MINUTE))
    assert memory.seconds_left(WEB, "n1") == 51 * MINUTE
    assert memory.seconds_left(WEB, "n2") == 0
    assert memory.seconds_left("another", "n1") == 0
    told = memory.objection(old(), WEB)
    assert told == (
        "belongs to a workload whose last moves away from n1 came to nothing; it is left alone for another 51m "
        "(policy: disruption.backOff)"
    )
    assert memory.objection(old("n2"), WEB) is None


def test_a_debt_that_has_strayed_counts_from_its_eviction() -> None:
    """It need not be closed for that."""
    memory = back_off(stray(ago=10 * MINUTE, state=EntryState.OPEN))
    assert memory.seconds_left(WEB, "n1") == 50 * MINUTE
    assert back_off(entry(ago=10 * MINUTE, state=EntryState.OPEN)).seconds_left(WEB, "n1") == 0


def test_the_wait_doubles_and_is_bounded() -> None:
    """1h, 2h, 4h, and at most 24h."""
    for times, hours in ((1, 1), (2, 2), (3, 4), (5, 16), (6, 24), (60, 24), (1100, 24)):
        memory = back_off(*(stray(number, ago=0.0, closed_at=NOW) for number in range(times)))
        assert memory.seconds_left(WEB, "n1") == hours * HOUR


def refusal(number: int, *, ago: float, **fields: Any) -> LedgerEntry:
    """An eviction that a webhook denied."""
    return entry(number, ago=ago, state=EntryState.REFUSED, failure="refused", message="denied by a webhook", **fields)


def test_what_the_api_server_refuses_is_gone_around() -> None:
    """An hour after the first refusal, two after the second, whichever node the pod is on; its word is told."""
    assert "denied by a webhook" in str(back_off(refusal(1, ago=59 * MINUTE)).objection(old("elsewhere"), WEB))
    assert back_off(refusal(1, ago=61 * MINUTE)).objection(old(), WEB) is None
    twice = (refusal(1, ago=3 * HOUR), refusal(2, ago=119 * MINUTE))
    assert back_off(*twice).objection(old(), WEB) is not None
    assert back_off(*twice).objection(old(), "uid-default-other") is None


def test_a_refusal_counts_until_the_very_second() -> None:
    """From when it was known, or from when it was asked for where that is not told."""
    for is_told in (True, False):
        for seconds, is_kept in ((HOUR, False), (HOUR - 0.5, True)):
            known = NOW - seconds if is_told else None
            told = back_off(refusal(1, ago=seconds + (7 if is_told else 0), closed_at=known)).objection(old(), WEB)
            assert (told is not None) is is_kept


def test_a_long_word_of_the_api_server_is_cut() -> None:
    """After 120 characters."""
    told = entry(1, ago=MINUTE, state=EntryState.REFUSED, failure="refused", message="x" * 121)
    assert f"({'x' * 120}...);" in str(back_off(told).objection(old(), WEB))


def test_a_surge_in_vain_is_waited_for_as_well() -> None:
    """From its end on, twice as long for the second; one that others ended, as by a stop, says nothing."""
    surge: dict[str, Any] = {"state": EntryState.NOT_EVICTED, "method": MoveMethod.SURGE, "message": "given back"}
    vain = entry(1, ago=90 * MINUTE, closed_at=NOW - 59 * MINUTE, failure="never Ready", **surge)
    assert "were moved by surge in vain (never Ready)" in str(back_off(vain).objection(old(), WEB))
    again = entry(2, ago=90 * MINUTE, closed_at=NOW - 61 * MINUTE, failure="never Ready", **surge)
    assert back_off(again).objection(old(), WEB) is None
    assert back_off(vain, again).objection(old(), WEB) is not None
    assert back_off(entry(1, ago=MINUTE, closed_at=NOW, **surge)).objection(old(), WEB) is None


def test_a_granted_eviction_ends_the_count_of_refusals() -> None:
    """A refusal that is no fault of the workload, such as a race, counts for nothing either."""
    granted = entry(2, ago=30 * HOUR)
    assert back_off(refusal(1, ago=31 * HOUR), granted).objection(old(), WEB) is None
    assert back_off(refusal(1, ago=40 * HOUR), granted, refusal(3, ago=61 * MINUTE)).objection(old(), WEB) is None
    race = entry(1, ago=MINUTE, state=EntryState.REFUSED, message="the pod changed")
    assert back_off(race).objection(old(), WEB) is None


def test_it_ends_by_itself() -> None:
    """At the very second."""
    assert back_off(stray(ago=0.0, closed_at=NOW - HOUR), rest=0.0).objection(old(), WEB) is None
    assert back_off(stray(ago=0.0, closed_at=NOW - HOUR + 1), rest=0.0).objection(old(), WEB) is not None


def test_a_move_that_went_well_sets_it_back() -> None:
    """From the same node; one from elsewhere, or one that is not over, says nothing about this node."""
    strays = [stray(number, ago=5 * MINUTE, closed_at=NOW) for number in (1, 2)]
    again = stray(4, ago=0.0, closed_at=NOW)
    assert back_off(*strays, again).seconds_left(WEB, "n1") == 4 * HOUR
    assert back_off(*strays, entry(3, ago=60), again).seconds_left(WEB, "n1") == HOUR
    assert back_off(*strays, entry(3, ago=60)).seconds_left(WEB, "n1") == 0
    assert back_off(*strays, entry(3, ago=60, from_node="n3"), again).seconds_left(WEB, "n1") == 4 * HOUR
    assert back_off(*strays, entry(3, ago=60, state=EntryState.OPEN), again).seconds_left(WEB, "n1") == 4 * HOUR


def test_a_failed_move_holds_the_whole_workload() -> None:
    """A replacement that does not work says nothing good about any node."""
    memory = back_off(entry(ago=60, state=EntryState.FAILED, closed_at=NOW))
    assert memory.seconds_left(WEB, "n1") == memory.seconds_left(WEB, "n7") == HOUR
    known = back_off(entry(ago=60, state=EntryState.OPEN, failure="ImagePullBackOff"))
    assert known.seconds_left(WEB, "n7") == HOUR - 60
    assert memory.objection(old(node=None), WEB) is None
    refused = back_off(stray(ago=60, state=EntryState.REFUSED))
    assert refused.seconds_left(WEB, "n1") == 0


class TestRest:
    """What took the place of a moved pod stays for a while."""

    def test_a_replacement_rests_for_six_hours(self) -> None:
        """Where it landed; creation times are whole seconds."""
        memory = back_off(entry(ago=HOUR))
        new = pod("web-new", node="n2", created_at=NOW - HOUR - 1)
        assert memory.objection(new, WEB) == (
            "took the place of web-1 and rests for another 5h (policy: disruption.backOff.rest)"
        )
        assert memory.objection(pod("web-new", node="n2", created_at=None), WEB) is not None

    def test_others_do_not(self) -> None:
        """Older ones, those on other nodes, and all of them after the rest."""
        memory = back_off(entry(ago=HOUR))
        assert memory.objection(pod("web-9", node="n2", created_at=NOW - HOUR - 1.5), WEB) is None
        assert memory.objection(pod("web-9", node="n3", created_at=NOW - 60), WEB) is None
        rested = back_off(entry(ago=6 * HOUR))
        assert rested.objection(pod("web-new", node="n2", created_at=NOW - 60), WEB) is None
        assert back_off(entry(ago=6 * HOUR - 1)).objection(pod("w", node="n2", created_at=NOW - 60), WEB) is not None

    def test_where_it_landed_may_not_be_known(self) -> None:
        """Then every younger pod of the workload may be the one."""
        memory = back_off(entry(ago=HOUR, state=EntryState.OPEN))
        assert memory.objection(pod("web-new", node="n5", created_at=NOW - 60), WEB) is not None

    @pytest.mark.parametrize(
        ("fields", "left"),
        [
            ({"closed_at": NOW - 10 * MINUTE}, "330m"), ({"closed_at": NOW - 40 * MINUTE}, "5h"),
            ({"state": EntryState.OPEN}, "330m"), ({}, "5h"), ({"closed_at": NOW - 30 * MINUTE}, "330m"),
        ],
    )  # fmt: skip
    def test_the_rest_begins_when_the_replacement_came(self, fields: dict[str, Any], left: str) -> None:
        """A process may be stopped for half an hour between its word and its request. (Soak, seed 811992.)"""
        memory = back_off(entry(ago=HOUR, **fields))
        told = memory.objection(pod("web-new", node="n2", created_at=NOW - 30 * MINUTE), WEB)
        assert told is not None
        assert f"rests for another {left} " in told

    def test_the_newest_eviction_counts(self) -> None:
        """The rest begins with it."""
        memory = back_off(entry(1, ago=7 * HOUR), entry(2, ago=2 * HOUR))
        told = memory.objection(pod("web-new", node="n2", created_at=NOW - 60), WEB)
        assert told is not None
        assert "took the place of web-2 and rests for another 4h" in told


class TestMovesOfOneDay:
    """A pod and those that took its place are moved twice a day at most."""

    def chain(self, *hops: tuple[str, str], ago: float = 20 * HOUR) -> EvictionBackOff:
        """Moves an hour apart, each landing where it was meant to."""
        entries = [
            entry(number, ago=ago - number * HOUR, from_node=source, to_node=target, landed_on=target)
            for number, (source, target) in enumerate(hops)
        ]
        return back_off(*entries, rest=0.0)

    def test_the_third_is_refused(self) -> None:
        """From node to node to node."""
        new = pod("web-new", node="n3", created_at=NOW - 60)
        assert self.chain(("n2", "n3")).objection(new, WEB) is None
        assert self.chain(("n1", "n2"), ("n2", "n3")).objection(new, WEB) == (
            "was moved 2 times within 24h already (policy: disruption.backOff.perDay)"
        )

    def test_only_moves_that_lead_here_count(self) -> None:
        """Two moves of two pods are one each."""
        new = pod("web-new", node="n3", created_at=NOW - 60)
        assert self.chain(("n1", "n3"), ("n2", "n3")).objection(new, WEB) is None
        assert self.chain(("n1", "n2"), ("n2", "n4")).objection(new, WEB) is None
        assert self.chain(("n1", "n2"), ("n5", "n3")).objection(new, WEB) is None

    def test_only_one_day_counts(self) -> None:
        """The first of two moves is a day old."""
        new = pod("web-new", node="n3", created_at=NOW - 60)
        assert self.chain(("n1", "n2"), ("n2", "n3"), ago=24 * HOUR).objection(new, WEB) is None
        assert self.chain(("n1", "n2"), ("n2", "n3"), ago=24 * HOUR - 1).objection(new, WEB) is not None

    def test_older_pods_were_never_moved(self) -> None:
        """Nothing leads to a pod that was there before."""
        assert self.chain(("n1", "n2"), ("n2", "n3")).objection(old("n3"), WEB) is None

    def test_the_number_is_the_policys(self) -> None:
        """0: no limit."""
        entries = [entry(1, ago=9 * HOUR, to_node="n3", landed_on="n3")]
        new = pod("web-new", node="n3", created_at=NOW - 60)
        assert back_off(*entries, rest=0.0, per_day=1).objection(new, WEB) is not None
        assert back_off(*entries, rest=0.0, per_day=0).objection(new, WEB) is None
        elsewhere = pod("web-new", node="n4", created_at=NOW - 60)
        assert back_off(*entries, rest=0.0, per_day=1).objection(elsewhere, WEB) is None
