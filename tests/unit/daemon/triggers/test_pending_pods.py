"""PendingPods: who counts as waiting, from when on, and when a round is asked for again."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.daemon.triggers import make_triggers
from rescheduler.model.daemon.rounds import AutoscalerNotice
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.pod import Pod
from rescheduler.model.plan.plan import PodReference
from rescheduler.policy.fields.daemon.triggers import TriggerEntry
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod
from tests.unit.daemon.triggers.sights import firings, report, sight, trigger
from tests.unit.policy.policies import policy

NODE = node("n1")
MOMENT = 1e-3  # what is lost where seconds since the epoch are added up


def waiting(name: str = "web-1", since: float = 0.0, **fields: Any) -> Pod:
    """A pod that its scheduler has found no place for since so many seconds after NOW."""
    defaults = {"created_at": NOW + since - 5, "unscheduled": "Unschedulable", "unscheduled_at": NOW + since}
    return pod(name, **{**defaults, **fields})


def first_asked(*pods: Pod, until: float = 1000, **args: Any) -> float | None:
    """When a round is asked for first, if these pods are all there is from the start."""
    found = firings(trigger("PendingPods", **args), lambda at: cluster(NODE, *pods, taken_at=NOW + at), until)
    return found[0][0] if found else None


def test_a_pod_that_has_waited_long_enough_asks() -> None:
    """Thirty seconds, and five in which others might come; the occasion names it."""
    asked = trigger("PendingPods")
    assert asked.look(sight(34.9, NODE, waiting())) is None
    assert asked.wake_at(NOW + 34.9) == NOW + 35
    occasion = asked.look(sight(35, NODE, waiting()))
    assert occasion is not None
    assert occasion.trigger == "PendingPods"
    assert occasion.pods == (PodReference("default", "web-1", "uid-default-web-1"),)
    assert occasion.reason == "1 pod has been unschedulable for 30s or longer: default/web-1"


def test_many_pods_are_counted_and_a_few_named() -> None:
    """In the order of their names."""
    asked = trigger("PendingPods")
    occasion = asked.look(sight(100, *(waiting(f"web-{number}") for number in range(5))))
    assert occasion is not None
    assert len(occasion.pods) == 5
    assert occasion.reason.endswith(": default/web-0, default/web-1, default/web-2 and 2 more")


@pytest.mark.parametrize(
    "fields",
    [
        {"node": "n1"},
        {"phase": "Succeeded"},
        {"deletion_at": NOW},
        {"scheduling_gates": ("wait",), "unscheduled": "SchedulingGated"},
        {"labels": {"app.kubernetes.io/managed-by": "rescheduler"}},
        {"scheduler_name": "somebody-else"},
        {"unmodelled": ("resource claims",)},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_who_cannot_be_helped_does_not_ask(fields: dict[str, Any]) -> None:
    """Bound, finished, leaving and gated pods, our own placeholders, pods that nobody can predict."""
    assert first_asked(waiting(**fields)) is None


def test_schedulers_that_are_configured_are_known() -> None:
    """The names come from whoever puts the daemon together."""
    volcano = Policy(triggers=(TriggerEntry(name="PendingPods"),))
    (asked,) = make_triggers(volcano, 0, NOW, frozenset({"volcano"}))
    assert asked.look(sight(100, waiting(scheduler_name="volcano"))) is not None
    assert asked.look(sight(100, waiting(scheduler_name="default-scheduler"))) is None


def test_a_pod_that_no_scheduler_has_spoken_of_counts_from_its_making() -> None:
    """The scheduler may be down, and is no reason to wait for ever."""
    assert first_asked(waiting(unscheduled="", unscheduled_at=None, created_at=NOW - 10)) == 25


def test_a_pod_that_its_scheduler_has_not_tried_yet_is_left_to_it() -> None:
    """Two seconds at least: it is most likely about to be placed. One that was tried in vain asks at once."""
    at_once = {"olderThan": "0s", "debounce": "0s"}
    assert first_asked(waiting(unscheduled="", unscheduled_at=None, created_at=NOW), **at_once) == 2
    assert first_asked(waiting(created_at=NOW, unscheduled_at=NOW), **at_once) == 0


def test_a_pod_without_any_time_counts_from_when_it_was_seen() -> None:
    """So it asks in the end."""
    assert first_asked(waiting(unscheduled_at=None, created_at=None)) == 35


def test_a_time_that_has_not_come_yet_is_taken_for_now() -> None:
    """The API server's clock may be ahead of ours."""
    assert first_asked(waiting(since=3600)) == 35


