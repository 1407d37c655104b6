"""Nothing is moved before each machine is Ready and as promised; and nothing is left of what asked for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.buying.buyer import Bought, Buyer, BuyingSettings
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from rescheduler.model.plan.what_if import WhatIf
from tests.builders import NOW, node, pod, taint
from tests.clocks import FakeClock
from tests.unit.execution.buying.market import LABELS, FakeMarket, buying_plan, came, down, machine, world

PATIENCE, HOLD = 300.0, 60


class Scene:
    """A market, a clock, and what a reader sees: ``cluster`` until something has come, then ``after``."""

    def __init__(self, *machines: Any, start: Cluster | None = None) -> None:
        self.market, self.clock = FakeMarket(), FakeClock()
        self.start = world() if start is None else start
        self.after = self.start
        self.plan: Plan = buying_plan(self.start, *machines)
        self.stop: str | None = None
        self.reads = 0

    def buy(self) -> Bought:
        """One purchase."""

        def read() -> Cluster:
            self.reads += 1
            return self.after

        settings = BuyingSettings("run1", PATIENCE, HOLD, stopped=lambda: self.stop)
        return Buyer(self.market, read, self.clock, settings).buy(self.plan, self.start)

    def refused(self) -> str:
        """Why nothing was moved; whatever asked is gone then."""
        with pytest.raises(PlanStoppedError) as found:
            self.buy()
        assert not self.market.stands
        return str(found.value)

    def at(self, seconds: float, act: Callable[[], None]) -> None:
        """Do it at the first look after so many seconds."""
        before, done = self.market.on_look, []

        def look() -> None:
            before()
            if not done and self.clock.now() >= NOW + seconds:
                done.append(True)
                act()

        self.market.on_look = look


def test_the_plan_goes_on_with_the_nodes_that_came() -> None:
    """Under their own names, once they are Ready; by then nothing asks any more."""
    scene = Scene(machine("added-1"), machine("added-2"))
    scene.after = world(came("k1"), came("k2"))
    scene.at(10, lambda: scene.market.places.update({0: "k1"}))
    scene.at(20, lambda: scene.market.places.update({1: "k2"}))
    found = scene.buy()
    assert found.nodes == {"added-1": "k1", "added-2": "k2"}
    assert [move.to_node for move in found.plan.moves] == ["k1", "k2"]
    assert isinstance(found.plan.what_if, WhatIf)
    assert (found.plan.what_if.removed_nodes, found.plan.what_if.added_nodes) == (("a",), ())
    assert found.cluster is scene.after
    assert scene.clock.now() >= NOW + 20
    assert (scene.market.stands, scene.market.withdrawals) == (False, 1)
    [request] = scene.market.requests
    assert request.name == "rescheduler-buy-run1"
    assert [shape.number for shape in request.shapes] == [1, 1]
    assert request.expires_at == NOW + HOLD
    assert request.pods == ()


NOT_READY = structs.replace(came("k1"), is_ready=False)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (NOT_READY, "node k1 is not Ready"),
        (structs.replace(came("k1"), is_unschedulable=True), "node k1 is cordoned"),
        (came("k1", taints=[taint("karpenter.sh/unregistered", effect="NoExecute")]), "still starting"),
        (came("k1", taints=[taint("karpenter.sh/disrupted")]), "about to remove"),
        (structs.replace(came("k1"), deletion_at=NOW), "is being deleted"),
        (came("k1", labels={"karpenter.sh/capacity-type": "on-demand"}), "of another type, capacity type"),
        (structs.replace(node("k1", "2", "4086Mi", labels=LABELS), created_at=NOW + 1), "cpu 2 for pods"),
        (structs.replace(node("k1", "4", "4000Mi", labels=LABELS), created_at=NOW + 1), "memory 4000Mi for pods"),
        (structs.replace(node("k1", "4", "8Gi", pods=50, labels=LABELS), created_at=NOW + 1), "pods 50 for pods"),
        (structs.replace(came("k1"), problem="has no allocatable"), "has no allocatable"),
    ],
)
def test_one_that_is_not_as_promised_is_waited_for_and_then_told(bad: Any, why: str) -> None:
    """When the time is over nothing was moved; when it turns out well in time the plan goes on."""
    scene = Scene()
    scene.market.places, scene.after = {0: "k1"}, world(bad)
    told = scene.refused()
    assert why in told
    assert "Nothing was moved" in told
    assert NOW + PATIENCE <= scene.clock.now() <= NOW + PATIENCE + 2

    scene = Scene()
    scene.market.places, scene.after = {0: "k1"}, world(bad)

    def mend() -> None:
        scene.after = world(came("k1"))

    scene.at(30, mend)
    assert scene.buy().nodes == {"added-1": "k1"}
    assert scene.clock.now() >= NOW + 30


def test_pods_that_come_with_the_node_take_of_its_room() -> None:
    """The plan has counted on what is left beside them."""
    scene = Scene()
    daemon = pod("agent-k1", "100m", "10Mi", node="k1", kind="DaemonSet", owner="agent")
    scene.market.places, scene.after = {0: "k1"}, world(came("k1"), daemon)
    assert "node k1 has cpu 3.8 for pods; the plan counts on 3.9" in scene.refused()
    larger = structs.replace(node("k1", "4", "4096Mi", labels=LABELS), created_at=NOW + 1)
    scene = Scene()
    scene.market.places, scene.after = {0: "k1"}, world(larger, daemon)
    assert scene.buy().nodes == {"added-1": "k1"}


def test_what_does_not_come_in_time_is_asked_for_no_longer() -> None:
    """One of two is not enough; the message names what is missing."""
    scene = Scene(machine("added-1"), machine("added-2", zone="b"))
    scene.market.places, scene.after = {0: "k1"}, world(came("k1"))
    told = scene.refused()
    assert "did not come within 300 s" in told
    assert "no node for added-2: small (spot, b, web)" in told
    assert scene.reads == 0  # the cluster is read whole only when all have a node
    assert len(scene.market.requests) == 1


def test_what_asks_is_renewed_in_time() -> None:
    """At half of its deadline, so that it never runs out; a server that is down for a while is asked again."""
    scene = Scene()
    scene.after = world(came("k1"))
    scene.market.failures = {"renew": down(3), "asked": down(5)}
    scene.at(100, lambda: scene.market.places.update({0: "k1"}))
    scene.buy()
    assert scene.market.renewed == [HOLD] * 3


def test_a_server_that_stays_down_ends_the_waiting() -> None:
    """With its own words."""
    scene = Scene()
    scene.market.failures = {"asked": down(10_000)}
    assert "the server is down" in scene.refused()


def test_a_placeholder_that_was_taken_away_ends_it() -> None:
    """By somebody else, a preemption, or ``clean``; no other is made in its place."""
    scene = Scene()
    scene.at(5, lambda: scene.market.gone.add(0))
    assert "somebody has taken away the placeholder of added-1: small (spot, web)" in scene.refused()
    scene = Scene()
    scene.market.is_alive = False
    assert "somebody has taken away what asked" in scene.refused()
    assert len(scene.market.requests) == 1


def test_a_job_controller_may_be_slow() -> None:
    """A pod that is not there yet was not taken away."""
    scene = Scene()
    scene.after, scene.market.gone = world(came("k1")), {0}
    scene.at(20, scene.market.gone.clear)
    scene.at(20, lambda: scene.market.places.update({0: "k1"}))
    assert scene.buy().nodes == {"added-1": "k1"}


def test_a_node_that_was_there_before_is_no_machine() -> None:
    """The plan has counted on its room already: at once, without waiting."""
    old = structs.replace(came("old"), created_at=NOW - 60)
    scene = Scene(start=world(old, pod("big-0", "3", node="old")))
    scene.market.places = {0: "old"}
    told = scene.refused()
    assert "found room on old, which was there before" in told
    assert scene.clock.now() == NOW


def test_two_machines_are_two_nodes() -> None:
    """Placeholders that share one have not brought two."""
    scene = Scene(machine("added-1"), machine("added-2"))
    scene.market.places, scene.after = {0: "k1", 1: "k1"}, world(came("k1"))
    assert "node k1 came for more than one machine" in scene.refused()


def test_another_run_is_waited_for() -> None:
    """For as long as what it asks may outlive it; then nothing is asked for."""
    scene = Scene()
    scene.market.others = ["rescheduler-buy-x"]
    assert "another run asks for machines (rescheduler-buy-x)" in scene.refused()
    assert scene.market.requests == []
    assert scene.clock.now() <= NOW + 2 * HOLD + 1
    scene = Scene()
    scene.market.others, scene.market.places, scene.after = ["x", "y", "z"], {0: "k1"}, world(came("k1"))

    def gone() -> list[str]:
        return [scene.market.others.pop()] if scene.market.others else []

    scene.market.of_others = gone  # type: ignore[method-assign]
    assert scene.buy().nodes == {"added-1": "k1"}


@pytest.mark.parametrize("raised", [KeyboardInterrupt(), MemoryError()])
def test_whatever_happens_nothing_is_left(raised: BaseException) -> None:
    """Ctrl-C in the midst of waiting takes back what was asked for."""
    scene = Scene()
    scene.market.failures = {"asked": [*down(2), raised]}
    with pytest.raises(type(raised)):
        scene.buy()
    assert (scene.market.stands, scene.market.withdrawals) == (False, 1)


def test_what_was_asked_for_in_part_is_taken_back() -> None:
    """Also where the server fails then: the guardian and the deadline do it, and the reason told is the first."""
    scene = Scene()
    scene.market.failures = {"ask": down()}
    assert "no machine could be asked for, and nothing was moved: the server is down" in scene.refused()
    scene = Scene()
    scene.market.failures = {"ask": down(), "withdraw": down()}
    with pytest.raises(PlanStoppedError, match="no machine could be asked for"):
        scene.buy()
    assert scene.market.withdrawals == 1


def test_placeholders_that_cannot_be_taken_off_the_machines_bar_the_moves() -> None:
    """The room would not be free."""
    scene = Scene()
    scene.market.places, scene.after = {0: "k1"}, world(came("k1"))
    scene.market.failures = {"withdraw": down()}
    with pytest.raises(PlanStoppedError, match="nothing was moved, since their placeholders could not be taken away"):
        scene.buy()


def test_the_kill_switch_ends_it() -> None:
    """While machines are awaited too."""
    scene = Scene()

    def stop() -> None:
        scene.stop = "maintenance"

    scene.at(40, stop)
    assert scene.refused() == "stopped: maintenance; nothing was moved"
    assert scene.clock.now() <= NOW + 42


def with_an_empty_one() -> Scene:
    """A node of the wanted type stands empty, as old as any."""
    return Scene(start=world(structs.replace(came("old"), created_at=NOW - 60)))


def test_a_node_that_would_take_what_asks_is_filled_before() -> None:
    """First by a placeholder for it alone; once that stands there the machine is asked for, and not before."""
    scene = with_an_empty_one()
    scene.after = world(came("old"), came("k1"))
    asked: list[int] = []
    scene.market.on_look = lambda: asked.append(scene.market.number)
    scene.at(5, lambda: scene.market.places.update({0: "old"}))
    scene.at(10, lambda: scene.market.places.update({1: "k1"}))
    assert scene.buy().nodes == {"added-1": "k1"}
    assert scene.clock.now() >= NOW + 10
    assert asked == sorted(asked)
    assert set(asked) == {1, 2}
    assert asked.count(1) >= 5
    assert (scene.market.stands, scene.market.withdrawals) == (False, 1)


def test_one_that_is_not_filled_in_time_is_a_reason_not_to_ask() -> None:
    """The scheduler does not put it there, or nobody answers: no machine was asked for."""
    scene = with_an_empty_one()
    told = scene.refused()
    assert "nothing was moved: old must be filled before" in told
    assert "nothing stands on old yet" in told
    assert scene.market.number == 1
    scene = with_an_empty_one()
    scene.market.failures["asked"] = down(100)
    assert "the server is down" in scene.refused()


def test_a_stop_is_obeyed_while_a_node_is_filled() -> None:
    """Nothing is asked for after it."""
    scene = with_an_empty_one()
    scene.at(3, lambda: setattr(scene, "stop", "a stop was set"))
    assert "a stop was set" in scene.refused()
    assert scene.market.number == 1
