"""Tests of load as the daemon's rounds see it."""

from __future__ import annotations

from collections.abc import Mapping

from rescheduler.model.trust import TrustState
from rescheduler.model.usage import UsageWindows
from rescheduler.usage.collected import Collected
from rescheduler.wiring.daemon_load import CollectedLoad
from tests.builders import NOW, cluster, node
from tests.unit.server.records import SetClock, collected

WINDOWS = (300.0, 900.0)
NODES = ("n1", "n2")


class Scene:
    """A collector's last tick, and moves that it did not know of."""

    def __init__(self) -> None:
        self.collected: Collected = collected({name: {"cpu": 40.0} for name in NODES}, windows=WINDOWS)
        self.touched: dict[str, float] = {}
        self.load = CollectedLoad(lambda: self.collected, self.touched_before, SetClock(NOW))
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