def test_the_time_behind_a_gate_does_not_count() -> None:
    """The condition keeps its time when the gate is taken away."""
    asked = trigger("PendingPods")
    gated = waiting(scheduling_gates=("wait",), unscheduled="SchedulingGated")
    assert asked.look(sight(500, gated)) is None
    assert asked.look(sight(520, waiting())) is None
    assert asked.look(sight(534, waiting())) is None
    assert asked.look(sight(535, waiting())) is not None


def test_preemption_on_its_way_is_waited_for_but_not_for_ever() -> None:
    """A nominated pod is left alone for five minutes, and asks then though nothing has changed."""
    asked = trigger("PendingPods")
    assert asked.look(sight(100, waiting(nominated_node="n1"))) is None
    assert asked.wake_at(NOW + 100) == NOW + 405
    assert asked.look(sight(404, waiting(nominated_node="n1"))) is None
    assert asked.look(sight(405, waiting(nominated_node="n1"))) is not None


def test_preemption_that_came_to_nothing_leaves_the_scheduler_its_time() -> None:
    """The pod waits anew from when it is not nominated any more."""
    asked = trigger("PendingPods")
    assert asked.look(sight(100, waiting(nominated_node="n1"))) is None
    assert asked.look(sight(200, waiting())) is None
    assert asked.look(sight(234, waiting())) is None
    assert asked.look(sight(235, waiting())) is not None


def test_a_pod_that_a_round_did_not_help_backs_off() -> None:
    """One minute, two, four, ... thirty at most, each with five seconds for others."""
    found = firings(trigger("PendingPods"), lambda at: cluster(NODE, waiting(), taken_at=NOW + at), 20_000)
    times = [at for at, _ in found]
    waits = [round(later - earlier) - 1 - 5 for earlier, later in pairwise(times)]
    assert waits[:7] == [60, 120, 240, 480, 960, 1800, 1800]


def test_each_pod_has_its_own_back_off() -> None:
    """A new pod does not wait because of an old one, and does not take it along."""
    asked = trigger("PendingPods")
    assert asked.look(sight(100, waiting("old-1"))) is not None
    asked.answered(report(100, 101))
    occasion = asked.look(sight(140, waiting("old-1"), waiting("new-1", since=105)))
    assert occasion is not None
    assert [reference.name for reference in occasion.pods] == ["new-1"]


def test_a_new_node_ends_the_back_off() -> None:
    """Once their scheduler has had time to use it."""
    asked = trigger("PendingPods")
    for at in (100, 200, 400):
        assert asked.look(sight(at, NODE, waiting())) is not None
        asked.answered(report(at, at + 1))
    assert asked.look(sight(420, NODE, node("n2"), waiting())) is None
    assert asked.look(sight(454, NODE, node("n2"), waiting())) is None
    assert asked.look(sight(455, NODE, node("n2"), waiting())) is not None


@pytest.mark.parametrize(
    ("before", "after", "grows"),
    [
        (node("n2", cpu="4"), node("n2", cpu="8"), True),
        (node("n2", cpu="8"), node("n2", cpu="4"), False),
        (node("n2", is_unschedulable=True), node("n2"), True),
        (node("n2"), node("n2", is_ready=False), False),
        (node("n2"), node("n2", labels={"a": "b"}), False),
    ],
    ids=["grown", "shrunk", "uncordoned", "lost", "relabelled"],
)
def test_only_a_change_in_their_favour_ends_the_back_off(before: Any, after: Any, grows: bool) -> None:
    """More room, or a node that takes pods again."""
    asked = trigger("PendingPods")
    assert asked.look(sight(100, NODE, before, waiting())) is not None
    asked.answered(report(100, 101))
    assert asked.look(sight(170, NODE, before, waiting())) is not None
    asked.answered(report(170, 171))
    asked.look(sight(180, NODE, after, waiting()))
    assert (asked.look(sight(216, NODE, after, waiting())) is not None) is grows


