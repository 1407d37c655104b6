"""Waiting for moved pods: patience has an end, the cluster may fail for a moment, and reasons are told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import structs

from rescheduler.extension_points import ClusterError, EvictionAnswer
from rescheduler.model.objects.constraints import LabelSelector
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PlanResult, PodReference
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


class Idle(World):
    """A cluster whose owners make no pods any more once the first eviction was granted."""

    def evict(self, pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        """Their controller has not looked at them since."""
        if not dry_run:
            self.put(structs.replace(workload("web", 11), generation=2, observed_generation=1))
        return super().evict(pod, resource_version, dry_run=dry_run)


def test_an_owner_that_makes_no_new_pod_ends_the_plan() -> None:
    """Nobody says that it wants none: after a minute nothing more is expected."""
    start = fragmented()
    plan = plan_of(start, [("web-00", "n1", 1)], [("big-0", "n0", 1)])
    result = executor(Idle(start)).carry_out(plan)
    assert outcomes(result)["web-00"][0] == "Unknown"
    assert "nothing has replaced it" in result.message


def test_a_pod_that_nobody_wants_any_more_is_not_waited_for() -> None:
    """Its owner was scaled down after the eviction: that is told, and the others go on within seconds."""
    start = chained()
    world = World(start)

    def leave(_reference: object, dry_run: bool) -> None:
        if not dry_run:
            world.put(workload("little", 0))

    world.script = [None, leave]
    began = world.clock.now()
    result = executor(world).carry_out(chain(start))
    assert outcomes(result)["little-0"] == ("LandedElsewhere", None)
    [told] = [move.message for move in result.moves if move.pod.name == "little-0"]
    assert told == "nothing recreates this pod: ReplicaSet little wants no more than 0 by now"
    assert outcomes(result)["mid-0"] == ("Landed", "n1")
    assert world.clock.now() - began < 30.0
    assert world.leftovers() == []


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


def lost_while_starting(change: Callable[[World], None]) -> tuple[World, PlanResult, float]:
    """A chain whose first replacement lands and never gets ready, until a change after 20 s; seconds until its end."""
    start = chained()
    world = World(start, startup_seconds=lambda item: None if item.name.startswith("little") else 0.1)
    world.clock.after(20.0, lambda: change(world))
    began = world.clock.now()
    result = executor(world, timeout=3600.0).carry_out(chain(start))
    return world, result, world.clock.now() - began


def scale_down(world: World) -> None:
    """The owner wants no pod any more, and the replacement that stands is deleted."""
    world.put(workload("little", 0))
    (standing,) = (item for item in world.read().pods if item.name.startswith("little") and not item.is_terminating)
    world.delete_pod("default", standing.name)


def push_out(world: World) -> None:
    """The replacement is deleted, and no node takes the next one."""
    world.put(*(structs.replace(item, is_unschedulable=True) for item in world.read().nodes))
    (standing,) = (item for item in world.read().pods if item.name.startswith("little") and not item.is_terminating)
    world.delete_pod("default", standing.name)


def test_a_replacement_that_landed_and_is_gone_again_is_not_waited_for_for_ever() -> None:
    """It may never come back: the plan ends as it does where nothing lands, and not when its hour is over."""
    world, result, took = lost_while_starting(push_out)
    assert took <= 20.0 + 60.0 + 10.0
    assert world.evicted == ["little-0"]
    assert outcomes(result)["little-0"] == ("Unknown", None)
    assert "default/little-0 was evicted, but its replacement is gone and" in result.message
    assert "waits for a node" in result.message
    assert world.leftovers() == []


def test_a_replacement_that_landed_and_is_not_wanted_any_more_is_let_go() -> None:
    """It had landed as planned; nobody waits for another, and the rest of the plan is done."""
    world, result, took = lost_while_starting(scale_down)
    assert took <= 20.0 + 30.0
    assert outcomes(result)["little-0"] == ("Landed", "n2")
    assert outcomes(result)["mid-0"] == ("Landed", "n1")
    assert world.leftovers() == []


def test_a_replacement_that_is_gone_and_comes_again_is_waited_for() -> None:
    """Its owner makes another one, which works."""
    start = chained()
    first: list[str] = []

    def startup(item: Pod) -> float | None:
        if item.name.startswith("little"):
            first.append(item.name)
        return None if item.name in first[:1] else 0.1

    world = World(start, startup_seconds=startup)

    def delete() -> None:
        world.delete_pod("default", first[0])

    world.clock.after(200.0, delete)
    result = executor(world, timeout=3600.0).carry_out(chain(start))
    assert {kind for kind, _ in outcomes(result).values()} == {"Landed"}
