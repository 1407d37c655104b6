"""The simulated cluster as a whole: naive evictions lose the hole, holds keep it, and a seed fixes the outcome."""

from __future__ import annotations

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.settings import SimulationSettings
from rescheduler.adapters.simulated.simulated_cluster import SimulatedCluster
from rescheduler.extension_points import ClusterError, HoldRequest
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW, cluster, node, pod, selector, workload

# Deletions that end before their replacements are made, while the calls themselves take time: as measured with kwok.
FAST_DELETIONS = SimulationSettings(termination_seconds=0.02, replacement_seconds=0.025, api_seconds=0.01)


def fragmented() -> Cluster:
    """Four nodes of 4 CPU with three pods of 1 CPU each, and a pending pod of 2.5 CPU."""
    pods = [pod(f"web-{n}{i}", "1", "1Gi", node=f"n{n}", owner="web") for n in range(4) for i in range(3)]
    return cluster(*(node(f"n{n}", "4") for n in range(4)), *pods, pod("big-0", "2500m"), workload("web", 12))


def evict_two(world: SimulatedCluster) -> None:
    """Evict two pods of n0, one after the other."""
    for name in ("web-00", "web-01"):
        standing = world.read_pod("default", name)
        assert standing is not None
        reference = PodReference("default", name, standing.uid)
        assert world.evict(reference, standing.resource_version, dry_run=False).kind == "Accepted"


def hole_for(name: str, world: SimulatedCluster) -> HoldRequest:
    """A placeholder of the pending pod's size on n0."""
    waiting = world.read_pod("default", name)
    assert waiting is not None
    return HoldRequest("hold-a", "n0", waiting.spec.requests, "", "default-scheduler", 60, "plan-1")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pops_from_backoff", [True, False])
def test_naive_evictions_lose_the_hole_to_their_own_replacements(seed: int, pops_from_backoff: bool) -> None:
    """Without a hold the evicted pods' replacements take the room, and the pending pod stays pending."""
    settings = SimulationSettings(
        termination_seconds=0.02, replacement_seconds=0.025, api_seconds=0.01, pops_from_backoff=pops_from_backoff
    )
    world = SimulatedCluster(fragmented(), seed=seed, settings=settings)
    world.clock.sleep(1)
    evict_two(world)
    world.settle()
    assert [waiting.name for waiting in world.read().pending_pods] == ["big-0"]
    assert sum(other.is_ready for other in world.read().pods) == 12


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("pops_from_backoff", [True, False])
def test_a_hold_keeps_the_hole_for_the_pending_pod(seed: int, pops_from_backoff: bool) -> None:
    """Placeholder, evictions, nomination, release: the pending pod lands on the held node, all others run elsewhere."""
    settings = SimulationSettings(
        termination_seconds=0.02, replacement_seconds=0.025, api_seconds=0.01, pops_from_backoff=pops_from_backoff
    )
    world = SimulatedCluster(fragmented(), seed=seed, settings=settings)
    world.clock.sleep(1)
    world.hold([hole_for("big-0", world)])
    evict_two(world)
    world.settle()
    assert world.nominate(PodReference("default", "big-0"), "n0")
    world.release(["hold-a"])
    world.settle()
    after = world.read()
    assert after.pod_by_key["default/big-0"].node_name == "n0"
    assert not after.pending_pods
    assert len(after.pods) == 13
    assert all(other.is_ready for other in after.pods)


def test_the_writes_of_a_held_move_are_exactly_the_calls_made() -> None:
    """The write log names each mutating call in order; a dry run is not among them."""
    world = SimulatedCluster(fragmented(), settings=FAST_DELETIONS)
    standing = world.read_pod("default", "web-00")
    assert standing is not None
    reference = PodReference("default", "web-00", standing.uid)
    world.hold([hole_for("big-0", world)])
    assert world.evict(reference, "", dry_run=True).kind == "Accepted"
    assert world.evict(reference, "", dry_run=False).kind == "Accepted"
    world.nominate(PodReference("default", "big-0"), "n0")
    world.record(reference, "Moved", "for big-0")
    world.release(["hold-a"])
    assert [(write.verb, write.resource) for write in world.writes] == [
        ("create", "jobs"),
        ("patch", "pods/status"),
        ("create", "pods/eviction"),
        ("patch", "pods/status"),
        ("create", "events"),
        ("delete", "jobs"),
    ]


