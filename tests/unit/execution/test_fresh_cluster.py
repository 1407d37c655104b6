"""A snapshot is as old as the beginning of its reading, and one that took too long is good for no eviction."""

from __future__ import annotations

import pytest

from rescheduler.execution.fresh_cluster import FreshCluster
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.model.objects.cluster import Cluster
from tests.unit.execution.worlds import AllowAll, World, executor, fragmented, two_moves


class SlowlyRead(World):
    """A cluster whose list takes ``seconds`` from the second reading on, or from the first."""

    def __init__(self, seconds: float, *, fast: int = 0) -> None:
        super().__init__(fragmented())
        self.seconds, self.fast = seconds, fast

    def read(self) -> Cluster:
        """As it was when the reading began."""
        found = super().read()
        if self.fast > 0:
            self.fast -= 1
        else:
            self.clock.sleep(self.seconds)
        return found


def test_age_counts_from_the_beginning_of_a_reading() -> None:
    """What it showed first is as old as that; and the cluster's own time goes on with ours."""
    world = SlowlyRead(5.0)
    fresh = FreshCluster(world, world.clock, lambda cluster: cluster)
    fresh.read()
    world.clock.sleep(2.0)
    assert fresh.age_seconds == pytest.approx(7.0)
    assert fresh.time == pytest.approx(world.clock.now())
    fresh.require_fast()


@pytest.mark.parametrize(("fast", "guidance"), [(0, "Hold"), (0, "Predict")])
def test_a_reading_that_took_too_long_is_good_for_no_eviction(fast: int, guidance: str) -> None:
    """35 seconds: the plan stops before anything is written, and says why."""
    world = SlowlyRead(35.0, fast=fast)
    result = executor(world, guidance=guidance).carry_out(two_moves(fragmented()))
    assert "reading the cluster took 35 s, and nothing is evicted by what was true over 9 s ago" in result.message
    assert [write for write in world.writes if write.resource != "events"] == []


def test_a_reading_that_grows_slow_amid_a_plan_stops_it() -> None:
    """What has left stays where it is; nobody else leaves."""
    world = SlowlyRead(35.0, fast=1)
    plan = two_moves(fragmented())
    world.script = [None, lambda *_: world.clock.sleep(10.0)]  # type: ignore[list-item]
    result = executor(world, gate=AllowAll(), guidance="Predict").carry_out(plan)
    assert "reading the cluster took 35 s" in result.message
    assert len(world.evicted) == 1


def test_a_slow_reading_says_so_by_an_error_of_its_own() -> None:
    """It is a stop of the plan, not a failure of the cluster."""
    world = SlowlyRead(9.1)
    fresh = FreshCluster(world, world.clock, lambda cluster: cluster)
    fresh.read()
    with pytest.raises(PlanStoppedError, match="took 9 s"):
        fresh.require_fast()
