"""When a scheduler counts as silent, and when it is only busy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rescheduler.daemon.rounds.scheduler_watch import SchedulerWatch
from rescheduler.model.objects.annotations import MIRROR
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from tests.builders import NOW, cluster, node, pod

OURS = ("default-scheduler",)


def waiting(name: str = "web-0", ago: float = 90.0, **fields: Any) -> Pod:
    """A pending pod that nobody has tried."""
    return pod(name, created_at=NOW - ago, **fields)


def silent(*pods: Pod) -> float | None:
    """How long the scheduler is silent, as one snapshot shows it."""
    return SchedulerWatch(OURS).silent_seconds(cluster(node("n0"), *pods))


def later(seen: Cluster, seconds: float, **changes: Any) -> Cluster:
    """The same cluster some seconds on."""
    return replace(seen, taken_at=seen.taken_at + seconds, **changes)


def test_a_pod_that_nobody_has_tried_tells_for_how_long() -> None:
    """From its creation on; the one that waits longest counts."""
    assert silent(waiting(), waiting("web-1", ago=200.0)) == 200.0


@pytest.mark.parametrize(
    "fields",
    [
        {"unscheduled": "Unschedulable", "unscheduled_at": NOW - 80},
        {"unscheduled": "SchedulerError"},
        {"scheduling_gates": ("wait",), "unscheduled": "SchedulingGated"},
        {"scheduler_name": "somebody-else"},
        {"unmodelled": ("resourceClaims",)},
        {"deletion_at": NOW},
        {"node": "n0"},
    ],
)
def test_pods_that_wait_for_something_else_tell_nothing(fields: dict[str, Any]) -> None:
    """Tried in vain, gated, of a scheduler we know nothing of, with needs that are not modelled, leaving, bound."""
    assert silent(waiting(**fields)) is None


def test_a_scheduler_that_is_busy_is_not_silent() -> None:
    """It has bound another pod, or said of one that it finds no place: since then it has not been heard of."""
    bound = pod("api-0", node="n0", scheduled_at=NOW - 20)
    assert silent(waiting(), bound) == 20.0
    tried = waiting("big-0", unscheduled="Unschedulable", unscheduled_at=NOW - 7)
    assert silent(waiting(), bound, tried) == 7.0


@pytest.mark.parametrize(
    "fields",
    [
        {"node": "n0", "scheduled_at": NOW - 1, "scheduler_name": "volcano"},
        {"node": "n0", "scheduled_at": NOW - 1, "annotations": {MIRROR: "x"}},
        {"unscheduled": "SchedulingGated", "unscheduled_at": NOW - 1, "scheduling_gates": ("wait",)},
        {"node": "n0", "scheduled_at": None},
    ],
)
def test_signs_of_others_are_not_its_own(fields: dict[str, Any]) -> None:
    """Of another scheduler, of a kubelet, of the API server; or of nobody knows when."""
    assert silent(waiting(), pod("api-0", **fields)) == 90.0


def test_each_scheduler_is_watched_by_itself() -> None:
    """One that works does not hide one that does not."""
    watch = SchedulerWatch(("default-scheduler", "volcano"))
    seen = cluster(
        node("n0"), waiting(), waiting("v-0", scheduler_name="volcano"), pod("a-0", node="n0", scheduled_at=NOW)
    )
    assert watch.silent_seconds(seen) == 90.0


def test_a_pod_that_was_gated_counts_from_when_its_gate_was_gone() -> None:
    """Its age tells nothing; it is first seen without a gate, tried or not, and forgotten once it is bound."""
    watch = SchedulerWatch(OURS)
    gated = waiting(ago=900.0, unscheduled="SchedulingGated", scheduling_gates=("wait",))
    free = waiting(ago=900.0, unscheduled="SchedulingGated")
    seen = cluster(node("n0"), gated)
    assert watch.silent_seconds(seen) is None
    assert watch.silent_seconds(later(seen, 10, pods=(free,))) == 0.0
    assert watch.silent_seconds(later(seen, 75, pods=(free,))) == 65.0
    assert watch.silent_seconds(later(seen, 80, pods=(pod("web-0", node="n0"),))) is None
    assert watch.silent_seconds(later(seen, 90, pods=(free,))) == 0.0


def test_an_unknown_age_and_a_birth_in_the_future_are_no_silence() -> None:
    """Nothing is known of how long it waits."""
    assert silent(pod("web-0", created_at=None)) == 0.0
    assert silent(waiting(ago=-50.0)) == 0.0
