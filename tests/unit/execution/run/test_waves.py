"""A wave goes on after a pod landed elsewhere only where that takes nobody's place."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.execution.guidance import guiding, room
from rescheduler.execution.run.departures import EvictedPod
from rescheduler.execution.run.waves import is_harmless
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.constraints import PodAffinityTerm
from rescheduler.model.plan.plan import PodReference
from tests.builders import cluster, node, pod, selector, workload
from tests.unit.execution.consolidation import emptying, sparse
from tests.unit.execution.run.test_proving import by_room
from tests.unit.execution.worlds import World, executor, plan_of


def scene(**fields: Any) -> Cluster:
    """Two pods leave n0; n1 has room for two of them, n2 for one."""
    return cluster(
        node("n0", "4"), node("n1", "2"), node("n2", "1"), pod("web-0", "1", node="n0", **fields),
        pod("web-1", "1", node="n0"), pod("web-2", "1", node="n0"),
    )  # fmt: skip


def landed(start: Cluster, name: str, expected: str, on: str) -> EvictedPod:
    """A pod that was moved and is on a node."""
    left = start.pod_by_key[f"default/{name}"]
    (move,) = plan_of(start, [(name, expected, 1)]).moves
    return EvictedPod(move, left, None, frozenset(), True, pod(f"{name}-new", "1", node=on))


def test_a_stray_beside_whom_the_others_fit_is_harmless() -> None:
    """Also where two strays share a node; not where the last room is another's."""
    start = scene()
    stray = landed(start, "web-0", "n2", "n1")
    wave = plan_of(start, [("web-0", "n2", 1), ("web-1", "n1", 1)]).moves
    assert is_harmless(stray, wave, [stray], start)
    second = landed(start, "web-2", "n2", "n1")
    assert not is_harmless(second, wave, [stray, second], start)
    other = landed(start, "web-1", "n1", "n2")
    assert not is_harmless(other, plan_of(start, [("web-0", "n2", 1)]).moves, [other], start)


def test_a_pod_that_came_back_is_not_harmless() -> None:
    """It was moved for nothing; nor is one on a node that nobody knows."""
    start = scene()
    assert not is_harmless(landed(start, "web-0", "n1", "n0"), (), [], start)
    assert not is_harmless(landed(start, "web-0", "n1", "n9"), (), [], start)


APART = PodAffinityTerm("kubernetes.io/hostname", selector(app="web"))


@pytest.mark.parametrize("fields", [{"ports": [80]}, {"anti_affinity": (APART,)}])
def test_a_pod_that_may_be_in_the_way_by_more_than_its_requests_is_not_harmless(fields: dict[str, Any]) -> None:
    """Ports, affinity and spread are looked at by the proof, when the wave is through."""
    start = scene(**fields)
    stray = landed(start, "web-0", "n2", "n1")
    assert not is_harmless(stray, (), [stray], start)


def test_waves_keep_their_size_where_the_scheduler_chooses_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a large cluster with room to spare hardly any pod lands where it was expected, and none is in the way."""
    monkeypatch.setattr(guiding, "MOST_SHUT", 0)
    monkeypatch.setattr(room, "FEW_MOVES", 1)
    start = sparse(nodes=12, replicas=1)
    world = World(start)
    plan = emptying(start, ("n9", "n10", "n11"), in_a_wave=3)
    reads: list[int] = []
    read = world.read
    world.read = lambda: (reads.append(1), read())[1]  # type: ignore[method-assign, func-returns-value]
    result = executor(world, proof=by_room).carry_out(plan)
    assert {move.outcome.value for move in result.moves} <= {"Landed", "LandedElsewhere"}
    assert len(reads) <= 4, "one wave: the beginning, what strayed, and the end"


def most_under_way(number: int) -> int:
    """The most pods that were not Ready at any eviction of a wave of six, each of which takes 20 s to be Ready."""
    start = cluster(
        node("n0", "8"), *(node(f"n{index}", "8") for index in range(1, 4)),
        *(pod(f"web{index}-0", "1", node="n0", owner=f"web{index}") for index in range(6)),
        *(workload(f"web{index}", 1) for index in range(6)),
    )  # fmt: skip
    world = World(start, startup_seconds=20.0)
    seen: list[int] = []
    evict = world.evict

    def counting(pod: PodReference, resource_version: str, *, dry_run: bool) -> EvictionAnswer:
        answer = evict(pod, resource_version, dry_run=dry_run)
        if not dry_run:
            seen.append(6 - sum(found.is_ready and not found.is_terminating for found in world.read().pods))
        return answer

    world.evict = counting  # type: ignore[method-assign]
    plan = plan_of(start, [(f"web{index}-0", f"n{index % 3 + 1}", 1) for index in range(6)])
    result = executor(world, in_flight=number).carry_out(plan)
    assert {move.outcome.value for move in result.moves} <= {"Landed", "LandedElsewhere"}, result
    assert len(seen) == 6
    return max(seen)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_so_many_moves_are_under_way_at_once(number: int) -> None:
    """One counts until its replacement is Ready (``limits.inFlight``); the bound is used."""
    assert most_under_way(number) == number


def test_a_wave_within_the_bound_waits_for_nobody() -> None:
    """All six leave before the first is Ready again."""
    assert most_under_way(10) == 6
