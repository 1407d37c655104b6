"""Draining: more nodes than one-by-one choice gives, within every filter, group and limit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rescheduler.batch.backtest.counted_clock import CountedClock
from rescheduler.extension_points import Clock, no_progress
from rescheduler.model.objects.constraints import TopologySpreadConstraint
from rescheduler.model.plan.disruption import MoveLimits
from rescheduler.planning.objectives.empty_nodes.draining import draining
from rescheduler.planning.objectives.empty_nodes.draining.drain_search import DrainSearch
from rescheduler.planning.objectives.empty_nodes.draining.draining import Draining
from rescheduler.planning.objectives.empty_nodes.draining.seatable import seatable_pods
from rescheduler.planning.objectives.empty_nodes.situation import EmptyingSituation
from rescheduler.planning.objectives.empty_nodes.solution import Solution, keeps_limits
from rescheduler.planning.problem.deadline import Deadline
from rescheduler.planning.waves.replay import replay
from rescheduler.planning.waves.waves import GroupsOfPods
from tests import builders
from tests.clocks import FakeClock
from tests.unit.planning.asked import situation_of
from tests.unit.planning.brute_force import TinyCluster
from tests.unit.planning.objectives.empty_nodes.questions import question, question_for
from tests.unit.planning.planning_requests import endless
from tests.unit.planning.tiny import tiny_clusters

SLOW = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
ZONE = "topology.kubernetes.io/zone"


def drained(situation: EmptyingSituation, seed: int = 0) -> Solution:
    """What draining makes of no plan at all; the empty plan where nobody may be seated."""
    nothing = np.zeros(situation.node_count, dtype=np.bool_)
    work = Draining(situation, GroupsOfPods(situation.problem), seed, no_progress)
    return work.drained({}, situation.candidates, nothing, endless()) or Solution()


@SLOW
@given(tiny_clusters(most_running=8), st.integers(0, 3))
def test_a_drained_plan_can_be_carried_out(tiny: TinyCluster, seed: int) -> None:
    """Every wave passes all filters, groups and limits, and the same seed gives the same plan."""
    situation = situation_of(question_for(tiny))
    found = drained(situation, seed)
    assert replay(situation.problem, found.schedule) == []
    assert keeps_limits(situation, found.schedule)
    assert drained(situation, seed) == found


def test_pods_change_places_so_that_a_node_empties() -> None:
    """Where no pod of the node fits anywhere as things stand, others make room."""
    nodes = [builders.node("a", cpu="4"), builders.node("b", cpu="6"), builders.node("c", cpu="6")]
    pods = [
        builders.pod("big-1", cpu="3", memory="1Mi", node="a"),
        *(builders.pod(f"b-{n}", cpu="2", memory="1Mi", node="b") for n in range(2)),
        *(builders.pod(f"c-{n}", cpu="1", memory="1Mi", node="c") for n in range(4)),
    ]
    situation = situation_of(question(builders.cluster(*nodes, *pods)))
    assert 0 in drained(situation).emptied


def test_pods_that_spread_stay_in_their_zone() -> None:
    """The loops seat them, and only where the counts by zone stay as they are."""
    spread = (TopologySpreadConstraint(ZONE, 1, selector=builders.selector(app="web")),)
    nodes = [builders.node(name, zone=zone) for name, zone in (("a", "x"), ("b", "x"), ("c", "y"), ("d", "y"))]
    pods = [builders.pod(f"web-{name}", node=name, topology_spread=spread) for name in "abcd"]
    situation = situation_of(question(builders.cluster(*nodes, *pods)))
    seatable = seatable_pods(situation)
    assert len(seatable.rows) == 4
    open_nodes = [np.flatnonzero(seatable.open_to[number]).tolist() for number in seatable.class_of.tolist()]
    assert open_nodes == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert len(drained(situation).emptied) == 2


@pytest.mark.parametrize(
    "limits",
    [
        MoveLimits(max_evictions=3),
        MoveLimits(max_evictions_per_node=3),
        MoveLimits(max_evictions_per_namespace=3),
    ],
)
def test_limits_bind_what_is_drained(limits: MoveLimits) -> None:
    """A node more than the limits allow is not drained."""
    nodes = [builders.node(name) for name in "abcd"]
    pods = [
        builders.pod(f"{name}-{n}", cpu="500m", node=name)
        for name, count in (("a", 2), ("b", 4), ("c", 2))
        for n in range(count)
    ]
    situation = situation_of(question(builders.cluster(*nodes, *pods), limits=limits))
    found = drained(situation)
    assert keeps_limits(situation, found.schedule)
    assert found.emptied


def test_compiling_begins_only_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Short or small searches run on the plain loops."""
    monkeypatch.setattr(draining, "compilation", lambda: pytest.fail("began to compile"))
    cluster = builders.cluster(builders.node("a"), builders.node("b"), builders.pod("web-1", node="a"))
    situation = situation_of(question(cluster))
    work = Draining(situation, GroupsOfPods(situation.problem), 0, no_progress)
    work.prepare(endless())
    assert work.drained({}, situation.candidates, np.zeros(2, dtype=np.bool_), endless()) is not None


class Compiling:
    """A compilation that never ends well. ``waits``: how long it was waited for."""

    def __init__(self) -> None:
        self.waits: list[float | None] = []

    def wait(self, seconds: float | None) -> None:
        """It is over at once."""
        self.waits.append(seconds)

    def loops(self) -> None:
        """There are none."""


@pytest.mark.parametrize("clock", [CountedClock(0.0), FakeClock()])
def test_where_work_is_counted_compiled_loops_decide_nothing(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    """They are waited for however long it takes, and where there are none the search goes the same way."""
    compiling, kept = Compiling(), []

    def noted(*given: object, keeps_changes: bool, **named: object) -> DrainSearch:
        kept.append(keeps_changes)
        return DrainSearch(*given, keeps_changes=keeps_changes, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(draining, "compilation", lambda: compiling)
    monkeypatch.setattr(draining, "DrainSearch", noted)
    monkeypatch.setattr(draining, "_WORTH_COMPILING_PODS", 1)
    nodes = (builders.node("a"), builders.node("b"))
    situation = situation_of(question(builders.cluster(*nodes, builders.pod("web-1", node="a"))))
    work, deadline = Draining(situation, GroupsOfPods(situation.problem), 0, no_progress), Deadline(clock, 10.0)
    work.prepare(deadline)
    assert work.drained({}, situation.candidates, np.zeros(2, dtype=np.bool_), deadline) is not None
    is_counted = clock.counts_work
    assert kept == [is_counted]
    assert compiling.waits == ([None] if is_counted else [pytest.approx(4.0)])
