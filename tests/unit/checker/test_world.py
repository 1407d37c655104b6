"""Tests of the state that is carried from wave to wave."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec
import pytest

from rescheduler.checker.world import Arrival, World
from rescheduler.model.objects.constraints import PodAffinityTerm, TopologySpreadConstraint, Volume
from rescheduler.model.objects.pod import Pod
from tests.builders import NOW, cluster, node, pod, selector
from tests.unit.checker.cases import broken, place, plan

NODES = (node("n1"), node("n2"), node("n3"))


def replicas(count: int, **fields: Any) -> list[Pod]:
    """Pods on n1 that share one specification and one map of labels, as a reader hands them out."""
    first = pod("web-0", node="n1", **fields)
    return [msgspec.structs.replace(first, name=f"web-{number}", uid=f"u{number}") for number in range(count)]


def count_web(world: World, *, standing_only: bool = False) -> dict[str, int]:
    """Pods of ``web`` by node, without zeros."""
    found = world.count(
        ("web", standing_only),
        frozenset({"default"}),
        lambda labels: labels.get("app") == "web",
        standing_only=standing_only,
    )
    return {node: number for node, number in found.items() if number}


def arrive(world: World, index: int, target: str) -> None:
    """Let one pod of the snapshot arrive, and end the wave."""
    found = world.node(target)
    assert found is not None
    world.land([Arrival(world.cluster.pods[index], found)])


@pytest.mark.parametrize("asked_before", [True, False])
def test_counts_follow_the_pods_whether_asked_for_before_or_after(asked_before: bool) -> None:
    """An index that was made early is kept true; one made late begins with the present state."""
    shared = replicas(3)
    world = World(
        cluster(*NODES, *shared, pod("web-9"), pod("old-0", node="n2", labels={"app": "web"}, deletion_at=NOW))
    )
    if asked_before:
        assert count_web(world) == {"n1": 3, "n2": 1}
        assert count_web(world, standing_only=True) == {"n1": 3}
    arrive(world, 1, "n3")
    arrive(world, 4, "n2")
    assert count_web(world) == {"n1": 2, "n2": 2, "n3": 1}
    assert count_web(world, standing_only=True) == {"n1": 2, "n2": 1, "n3": 1}


def test_other_pods_do_not_change_a_count() -> None:
    """Neither those of another app nor those of another namespace."""
    strangers = (pod("api-0", node="n2"), pod("web-5", node="n2", namespace="other"))
    world = World(cluster(*NODES, *replicas(2), *strangers))
    assert count_web(world) == {"n1": 2}
    arrive(world, 0, "n3")
    arrive(world, 3, "n3")
    assert [item.name for item in world.pods_on("n3")] == ["api-0", "web-5"]
    assert count_web(world) == {"n1": 2}


@pytest.mark.parametrize("asked_before", [True, False])
def test_a_replacement_of_a_terminating_pod_stands(asked_before: bool) -> None:
    """What arrives is new: neither terminating nor resized."""
    world = World(cluster(*NODES, pod("web-0", node="n1", deletion_at=NOW, held=(("cpu", 1),))))
    if asked_before:
        assert count_web(world, standing_only=True) == {}
    arrive(world, 0, "n2")
    assert count_web(world, standing_only=True) == {"n2": 1}
    (new,) = world.pods_on("n2")
    assert (new.deletion_at, new.held, new.node_name) == (None, None, "n2")
    assert world.pods_on("n1") == ()


@pytest.mark.parametrize("asked_before", [True, False])
def test_users_of_claims_and_holders_of_terms_follow_too(asked_before: bool) -> None:
    """Volumes and anti-affinity move with their pod, and come with a new one."""
    terms = (PodAffinityTerm("kubernetes.io/hostname", selector(app="x")),)
    shy = {"anti_affinity": terms, "volumes": (Volume("PersistentVolumeClaim", claim="data"),)}
    world = World(cluster(*NODES, *replicas(2, **shy), pod("web-9", **shy), pod("zoo-0", node="n1")))

    def holders() -> Counter[str]:
        groups = world.holders.looking_into("default", {"app": "x"}, lambda _, own, namespace: own == namespace)
        return Counter(name for holder, _ in groups for name in holder.nodes)

    if asked_before:
        assert holders() == {"n1": 2}
        assert world.users_of_claim("default", "data") == {"default/web-0", "default/web-1"}
    arrive(world, 0, "n2")
    arrive(world, 2, "n3")
    arrive(world, 3, "n3")
    assert holders() == {"n1": 1, "n2": 1, "n3": 1}
    assert world.users_of_claim("default", "data") == {"default/web-0", "default/web-1", "default/web-9"}
    assert world.users_of_claim("other", "data") == frozenset()


def test_namespaces_always_carry_their_own_name() -> None:
    """As the API server labels them; what the snapshot says is added."""
    world = World(cluster(*NODES))
    assert world.namespace_labels("x") == {"kubernetes.io/metadata.name": "x"}
    assert world.namespace_labels("x") is world.namespace_labels("x")


def test_pods_that_share_objects_are_judged_like_copies() -> None:
    """Sharing is for speed alone."""
    spread = (TopologySpreadConstraint("kubernetes.io/hostname", 2, selector=selector(app="web")),)
    terms = (PodAffinityTerm("kubernetes.io/hostname", selector(app="api")),)
    shared = replicas(3, topology_spread=spread, anti_affinity=terms)
    copies = [
        msgspec.structs.replace(
            item,
            labels=dict(item.labels),
            spec=msgspec.structs.replace(item.spec, anti_affinity=tuple(map(msgspec.structs.replace, terms))),
        )
        for item in shared
    ]
    for pods in (shared, copies):
        for name, fields in (("web-9", {"topology_spread": spread}), ("api-0", {})):
            world = cluster(*NODES, *pods, pod(name, **fields))
            assert broken(world, plan(place(name, "n1"))) != set()
            assert broken(world, plan(place(name, "n2"))) == set()