def test_a_node_that_flaps_does_not_end_it() -> None:
    """It was away for less than a minute."""
    asked = trigger("PendingPods")
    assert asked.look(sight(100, NODE, waiting())) is not None
    asked.answered(report(100, 101))
    assert asked.look(sight(170, NODE, waiting())) is not None
    asked.answered(report(170, 171))
    for at in range(180, 280, 10):
        flapping = node("n1", is_ready=at % 20 == 0)
        assert asked.look(sight(at, flapping, waiting())) is None


def said(reason: str, at: float, kind: str = "Pod", name: str = "web-1") -> AutoscalerNotice:
    """What an autoscaler says."""
    return AutoscalerNotice(NOW + at, "cluster-autoscaler", reason, kind, "default", name)


def test_a_pod_that_gets_a_node_is_left_to_the_autoscaler() -> None:
    """For ten minutes; other pods are not."""
    asked = trigger("PendingPods")
    pods = (waiting(), waiting("api-1"))
    occasion = asked.look(sight(100, *pods, notices=[said("TriggeredScaleUp", 90)]))
    assert occasion is not None
    assert [reference.name for reference in occasion.pods] == ["api-1"]
    asked.answered(report(100, 101))
    times = [at for at in range(600, 800) if (found := asked.look(sight(at, *pods))) and found.pods[-1].name == "web-1"]
    assert times[0] == 695


def test_how_long_it_is_left_is_the_policys() -> None:
    """By the trigger's own argument, else by what the policy says of autoscalers."""
    waits = policy("autoscaler: {wait: 3m}")
    for asked, until in ((trigger("PendingPods", policy=waits), 270), (trigger("PendingPods", scaleUpWait="1m"), 150)):
        asked.look(sight(92, waiting(), notices=[said("TriggeredScaleUp", 90)]))
        assert asked.wake_at(NOW + 92) == NOW + until + 5


def test_the_order_in_which_notices_come_does_not_matter() -> None:
    """What was said later counts."""
    both = [said("NotTriggerScaleUp", 80), said("TriggeredScaleUp", 90)]
    for notices in (both, both[::-1]):
        assert trigger("PendingPods").look(sight(100, waiting(), notices=notices)) is None


@pytest.mark.parametrize("notice", [said("NotTriggerScaleUp", 95), said("ScaleUpTimedOut", 95, "ConfigMap", "status")])
def test_it_is_not_left_when_no_node_comes_after_all(notice: AutoscalerNotice) -> None:
    """Said of the pod, or of scaling up as a whole."""
    asked = trigger("PendingPods")
    assert asked.look(sight(92, waiting(), notices=[said("TriggeredScaleUp", 90)])) is None
    assert asked.look(sight(96, waiting(), notices=[notice])) is not None


def test_the_node_that_came_ends_the_wait_for_it() -> None:
    """If the pod still finds no place on it."""
    asked = trigger("PendingPods")
    assert asked.look(sight(92, NODE, waiting(), notices=[said("TriggeredScaleUp", 90)])) is None
    assert asked.look(sight(200, NODE, node("n2"), waiting())) is None
    assert asked.look(sight(235, NODE, node("n2"), waiting())) is not None


@given(
    st.lists(st.tuples(st.floats(0, 600), st.floats(5, 2000)), min_size=1, max_size=8),
    st.sampled_from([None, 0.5, 20.0]),
)
def test_every_pod_that_waits_is_looked_at_in_time(lives: list[tuple[float, float]], took: float | None) -> None:
    """Each that waits for longer than it must gets a round, and no pod two within a minute."""
    pods = [(waiting(f"p-{number}", since=at), at, there) for number, (at, there) in enumerate(lives)]

    def seen(at: float) -> Cluster:
        return cluster(NODE, *(one for one, came, there in pods if came <= at < came + there), taken_at=NOW + at)

    changes = [moment for _, came, there in pods for moment in (came, came + there)]
    found = firings(trigger("PendingPods"), seen, 3000, changes, took)
    for one, came, there in pods:
        mine = [at for at, occasion in found if one.uid in {reference.uid for reference in occasion.pods}]
        assert all(later - earlier >= 60 - MOMENT for earlier, later in pairwise(mine))
        assert all(came + 30 <= at + MOMENT and at <= came + there + MOMENT for at in mine)
        if there > 30 + 30 + 20 + 1:
            rounds = [at for at, _ in found] if took is not None else mine
            assert any(came + 30 <= at + MOMENT and at <= came + 30 + 30 + 20 + 1 for at in rounds)