@pytest.mark.parametrize("seed", [0, 7])
def test_the_same_seed_and_calls_lead_to_the_same_end(seed: int) -> None:
    """Names, uids, nodes, times and events are equal over two runs."""

    def run() -> tuple[object, ...]:
        world = SimulatedCluster(fragmented(), seed=seed)
        evict_two(world)
        world.settle()
        return world.read().pods, world.events, world.writes, world.clock.now()

    assert run() == run()


def test_reading_changes_nothing_and_keeps_a_readers_order() -> None:
    """Two reads at one time are the same object; pods come by namespace and name, taken_at is now."""
    world = SimulatedCluster(fragmented())
    first = world.read()
    assert world.read() is first
    world.clock.sleep(5)
    second = world.read()
    assert second.taken_at == first.taken_at + 5
    assert [item.key for item in second.pods] == sorted(item.key for item in second.pods)


def test_a_cluster_without_placeholders_says_why() -> None:
    """can_hold gives the reason, hold raises it, and nothing is written."""
    settings = SimulationSettings(cannot_hold="jobs.batch is forbidden")
    world = SimulatedCluster(fragmented(), settings=settings)
    assert world.can_hold() == "jobs.batch is forbidden"
    with pytest.raises(ClusterError, match="forbidden"):
        world.hold([hole_for("big-0", world)])
    assert not world.writes
    assert not world.leftovers()


def test_nominating_a_bound_or_another_pod_does_nothing() -> None:
    """False for a bound pod, for another uid and for a pod that is not there; no write."""
    world = SimulatedCluster(fragmented())
    assert not world.nominate(PodReference("default", "web-00"), "n1")
    assert not world.nominate(PodReference("default", "big-0", "another"), "n1")
    assert not world.nominate(PodReference("default", "nobody"), "n1")
    assert not world.writes


def test_another_pod_under_the_same_name_takes_its_place() -> None:
    """A pod recreated by somebody else answers an eviction of the old uid with a conflict and stays."""
    world = SimulatedCluster(fragmented())
    old = world.read().pod_by_key["default/web-00"]
    world.put(structs.replace(old, uid="uid-new"))
    assert world.evict(PodReference("default", "web-00", old.uid), "", dry_run=False).kind == "Conflict"
    standing = world.read_pod("default", "web-00")
    assert standing is not None
    assert (standing.uid, standing.is_terminating) == ("uid-new", False)


def test_each_change_gives_a_pod_a_new_resource_version() -> None:
    """Versions grow, and a precondition on an old one fails."""
    world = SimulatedCluster(fragmented())
    old = world.read().pod_by_key["default/web-00"]
    world.put(structs.replace(old, labels={"app": "other"}))
    new = world.read().pod_by_key["default/web-00"]
    assert int(new.resource_version) > int(old.resource_version)
    reference = PodReference("default", "web-00", old.uid)
    assert world.evict(reference, old.resource_version, dry_run=True).kind == "Conflict"
    assert world.evict(reference, new.resource_version, dry_run=True).kind == "Accepted"


def test_reading_pods_by_selector() -> None:
    """Only the namespace's pods that match; without a selector all of them."""
    world = SimulatedCluster(fragmented())
    assert len(world.read_pods("default", None)) == 13
    assert [item.name for item in world.read_pods("default", selector(app="big"))] == ["big-0"]
    assert world.read_pods("other", None) == []


def test_what_was_under_way_when_the_recording_was_made_goes_on() -> None:
    """A terminating pod ends, a starting one becomes ready."""
    leaving = pod("old-0", node="n0", owner=None, deletion_at=NOW + 10)
    starting = pod("new-0", node="n0", owner=None, phase="Pending", is_ready=False)
    world = SimulatedCluster(cluster(node("n0"), leaving, starting))
    assert world.settle()
    assert [(item.name, item.is_ready) for item in world.read().pods] == [("new-0", True)]


def test_settling_ends_at_its_limit() -> None:
    """What takes longer than the limit is reported as not settled."""
    settings = SimulationSettings(startup_seconds=120.0)
    starting = pod("new-0", node="n0", owner=None, phase="Pending", is_ready=False)
    world = SimulatedCluster(cluster(node("n0"), starting), settings=settings)
    assert not world.settle(limit_seconds=60.0)
    assert world.clock.monotonic() == 60.0
    assert world.settle(limit_seconds=61.0)
