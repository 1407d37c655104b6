"""Tests of the cluster's health: each reason to wait, at its limit and beyond."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rescheduler.disruption.gate.health import Finding, Sighting, Signals, sighting, unhealthy
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.node import Node
from rescheduler.policy.fields.daemon.safety import Health
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.disruption.ledgers import MINUTE, entry, ledger

OFF = Health(
    settle=0.0, changed_nodes=0.0, head_room=0.0, unready_nodes=0.0, unready_in_zone=0.0, pending_rising=0.0,
    api_errors=0.0, api_latency=0.0, watch_age=0.0, clock_offset=0.0, scheduler_silent=0.0, replaced_within=0.0,
)  # fmt: skip


def nodes(count: int, *, down: int = 0, zone: str | None = None, prefix: str = "n", **fields: Any) -> list[Node]:
    """Alike nodes, the first of which are not ready."""
    return [node(f"{prefix}{number}", zone=zone, is_ready=number >= down, **fields) for number in range(count)]


def told(seen: Cluster, **options: Any) -> list[str]:
    """Everything that is found."""
    return [str(finding) for finding in unhealthy(seen, options.pop("rules", Health()), **options)]


def test_a_finding_names_its_field() -> None:
    """So that a reader knows where to change it."""
    assert str(Finding("settle", "2 nodes came")) == "2 nodes came (policy: health.settle)"


class TestUnreadyNodes:
    """More than two and more than 5 %, or a fifth of a zone."""

    @pytest.mark.parametrize(
        ("count", "down", "is_found"), [(5, 2, False), (5, 3, True), (60, 3, False), (60, 4, True), (3, 0, False)]
    )
    def test_few_are_no_reason(self, count: int, down: int, is_found: bool) -> None:
        """The larger of both limits counts, and has to be exceeded."""
        found = told(cluster(*nodes(count, down=down)))
        text = f"{down} of {count} nodes are not ready (policy: health.unreadyNodes)"
        assert found == ([text] if is_found else [])

    @pytest.mark.parametrize(
        ("count", "down", "is_found"), [(10, 1, False), (10, 2, True), (4, 1, True), (10, 0, False)]
    )
    def test_a_fifth_of_a_zone_is(self, count: int, down: int, is_found: bool) -> None:
        """Another zone, and nodes without one, do not hide it."""
        seen = cluster(
            *nodes(count, down=down, zone="a"), *nodes(30, zone="b", prefix="b"), *nodes(10, down=1, prefix="c")
        )
        text = f"{down} of {count} nodes of zone a are not ready (policy: health.unreadyInZone)"
        assert [line for line in told(seen) if "zone" in line] == ([text] if is_found else [])

    def test_virtual_nodes_do_not_count(self) -> None:
        """They have no kubelet of their own."""
        assert told(cluster(*nodes(5, down=5, labels={"type": "virtual-kubelet"}))) == []

    def test_both_can_be_switched_off(self) -> None:
        """By 0."""
        assert told(cluster(*nodes(5, down=5, zone="a")), rules=OFF) == []


class TestChangedNodes:
    """More than a tenth of the nodes came or went within five minutes."""

    def test_young_nodes_show_in_one_snapshot(self) -> None:
        """By their age alone; at exactly a tenth nothing is found."""
        young = nodes(2, prefix="young")
        young = [replace_node(item, NOW - 299) for item in young]
        assert told(cluster(*nodes(18), *young)) == []
        assert told(cluster(*nodes(17), *young)) == ["2 of 19 nodes came within the last 5m (policy: health.settle)"]
        rested = [replace_node(item, NOW - 300) for item in young]
        assert told(cluster(*nodes(2), *rested, replace_node(node("x"), None))) == []

    def test_nodes_that_came_or_went_show_in_earlier_sightings(self) -> None:
        """Only in those of the last five minutes; who came and went between two looks at the ends counts too."""
        seen = cluster(*nodes(10))
        names = frozenset(f"n{number}" for number in range(10))
        before = Sighting(NOW - 299, names | {"gone1", "gone2"}, 0)
        assert told(seen, sightings=(before,)) == [
            "2 of 12 nodes came or went within the last 5m (policy: health.settle)"
        ]
        long_ago = before._replace(at=NOW - 400)
        assert told(seen, sightings=(long_ago, Sighting(NOW - 300, names, 0))) == []
        assert told(seen, sightings=(before._replace(nodes=names | {"gone1"}),)) == []
        flapping = (Sighting(NOW - 200, names - {"n1"}, 0), Sighting(NOW - 100, names - {"n2"}, 0))
        assert len(told(seen, sightings=flapping)) == 1

    def test_nodes_that_went_since_a_look_of_long_ago_may_have_gone_just_now(self) -> None:
        """When a look is the last before these minutes; one that came since then tells its own age."""
        seen = cluster(*nodes(10))
        names = frozenset(f"n{number}" for number in range(10))
        for sightings in (
            (Sighting(NOW - 3600, names | {"gone1", "gone2"}, 0),),
            (Sighting(NOW - 3600, names | {"gone1", "gone2"}, 0), Sighting(NOW - 10, names, 0)),
        ):
            assert told(seen, sightings=sightings) == [
                "2 of 12 nodes came or went within the last 5m (policy: health.settle)"
            ]
        assert told(seen, sightings=(Sighting(NOW - 3600, names - {"n1", "n2"}, 0),)) == []
        off = Health(settle=0.0)
        assert told(seen, rules=off, sightings=(Sighting(NOW - 3600, names | {"gone1", "gone2"}, 0),)) == []

    def test_a_cluster_of_young_nodes_alone_has_not_changed(self) -> None:
        """It was just made, or is a recording without ages; what was seen before tells more."""
        young = cluster(replace_node(node("a"), NOW - 1), replace_node(node("b"), NOW - 2))
        assert told(young) == []
        assert len(told(young, sightings=(Sighting(NOW - 60, frozenset({"c"}), 0),))) == 1

    def test_it_can_be_switched_off(self) -> None:
        """By settle: 0, and by changedNodes: 0."""
        young = cluster(replace_node(node("a"), NOW - 1), node("b"))
        assert len(told(young)) == 1
        assert told(young, rules=Health(settle=0.0)) == []
        assert told(young, rules=Health(changed_nodes=0.0)) == []


def replace_node(item: Node, created_at: float | None) -> Node:
    """A node of another age."""
    from msgspec import structs

    return structs.replace(item, created_at=created_at)


class TestPendingPods:
    """Pending pods that only become more for five minutes."""

    def seen(self, pending: int) -> Cluster:
        """A cluster with so many, and a gated one, which does not wait for room."""
        waiting = [pod(f"web-{number}") for number in range(pending)]
        return cluster(*nodes(3), *waiting, pod("gated-1", scheduling_gates=("x",)))

    def course(self, *counts: int) -> list[Sighting]:
        """One sighting a minute, up to a minute ago."""
        return [
            Sighting(NOW - MINUTE * (len(counts) - i), frozenset({"n0", "n1", "n2"}), n) for i, n in enumerate(counts)
        ]

    def test_a_sighting_counts_those_that_wait(self) -> None:
        """And remembers when, and which nodes there were."""
        assert sighting(self.seen(2)) == Sighting(NOW, frozenset({"n0", "n1", "n2"}), 2)

    def test_a_steady_rise_is_found(self) -> None:
        """Standing still in between is a rise too; the numbers are told."""
        assert told(self.seen(9), sightings=self.course(1, 3, 3, 6, 7)) == [
            "pending pods rose from 1 to 9 within 5m (policy: health.pendingRising)"
        ]

    @pytest.mark.parametrize(("counts", "now"), [((1, 9, 9, 9, 9), 9), ((1, 1, 1, 1, 1), 9)])
    def test_a_rise_at_either_end_is_one(self, counts: tuple[int, ...], now: int) -> None:
        """At once, or at last."""
        assert told(self.seen(now), sightings=self.course(*counts)) == [
            "pending pods rose from 1 to 9 within 5m (policy: health.pendingRising)"
        ]

    @pytest.mark.parametrize(
        ("counts", "now"),
        [((1, 2, 3, 4), 5), ((1, 5, 4, 6, 7), 9), ((3, 3, 3, 3, 3), 3), ((5, 6, 7, 8, 9), 4), ((), 5)],
    )
    def test_nothing_else_is(self, counts: tuple[int, ...], now: int) -> None:
        """Too short, with a fall, without a rise, fallen by now, never seen before."""
        assert told(self.seen(now), sightings=self.course(*counts)) == []

    def test_only_the_last_five_minutes_count(self) -> None:
        """One look before them is the beginning; this very snapshot among the sightings changes nothing."""
        old = [Sighting(NOW - 3600, frozenset({"n0", "n1", "n2"}), 50)]
        rise = self.course(1, 2, 3, 4, 5, 6)
        again = [sighting(self.seen(9))]
        assert told(self.seen(9), sightings=[*old, *rise, *again]) == [
            "pending pods rose from 1 to 9 within 5m (policy: health.pendingRising)"
        ]

    def test_it_can_be_switched_off(self) -> None:
        """By 0."""
        assert told(self.seen(9), sightings=self.course(1, 2, 3, 4, 5), rules=OFF) == []


@pytest.mark.parametrize(
    ("signals", "text"),
    [
        (Signals(api_error_share=0.05), None),
        (Signals(api_error_share=0.06), "6% of the requests to the API server failed (policy: health.apiErrors)"),
        (Signals(api_slowest_percent_seconds=2.0), None),
        (Signals(api_slowest_percent_seconds=2.5), "the API server takes 2.5s (policy: health.apiLatency)"),
        (Signals(watch_age_seconds=60.0), None),
        (Signals(watch_age_seconds=61.0), "the API server has told nothing new for 61s (policy: health.watchAge)"),
        (Signals(clock_offset_seconds=-30.0), None),
        (Signals(clock_offset_seconds=-31.0), "the API server's clock is 31s off (policy: health.clockOffset)"),
        (Signals(clock_offset_seconds=31.0), "the API server's clock is 31s off (policy: health.clockOffset)"),
        (Signals(scheduler_silent_seconds=60.0), None),
        (Signals(scheduler_silent_seconds=90.0),
         "a pending pod was not tried by its scheduler for 90s (policy: health.schedulerSilent)"),
    ],
)  # fmt: skip
def test_numbers_that_others_observe(signals: Signals, text: str | None) -> None:
    """Each at its limit and beyond; 0 in the policy switches each off."""
    assert told(cluster(*nodes(3)), signals=signals) == ([] if text is None else [text])
    assert told(cluster(*nodes(3)), signals=signals, rules=OFF) == []


class TestReplacements:
    """Nothing was made in place of a pod for a minute."""

    GONE = entry(50, ago=61.0, state=EntryState.OPEN)

    def seen(self, count: int = 9, *more: Any) -> Cluster:
        """Nine of ten are left."""
        return cluster(*nodes(3), workload("web", 10), *(pod(f"web-{n}", node="n0") for n in range(count)), *more)

    def found(self, seen: Cluster, debt: Any = GONE, **options: Any) -> bool:
        """Whether the debt is a reason to wait."""
        return bool(told(seen, ledger=ledger(debt), **options))

    def test_an_owner_that_makes_nothing_is_found(self) -> None:
        """It names the pod and the time."""
        assert told(self.seen(), ledger=ledger(self.GONE)) == [
            "nothing was made in place of default/web-50, evicted 61s ago (policy: health.replacedWithin)"
        ]

    def test_several_are_told_once(self) -> None:
        """One sentence is enough."""
        other = entry(51, ago=70.0, state=EntryState.OPEN)
        assert len(told(self.seen(), ledger=ledger(self.GONE, other))) == 1

    def test_it_has_a_minute(self) -> None:
        """Not longer."""
        assert not self.found(self.seen(), entry(50, ago=60.0, state=EntryState.OPEN))
        assert not self.found(self.seen(), rules=OFF)

    @pytest.mark.parametrize("state", [EntryState.REPAID, EntryState.FAILED, EntryState.REFUSED, EntryState.INTENDED])
    def test_only_open_debts_count(self, state: EntryState) -> None:
        """An intent may never have been sent."""
        assert not self.found(self.seen(), entry(50, ago=61.0, state=state))

    def test_a_new_pod_is_enough_though_it_does_not_run(self) -> None:
        """Creation counts; a pod from before does not, one of unknown age might be new."""
        waiting = {"is_ready": False, "created_at": NOW - 62}
        assert not self.found(self.seen(8, pod("web-new", **waiting)))
        assert self.found(self.seen(8, pod("web-new", **{**waiting, "created_at": NOW - 63})))
        assert not self.found(self.seen(8, pod("web-new", **{**waiting, "created_at": None})))
        leaving = {**waiting, "node": "n0", "deletion_at": NOW}
        assert self.found(self.seen(8, pod("web-new", **leaving)))
        assert self.found(self.seen(8, pod("web-new", **{**waiting, "node": "n0", "phase": "Failed"})))

    def test_none_is_due_where_none_is_missing(self) -> None:
        """Scaled down meanwhile, or the old pod has not gone."""
        assert not self.found(self.seen(10))
        assert not self.found(self.seen(9, pod("web-50", node="n0", deletion_at=NOW)))

    def test_an_owner_that_is_not_in_the_snapshot_wants_what_it_wanted(self) -> None:
        """As written down when the eviction was announced; a pod without a workload is not made again."""
        seen = replace(self.seen(), workloads=(), absent_kinds=frozenset({"ReplicaSet", "Deployment"}))
        assert self.found(seen)
        assert not self.found(seen, entry(50, ago=61.0, state=EntryState.OPEN, desired=9))
        assert not self.found(seen, entry(50, ago=61.0, state=EntryState.OPEN, workload=""))
