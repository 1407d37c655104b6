"""Whether nobody wants a pod replaced any more: by its owner, as a snapshot shows it after the pod went."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.landing.departures import EvictedPod
from rescheduler.execution.landing.unwanted import FIRST_SECONDS, UnwantedPods, why_unwanted
from rescheduler.model.objects.cluster import Cluster
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import plan_of

START = cluster(node("n0", "4"), node("n1", "4"), pod("web-0", "1", node="n0"), workload("web", 2))


def departure(*, is_gone: bool = True) -> EvictedPod:
    """The pod web-0, which left and of which no replacement was seen."""
    [move] = plan_of(START, [("web-0", "n1", 1)]).moves
    left = START.pod_by_key["default/web-0"]
    return EvictedPod(move, left, None, frozenset({left.uid}), is_gone=is_gone)


def later(*standing: str, **owner: Any) -> Cluster:
    """The cluster afterwards, with these pods of the owner and these of its fields."""
    changed = structs.replace(workload("web", 2), **owner)
    return cluster(node("n0", "4"), *(pod(name, "1", node="n0", owner="web") for name in standing), changed)


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (later("web-1"), None),
        (later("web-1", desired_replicas=1), "ReplicaSet web wants no more than 1 by now"),
        (later(desired_replicas=0), "ReplicaSet web wants no more than 0 by now"),
        (later(desired_replicas=0, generation=2, observed_generation=1), None),
        (later(desired_replicas=None), None),
        (later(is_terminating=True), "ReplicaSet web is being deleted"),
        (later("web-0", desired_replicas=1), None),
    ],
    ids=["one is missing", "smaller", "none wanted", "not looked at yet", "unknown", "going", "still there"],
)
def test_the_owner_says_it(now: Cluster, why: str | None) -> None:
    """Only one that is gone, or has what it wants and was looked at by its controller since, makes no more."""
    assert why_unwanted(departure(), now) == why


def test_an_owner_that_is_gone_makes_nothing() -> None:
    """Where the snapshot would hold it if it were there."""
    assert why_unwanted(departure(), cluster(node("n0", "4"))) == "ReplicaSet web is gone"
    assert why_unwanted(departure(), cluster(node("n0", "4"), absent_kinds=frozenset({"ReplicaSet"}))) is None


def test_it_is_asked_late_and_seldom() -> None:
    """First after five seconds without a replacement, then after ten more, and never where one has come."""
    asked: list[float] = []
    clock = [0.0]

    def read() -> Cluster:
        asked.append(clock[0])
        return later("web-1")

    late, there, standing = departure(), departure(), departure(is_gone=False)
    there.pod, standing.pod = (structs.replace(late.pod, uid=uid) for uid in ("there", "standing"))
    there.replacement = pod("web-2", "1")
    unwanted = UnwantedPods(read)
    for second in range(40):
        clock[0] = float(second)
        unwanted.find([late, there, standing], clock[0])
    assert asked == [FIRST_SECONDS, FIRST_SECONDS * 3, FIRST_SECONDS * 7]
    assert late.unwanted is None
