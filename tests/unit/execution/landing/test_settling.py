"""Waiting for moved pods: patience has an end, the cluster may fail for a moment, and reasons are told."""

from __future__ import annotations

from collections.abc import Sequence

from rescheduler.extension_points import ClusterError, EvictionAnswer
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import World, chain, chained, executor, fragmented, outcomes, plan_of, two_moves


class Blinking(World):
    """A cluster whose lists fail for a while once the first eviction was granted."""

    failing_seconds = 0.0

    def read_pods(self, namespace: str, selector: LabelSelector | None) -> Sequence[Pod]:
        """Fail for ``failing_seconds`` after the first eviction."""
        first = next((write.at for write in self.writes if write.resource == "pods/eviction"), None)
        if first is not None and self.clock.now() < first + self.failing_seconds:
            raise ClusterError("connection refused")
        return super().read_pods(namespace, selector)


def test_a_short_outage_while_waiting_is_lived_through() -> None:
    """Ten seconds without an answer do not end a plan whose pods are on their way."""
    start = chained()
    world = Blinking(start)
    world.failing_seconds = 10.0
    result = executor(world).carry_out(chain(start))
    assert {kind for kind, _ in outcomes(result).values()} == {"Landed"}


def test_a_long_outage_while_waiting_ends_the_plan() -> None:
    """Nothing further is moved, and what is not known is not called a success."""
    start = chained()
    world = Blinking(start)
    world.failing_seconds = 10_000.0
    result = executor(world).carry_out(chain(start))
    assert world.evicted == ["little-0"]
    assert outcomes(result)["little-0"] == ("Unknown", None)
    assert "connection refused" in result.message
    assert world.leftovers() == []


def test_a_pod_that_does_not_go_ends_the_plan() -> None:
    """The server took the eviction and the pod stays all the same: after a while the plan gives up and says which."""
    start = fragmented()
    world = World(start)
    world.script = [None, EvictionAnswer("Accepted")]
    result = executor(world).carry_out(two_moves(start))
    assert "web-00 was evicted, but it has not gone yet" in result.message
    assert outcomes(result)["web-00"] == ("Unknown", None)
    assert world.leftovers() == []


def test_an_owner_that_makes_no_new_pod_ends_the_plan() -> None:
    """Scaled down meanwhile: after a minute nothing more is expected."""
    start = fragmented()
    world = World(start)
    world.put(workload("web", 11))
    plan = plan_of(start, [("web-00", "n1", 1)], [("big-0", "n0", 1)])
    result = executor(world).carry_out(plan)
    assert outcomes(result)["web-00"][0] == "Unknown"
    assert "nothing has replaced it" in result.message


def test_a_replacement_without_a_place_ends_the_plan_before_its_room_is_given_away() -> None:
    """The destination was closed behind our back: the pending pod is not let in, so the old room is still there."""
    start = cluster(
        node("n0", "4"), node("n1", "2"), pod("web-0", "2", node="n0"), pod("big-0", "4"),
        workload("web", 1), workload("big", 1),
    )  # fmt: skip
    world = World(start)

    def close(_reference: object, dry_run: bool) -> None:
        if not dry_run:
            world.put(node("n1", "2", is_unschedulable=True))

    world.script = [None, close]
    result = executor(world).carry_out(plan_of(start, [("web-0", "n1", 1)], [("big-0", "n0", 1)]))
    assert "waits for a node" in result.message
    assert world.read_pod("default", "big-0").node_name is None  # type: ignore[union-attr]
    world.settle()
    assert [item.node_name for item in world.read().pods if item.name.startswith("web")] == ["n0"]
    assert world.leftovers() == []


def test_a_pending_pod_that_vanishes_while_room_is_made_is_told() -> None:
    """Its placement is unknown, the moves are told as they ended."""
    start = fragmented()
    world = World(start)

    def remove(_reference: object, dry_run: bool) -> None:
        if not dry_run:
            world.put(pod("big-0", "2500m", uid="another"))

    world.script = [None, None, None, remove]
    result = executor(world).carry_out(two_moves(start))
    assert outcomes(result)["big-0"][0] in ("Unknown", "NotAttempted")
    assert "big-0" in result.message
    assert {outcomes(result)[name][0] for name in ("web-00", "web-01")} <= {"Landed", "LandedElsewhere"}
