"""Tests of load as the daemon's rounds see it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from rescheduler.composition.load.daemon_load import CollectedLoad, OwnMoves
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.daemon.notices import EvictionNoted, Started
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.usage.trust import TrustState
from rescheduler.model.usage.usage import UsageWindows
from rescheduler.usage.collecting.collected import Collected
from tests.builders import NOW, cluster, node, pod
from tests.clocks import FakeClock
from tests.unit.daemon.api.records import collected
from tests.unit.disruption.ledgers import entry

# Tests of what is remembered of our own evictions.

KEEP = 300.0
STANDING = cluster(node("n1"), node("n2"), pod("web-1", node="n1"), pod("web-2", node="n1"))
GONE = cluster(node("n1"), node("n2"))


def test_an_eviction_touches_the_node_it_leaves_and_the_one_it_reaches() -> None:
    """The predicted one as long as it has not landed; what is older than the longest window is forgotten."""
    moves = OwnMoves(lambda: STANDING, KEEP)
    moves.hear(EvictionNoted(NOW, entry(1, ago=20.0, state=EntryState.OPEN)))
    moves.hear(EvictionNoted(NOW, entry(2, ago=KEEP + 20.0, from_node="n7", landed_on="n8")))
    assert dict(moves.observed(STANDING).touched) == {"n1": NOW - 20.0, "n2": NOW - 20.0}
    moves.hear(EvictionNoted(NOW, entry(1, ago=20.0, landed_on="n3")))
    assert moves.observed(STANDING).touched["n3"] == NOW - 10.0


def test_the_use_of_a_pod_that_left_is_told_until_samples_are_new() -> None:
    """With its specification; not while it still stands."""
    moves = OwnMoves(lambda: STANDING, KEEP)
    moves.hear(EvictionNoted(NOW, entry(1, ago=20.0, state=EntryState.OPEN)))
    assert moves.observed(STANDING).departures == ()
    (left,) = moves.observed(GONE).departures
    assert (left.node, left.left_at) == ("n1", NOW - 20.0)


def test_evictions_of_an_earlier_leader_count_as_ours() -> None:
    """A round's ledger has them, though nobody told of them here."""
    moves = OwnMoves(lambda: GONE, KEEP)
    moves.learn((entry(1, ago=50.0), entry(2, ago=KEEP + 20.0, from_node="n7", landed_on="n8")))
    assert dict(moves.touched_before(NOW)) == {"n1": NOW - 40.0, "n2": NOW - 40.0}
    assert dict(moves.observed(GONE).touched) == {"n1": NOW - 40.0, "n2": NOW - 40.0}


def test_what_a_plan_moves_meanwhile_is_left_to_the_next_tick() -> None:
    """It was decided as one: its own first move is no reason against its second."""
    moves = OwnMoves(lambda: STANDING, KEEP)
    moves.learn(())
    moves.hear(EvictionNoted(NOW, entry(1, ago=1.0, state=EntryState.OPEN)))
    assert dict(moves.touched_before(NOW)) == {}
    moves.learn((entry(1, ago=1.0, state=EntryState.OPEN),))
    assert set(moves.touched_before(NOW)) == {"n1", "n2"}


def test_other_notices_and_an_unknown_cluster_do_no_harm() -> None:
    """Without a snapshot the pod's use is not known, but its nodes are."""

    def unknown() -> Cluster:
        raise ClusterError("not in sync")

    moves = OwnMoves(unknown, KEEP)
    moves.hear(Started(NOW, "1", "Execute", ""))
    moves.hear(EvictionNoted(NOW, entry(1, ago=20.0, state=EntryState.OPEN)))
    assert moves.observed(GONE).departures == ()
    assert moves.observed(GONE).touched["n1"] == pytest.approx(NOW - 20.0)


WINDOWS = (300.0, 900.0)
NODES = ("n1", "n2")


