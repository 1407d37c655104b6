"""Tests of what is remembered of our own evictions."""

from __future__ import annotations

import pytest

from rescheduler.extension_points import ClusterError
from rescheduler.model.cluster import Cluster
from rescheduler.model.ledger import EntryState
from rescheduler.model.notices import EvictionNoted, Started
from rescheduler.wiring.own_moves import OwnMoves
from tests.builders import NOW, cluster, node, pod
from tests.unit.disruption.ledgers import entry

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
