"""The clusters of the side-by-side comparison are what their description says, from a seed alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from benchmarks.side_by_side.scenes import Scene, consolidation, pending, spreading
from tests.cluster.api import Manifest

SCENES = {consolidation: 0.4, spreading: 0.8, pending: 0.72}
CORES = 8


def kinds(manifests: tuple[Manifest, ...], *wanted: str) -> list[Manifest]:
    """The objects of some kinds."""
    return [one for one in manifests if one["kind"] in wanted]


def asked_millicores(manifests: tuple[Manifest, ...]) -> int:
    """What the replicas of all workloads ask for."""
    return sum(
        one["spec"]["replicas"]
        * int(one["spec"]["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"].removesuffix("m"))
        for one in kinds(manifests, "Deployment", "StatefulSet")
    )


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
@pytest.mark.parametrize("seed", range(5))
def test_a_seed_makes_one_cluster_as_full_as_promised(scene: Callable[[int], Scene], seed: int) -> None:
    """The same twice, another for another seed; the share of the CPU within 6 points; several replicas each."""
    found = scene(seed)
    assert found == scene(seed) != scene(seed + 1)
    share = asked_millicores(found.standing) / (1000 * CORES * len(found.nodes))
    assert SCENES[scene] - 0.06 <= share <= SCENES[scene]
    assert all(2 <= one["spec"]["replicas"] <= 6 for one in kinds(found.standing, "Deployment", "StatefulSet"))
    assert len(kinds(found.standing, "DaemonSet")) == 1


def test_budgets_stand_over_some_workloads_and_lock_some_where_pods_wait() -> None:
    """Each budget guards a workload of its own name; none is locked where that would keep a node from being emptied."""
    for scene in SCENES:
        budgets, locked = [], 0
        for seed in range(3):
            standing = scene(seed).standing
            names = {one["metadata"]["name"] for one in kinds(standing, "Deployment", "StatefulSet")}
            found = kinds(standing, "PodDisruptionBudget")
            assert {one["spec"]["selector"]["matchLabels"]["app"] for one in found} < names
            budgets += found
            locked += sum("minAvailable" in one["spec"] for one in found)
        assert budgets
        assert bool(locked) == (scene is pending)


def test_only_where_it_is_the_point_nodes_or_pods_come_late() -> None:
    """New nodes beside full ones; pods larger than the average gap where pods wait."""
    assert (len(spreading(0).new_nodes), len(pending(0).new_nodes)) == (8, 4)
    assert consolidation(0).new_nodes == spreading(0).waiting == consolidation(0).waiting == ()
    waiting = pending(0).waiting
    assert asked_millicores(waiting) / sum(one["spec"]["replicas"] for one in waiting) > (1 - 0.72) * 1000 * CORES