class Scene:
    """A collector's last tick, and moves that it did not know of."""

    def __init__(self) -> None:
        self.collected: Collected = collected({name: {"cpu": 40.0} for name in NODES}, windows=WINDOWS)
        self.touched: dict[str, float] = {}
        self.clock = FakeClock(NOW)
        self.load = CollectedLoad(lambda: self.collected, self.touched_before, self.clock, 0.9)
        self.cluster = cluster(*map(node, NODES))

    def touched_before(self, now: float) -> Mapping[str, float]:
        """Whatever was touched by then."""
        return {name: at for name, at in self.touched.items() if at <= now}

    def states(self, seconds: float) -> list[TrustState]:
        """As planners see them."""
        found = self.load.windows(self.cluster)
        assert found is not None
        assessment = found.by_seconds[seconds].assessment
        assert assessment is not None
        return [trust.state for trust in assessment.nodes]


def test_a_move_that_no_tick_has_seen_unsettles_its_nodes_at_once() -> None:
    """For planners over each window, and for the gate over the shortest, whatever was remembered of the snapshot."""
    scene = Scene()
    assert scene.states(300.0) == [TrustState.TRUSTED, TrustState.TRUSTED]
    assert scene.load.trust().by_node["n1"].is_usable
    scene.touched = {"n1": NOW - 400.0, "n2": NOW - 10.0}
    assert scene.states(300.0) == [TrustState.TRUSTED, TrustState.SETTLING]
    assert scene.states(900.0) == [TrustState.SETTLING, TrustState.SETTLING]
    assert {name: found.state for name, found in scene.load.trust().by_node.items()} == {
        "n1": TrustState.TRUSTED, "n2": TrustState.SETTLING,
    }  # fmt: skip


def test_load_of_a_snapshot_is_put_together_once() -> None:
    """As long as no move is learnt of: schedulers remember by identity what they made of it."""
    scene = Scene()
    first: UsageWindows | None = scene.load.windows(scene.cluster)
    assert scene.load.windows(scene.cluster) is first
    scene.touched = {"n2": NOW - 10.0}
    assert scene.load.windows(scene.cluster) is not first


def test_before_the_first_tick_nothing_may_be_moved_by_load() -> None:
    """Not even guessed from requests without saying so."""
    scene = Scene()
    scene.collected = Collected(NOW)
    assert scene.load.windows(scene.cluster) is None
    assert scene.load.trust().freeze
    assert "requests stand in" in scene.load.warnings(scene.cluster)[0]
    assert scene.load.age_seconds(NOW) is None


def test_the_age_of_load_goes_on_growing_when_no_window_holds_a_sample_any_more() -> None:
    """An alert on it would end otherwise just when nothing at all is known."""
    scene = Scene()
    scene.collected = replace(scene.collected, measured_at=np.array([NOW - 5.0, NOW - 9.0]))
    assert scene.load.age_seconds(NOW) == 5.0
    scene.collected = replace(scene.collected, measured_at=np.full(len(NODES), np.nan))
    assert scene.load.age_seconds(NOW + 2000.0) == 2005.0


def test_a_collector_that_hangs_is_not_believed_for_ever() -> None:
    """No tick ends any more, but time goes on: the gate refuses, the planner sees no measured load, people are told."""
    scene = Scene()
    scene.collected = replace(scene.collected, measured_at=np.full(len(NODES), NOW), good_for=45.0)
    assert scene.load.trust().by_node["n1"].is_usable
    scene.clock.time = NOW + 46.0
    hung = scene.load.trust()
    assert {trust.state for trust in hung.by_node.values()} == {TrustState.STALE}
    assert hung.by_node["n1"].reason == "newest sample is 46s old by now, more than 45s"
    assert "only 0 of 2 nodes" in hung.freeze
    scene.cluster = cluster(*map(node, NODES), taken_at=NOW + 46.0)
    assert scene.states(300.0) == scene.states(900.0) == [TrustState.STALE, TrustState.STALE]
    assert "nothing is moved by measured load: only 0 of 2 nodes" in scene.load.warnings(scene.cluster)[0]
