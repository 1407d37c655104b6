"""Gated moves that cannot go on: what ends them, who goes home, and what is left of their nominations."""

from __future__ import annotations

import pytest

from rescheduler.execution.stopping import PlanOvertakenError, PlanStoppedError
from rescheduler.extension_points import ClusterError, EvictionAnswer
from rescheduler.model.objects.annotations import GUIDE_GATE
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.guidance.gated_stage import (
    GatedStage,
    elapsed,
    failing,
    full_pair,
    leading,
    swapping,
)

REFUSED = EvictionAnswer("TwoBudgets", "two")
TAKEN = EvictionAnswer("Accepted", "but the pod stays")


def interrupt(_reference: PodReference, _dry_run: bool) -> EvictionAnswer | None:
    """Somebody presses Ctrl-C at this request."""
    raise KeyboardInterrupt


# What ends it


@pytest.mark.parametrize("is_exchange", [True, False])
def test_an_old_pod_that_does_not_go_ends_it(is_exchange: bool) -> None:
    """A minute after the longest grace of all; where all leave first nobody has come by then."""
    start = cluster(
        node("n0", "4"), node("n1", "4"), pod("a-0", "4", node="n0", termination_grace_seconds=100),
        pod("b-0", "4", node="n1", termination_grace_seconds=5), workload("a", 1), workload("b", 0),
    )  # fmt: skip
    stage = swapping(start)
    stage.world.script = [None, None, None, TAKEN] if is_exchange else [None, TAKEN]
    message = "default/b-0 was evicted, but it has not gone yet; nothing further is moved"
    began = stage.world.clock.monotonic()
    with pytest.raises(PlanStoppedError, match=message):
        stage.exchange() if is_exchange else stage.lead()
    assert stage.world.clock.monotonic() - began == pytest.approx(100 + 60 + 15, abs=5)


def nobody_follows_a(wanted: int) -> Cluster:
    """Of two full nodes the pod of the first has no owner; so many are wanted by that of the second's."""
    return cluster(
        node("n0", "4"), node("n1", "4"), pod("a-0", "4", node="n0", owner=None), pod("b-0", "4", node="n1"),
        workload("b", wanted),
    )  # fmt: skip


def test_an_owner_that_makes_no_other_pod_ends_it() -> None:
    """It is named, and not the one beside it of which nothing was to come."""
    stage = swapping(nobody_follows_a(0))
    with pytest.raises(PlanStoppedError, match="default/b-0 was evicted, but nothing has replaced it yet"):
        stage.exchange()


def test_a_pod_that_nothing_replaces_is_not_waited_for() -> None:
    """Who takes its place goes there as soon as it is gone."""
    stage = swapping(nobody_follows_a(1))
    assert elapsed(stage, stage.exchange) < 5.0
    assert stage.where("b") == "n0"


# Everybody home


def close(stage: GatedStage) -> None:
    """What whoever closes the run does: placeholders go, and nobody waits any more."""
    stage.holds.release_all()
    stage.gates.end()
    stage.world.clock.sleep(20)


def test_who_left_in_vain_is_nominated_home_once_its_place_is_free() -> None:
    """The pod of a StatefulSet comes only when the old one has gone: that is waited for."""
    start = cluster(
        node("n0", "4"), node("n1", "4"), pod("a-0", "4", node="n0", kind="StatefulSet"), pod("b-0", "4", node="n1"),
        pod("rival-0", "4"), workload("a", 1, kind="StatefulSet"), workload("b", 1), workload("rival", 1),
    )  # fmt: skip
    stage = swapping(start, termination_seconds=10.0)
    stage.world.script = [None, None, None, REFUSED]
    began = stage.world.clock.monotonic()
    with pytest.raises(PlanOvertakenError, match="default/b-0: TwoBudgets"):
        stage.exchange()
    assert 10.0 <= stage.world.clock.monotonic() - began < 13.0, "no longer than it takes"
    assert stage.nominations() == [("a", "n0")]
    close(stage)
    assert (stage.where("a"), stage.world.pod("rival-0").node_name) == ("n0", None)


def test_who_cannot_come_home_within_a_quarter_of_a_minute_is_let_go() -> None:
    """Where nothing has come by then nobody is waited for any longer."""
    stage = swapping(cluster(*full_pair().nodes, *full_pair().pods, workload("a", 0), workload("b", 1)))
    stage.world.script = [None, None, None, REFUSED]
    began = stage.world.clock.monotonic()
    with pytest.raises(PlanOvertakenError):
        stage.exchange()
    assert stage.world.clock.monotonic() - began == pytest.approx(15.0, abs=2.0)
    assert stage.nominations() == []


