"""Tests of how our moves are compared with Karpenter's consolidation: the start, the watching and the judge."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import Future
from dataclasses import replace
from typing import Any

import pytest

from benchmarks.beside_karpenter import course
from benchmarks.beside_karpenter.course import Outcome, Watched, broken
from benchmarks.beside_karpenter.start import random_start
from rescheduler.model.times import rfc3339

BEGAN = 1_800_000_000.0


def test_a_start_is_the_same_each_time_and_fits_its_machines() -> None:
    """Another seed is another start; no machine is fuller than its room, and most are far from full."""
    start = random_start(7, 30)
    assert start == random_start(7, 30)
    assert start != random_start(8, 30)
    assert len(start.machines) == 30
    used: Counter[tuple[int, int]] = Counter()
    for pod in start.pods:
        for resource, amount in enumerate(pod.size):
            used[pod.machine, resource] += amount
    for number, machine in enumerate(start.machines):
        assert all(used[number, resource] <= machine.room[resource] for resource in (0, 1))
    assert 0 < sum(used[number, 0] for number in range(30)) < 0.6 * sum(machine.room[0] for machine in start.machines)


def standing(name: str, node: str = "", made: float = 0.0, scheduled: float | None = None) -> dict[str, Any]:
    """A pod as the API server tells it; times in seconds since the beginning."""
    conditions = [] if scheduled is None else [
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": rfc3339(BEGAN + scheduled)}
    ]  # fmt: skip
    return {
        "metadata": {"uid": name, "creationTimestamp": rfc3339(BEGAN + made)},
        "spec": {"nodeName": node} if node else {},
        "status": {"conditions": conditions},
    }


def named(name: str, *taints: str) -> dict[str, Any]:
    """A node with taints."""
    return {"metadata": {"name": name}, "spec": {"taints": [{"key": key} for key in taints]}}


def test_waits_and_changes_are_seen() -> None:
    """Of pods that came since; those that stood before have waited at no time."""
    watched = Watched(BEGAN, frozenset({"old"}))
    watched.look([standing("old", "n1", made=-900)], [named("n1")], BEGAN + 1)
    watched.look([standing("new", made=2)], [named("n1")], BEGAN + 8)
    assert (watched.longest_wait, watched.changed_at) == (6.0, 8.0)
    watched.look([standing("new", "n1", made=2, scheduled=12)], [named("n1")], BEGAN + 20)
    watched.look([standing("new", "n1", made=2, scheduled=12)], [named("n1")], BEGAN + 30)
    assert (watched.longest_wait, watched.changed_at) == (10.0, 20.0)
    assert watched.disrupted == set()


@pytest.mark.parametrize("nodes", [[named("n1", "karpenter.sh/disrupted")], []], ids=["tainted", "gone"])
def test_a_node_that_is_taken_soon_after_a_pod_came_is_counted(nodes: list[dict[str, Any]]) -> None:
    """Once, and not after five minutes."""
    for later, count in ((200, 1), (400, 0)):
        watched = Watched(BEGAN, frozenset())
        watched.look([standing("new", "n1")], [named("n1")], BEGAN + 5)
        for second in (0, 1):
            watched.look([], nodes, BEGAN + 5 + later + second)
        assert len(watched.disrupted) == count


class StillPool:
    """A cluster of no pods and one node where nothing happens, and what is asked of it; a price, an empty audit log."""

    def __init__(self, run: Future[None]) -> None:
        self.run, self.looks = run, 0
        self.api = self.control_plane = self.audit = self

    def list(self, kind: str, _namespace: str = "") -> list[dict[str, Any]]:
        """The third look at the nodes is the one before which our run has ended."""
        if kind != "nodes":
            return []
        self.looks += 1
        if self.looks == 3:
            self.run.set_result(None)
        return [named("n1")]

    def writes_since(self, _mark: int) -> list[Any]:
        """None."""
        return []

    def price_an_hour(self) -> float:
        """Of all nodes."""
        return 0.1


def test_while_our_run_goes_on_it_is_not_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that thinks for longer than nothing changes has not come to its end yet."""
    monkeypatch.setattr(course, "QUIET_SECONDS", -1.0)
    monkeypatch.setattr(course, "LOOK_SECONDS", 0.0)
    run: Future[None] = Future()
    pool: Any = StillPool(run)
    found = course.follow("ours", pool, pool, course.Begun(100.0, 0, run), most_seconds=60.0)
    assert (pool.looks, found.nodes, found.before, found.after) == (3, 1, 100.0, 73.0)
    assert found.quiet_after is not None


OURS = Outcome("WhenEmpty and ours", 100.0, 50.0, 10, 20, 0, 3.0, 0, 60.0)
THEIRS = Outcome("Balanced", 100.0, 55.0, 12, 50, 4, 20.0, 3, None)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, None),
        ({"after": 55.0}, None),
        ({"after": 55.01}, "the fleet costs 55.01, and 55.00 after Balanced"),
        (
            {"after": 56.0, "least": 55.5},
            "the fleet costs 56.00, and 55.00 after Balanced; no plan that buys nothing ends ",
        ),
        ({"machines_made": 1}, "1 machines made"),
        ({"longest_wait": 31.0}, "a pod waited 31 s"),
        ({"filled_nodes_disrupted": 2}, "2 nodes disrupted"),
    ],
)
def test_each_promise_is_judged(change: dict[str, Any], told: str | None) -> None:
    """Against the other contender where it is a comparison, else by itself."""
    found = broken(replace(OURS, **change), THEIRS)
    assert found == [] if told is None else len(found) == 1 and found[0].startswith(told)