def test_an_interrupt_waits_for_nobody() -> None:
    """Who is there is nominated home; who is not is let go when it comes."""
    stage = swapping(replacement_seconds=5.0)
    stage.world.script = [None, None, None, interrupt]
    began = stage.world.clock.monotonic()
    with pytest.raises(KeyboardInterrupt):
        stage.exchange()
    assert stage.world.clock.monotonic() - began < 1.0
    assert stage.nominations() == []
    stage = swapping()
    stage.world.script = [None, None, None, interrupt]
    stage.before["b-0"] = lambda: stage.world.clock.sleep(3)
    with pytest.raises(KeyboardInterrupt):
        stage.exchange()
    assert stage.nominations() == [("a", "n0")]
    close(stage)
    assert stage.where("a") == "n0"


def test_an_interrupt_of_pods_that_are_led_takes_nobody_back() -> None:
    """Their places are free from the beginning."""
    start = cluster(*(node(f"n{number}") for number in range(4)), pod("x-0", node="n0"), pod("y-0", node="n1"),
                    workload("x", 1), workload("y", 1))  # fmt: skip
    stage = leading(start, {"x-0": "n2", "y-0": "n3"})
    stage.world.script = [None, interrupt]
    stage.before["y-0"] = lambda: stage.world.clock.sleep(3)
    with pytest.raises(KeyboardInterrupt):
        stage.lead()
    assert stage.nominations() == [("x", "n2")]


def test_where_the_plan_has_no_time_left_those_that_came_go_home() -> None:
    """One old pod does not go in time: the other move's new pod gets its place back from whoever waits for it."""
    stage = swapping(full_pair(termination_grace_seconds=100), timeout=20.0,
                     termination_seconds=lambda item: 90.0 if item.name == "b-0" else 1.0)  # fmt: skip
    with pytest.raises(PlanStoppedError, match="not through after 20 s"):
        stage.exchange()
    assert stage.nominations() == [("a", "n0"), ("b", "n1")]
    close(stage)
    assert (stage.where("a"), stage.world.pod("rival-0").node_name) == ("n0", None)


@pytest.mark.parametrize("is_exchange", [True, False])
def test_where_one_is_in_already_the_others_go_on(is_exchange: bool) -> None:
    """Nobody is led home to a place that somebody else was given; who is in is not led again."""
    start = cluster(*(node(f"n{number}") for number in range(4)), *full_pair().pods[:2], *full_pair().workloads)
    stage = swapping() if is_exchange else leading(start, {"a-0": "n2", "b-0": "n3"})
    failing(stage).fails["ungate"], failing(stage).passes["ungate"] = 1, 1
    with pytest.raises(ClusterError, match="ungate: connection refused"):
        stage.exchange() if is_exchange else stage.lead()
    asked = [("a", "n1"), ("b", "n0"), ("b", "n0")] if is_exchange else [("a", "n2"), ("b", "n3"), ("b", "n3")]
    assert stage.nominations() == asked
    close(stage)
    assert (stage.where("a"), stage.where("b")) == ((asked[0][1]), asked[1][1])


def test_where_nobody_is_in_yet_all_go_home() -> None:
    """The second nomination fails, before any placeholder has gone."""
    stage = swapping()
    failing(stage).fails["nominate"], failing(stage).passes["nominate"] = 1, 1
    with pytest.raises(ClusterError, match="nominate: connection refused"):
        stage.exchange()
    assert stage.nominations() == [("a", "n1"), ("a", "n0"), ("b", "n1")]
    close(stage)
    assert [stage.where("a"), stage.where("b"), stage.world.pod("rival-0").node_name] == ["n0", "n1", None]


def test_what_failed_first_is_told() -> None:
    """That nobody could be led home either is not what ended it."""
    stage = swapping()
    stage.world.script = [None, None, None, REFUSED]
    failing(stage).fails["nominate"] = 9
    with pytest.raises(PlanOvertakenError, match="default/b-0: TwoBudgets"):
        stage.exchange()


# What is left at the end


def test_a_nomination_of_a_pod_that_gets_nowhere_is_taken_off_at_the_end() -> None:
    """Something else holds it back, so it would keep its room for ever."""
    gated = full_pair(scheduling_gates=("example.com/other",))
    stage = swapping(gated)
    stage.world.script = [None, None, None, REFUSED]
    with pytest.raises(PlanOvertakenError):
        stage.exchange()
    close(stage)
    (new,) = stage.new("a")
    assert (new.nominated_node, GUIDE_GATE in new.scheduling_gates) == ("n0", False)
    assert stage.nominator.end() == []
    (new,) = stage.new("a")
    assert new.nominated_node is None
