"""Gated moves by themselves: room is kept and given back, and each replacement is led to its own place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.landing.departures import Departures
from rescheduler.execution.stopping import PlanOvertakenError
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.guidance.gated_stage import (
    FailingWorld,
    GatedStage,
    elapsed,
    exchange,
    failing,
    full_pair,
    leading,
    swapping,
)
from tests.unit.execution.worlds import World

# Room that is kept


def test_an_exchange_keeps_both_places_by_itself() -> None:
    """Whoever waits for them gets neither, and no placeholder stands afterwards."""
    stage = swapping()
    stage.exchange()
    stage.world.clock.sleep(20)
    assert (stage.where("a"), stage.where("b"), stage.world.pod("rival-0").node_name) == ("n1", "n0", None)
    assert stage.standing == []


def test_room_that_is_kept_already_is_not_kept_twice() -> None:
    """What stands for a pod is all that stands for it."""
    stage = swapping()
    stage.keep("a-0", "n1", 4000)
    seen: list[list[str]] = []
    stage.before["a-0"] = lambda: seen.append(stage.standing)
    stage.exchange()
    assert seen == [["n0", "n1"]]


def test_after_the_moves_nobody_is_held_back() -> None:
    """A pod that an owner makes later goes its own way."""
    stage = swapping(cluster(*full_pair().nodes, pod("a-0", "4", node="n0"), pod("b-0", "4", node="n1"),
                             node("n2"), workload("a", 1), workload("b", 1)))  # fmt: skip
    stage.exchange()
    stage.world.put(pod("a-later", "1", owner="a"))
    stage.world.clock.sleep(1)
    assert stage.world.pod("a-later").node_name == "n2"


def test_room_for_others_stands_back_only_where_it_is_in_the_way() -> None:
    """What leaves enough room for the pod that comes is not touched, and what does not is kept again after it."""
    start = cluster(
        node("n0", "8"), node("n1", "8"), node("n2", "8"), pod("web-0", "4", node="n0"), pod("late-0", "9"),
        workload("web", 1), workload("late", 1),
    )  # fmt: skip
    for cpu, made in ((4000, 1), (4001, 2)):
        stage = leading(start, {"web-0": "n1"})
        stage.keep("late-0", "n1", cpu)
        stage.lead()
        assert stage.where("web") == "n1"
        assert stage.standing == ["n1"]
        jobs = [item for item in stage.world.writes if (item.verb, item.resource) == ("create", "jobs")]
        assert len(jobs) == made


def test_room_for_others_is_kept_again_once_the_pods_are_there() -> None:
    """Not before: a scheduler that takes its time finds the room still open. Nor any later."""
    start = cluster(
        node("n0", "8"), node("n1", "8"), node("n2", "8"), pod("web-0", "4", node="n0"), pod("late-0", "9"),
        workload("web", 1), workload("late", 1),
    )  # fmt: skip
    stage = leading(start, {"web-0": "n1"}, attempt_seconds=1.0)
    stage.keep("late-0", "n1", 8000)
    seconds = elapsed(stage, stage.lead)
    assert stage.where("web") == "n1"
    assert stage.standing == ["n1"]
    assert seconds < 4.0


def test_room_for_a_pod_that_has_come_is_not_kept_any_more() -> None:
    """Also where it was in the way of one that came beside it."""
    start = cluster(
        node("n0", "8"), node("n1", "8"), node("n2", "8"), pod("x-0", "2", node="n0"), pod("y-0", "2", node="n1"),
        workload("x", 1), workload("y", 1),
    )  # fmt: skip
    stage = leading(start, {"x-0": "n2", "y-0": "n2"})
    stage.keep("y-0", "n2", 8000)
    stage.lead()
    assert (stage.where("x"), stage.where("y")) == ("n2", "n2")
    assert stage.standing == []


def test_room_that_nobody_came_to_still_stands() -> None:
    """Nothing recreates this pod, so what would have been in its way never stood back."""
    start = cluster(node("n0", "8"), node("n1", "8"), pod("solo", "4", node="n0", owner=None), pod("late-0", "9"))
    stage = leading(start, {"solo": "n1"})
    stage.keep("late-0", "n1", 8000)
    stage.lead()
    assert stage.standing == ["n1"]


def test_of_pods_that_are_led_nobody_counts_as_gone_before_he_is() -> None:
    """Room for others stands back for one that comes while another one still ends there."""
    start = cluster(
        node("n0", "8"), node("n1", "8"), node("n2", "8"), pod("slow-0", "2", node="n0"), pod("web-0", "2", node="n1"),
        pod("late-0", "9"), workload("slow", 1), workload("web", 1), workload("late", 1),
    )  # fmt: skip
    stage = leading(start, {"slow-0": "n2", "web-0": "n0"}, termination_seconds=20.0)
    stage.keep("late-0", "n0", 6000)
    stage.lead()
    assert stage.where("web") == "n0"


def test_of_pods_that_leave_first_the_room_is_counted_without_them() -> None:
    """Room for others need not stand back where it fits beside those that come once all have left."""
    start = cluster(
        node("n0", "8"), node("n1", "4"), pod("a-0", "4", node="n0"), pod("b-0", "4", node="n1"), pod("late-0", "9"),
        workload("a", 1), workload("b", 1), workload("late", 1),
    )  # fmt: skip
    stage = swapping(start)
    kept = stage.keep("late-0", "n0", 4000)
    stage.exchange()
    assert (stage.where("a"), stage.where("b")) == ("n1", "n0")
    assert [item.name for item in stage.world.writes if item.verb == "create"].count(kept.request.name) == 1


# Who may leave


def test_a_pod_that_another_one_has_taken_the_name_of_is_not_asked_for() -> None:
    """Nor is anybody else moved; the message says what was found."""
    for change in (lambda world: world.delete_pod("default", "b-0"), lambda world: world.put(pod("b-0", uid="other"))):
        stage = swapping(full_pair(termination_grace_seconds=0))

        def changed(_reference: PodReference, _dry_run: bool, change: Any = change, stage: Any = stage) -> None:
            change(stage.world)
            stage.world.clock.sleep(3)

        stage.world.script = [changed]
        with pytest.raises(
            PlanOvertakenError, match=r"default/b-0 cannot leave now \(Gone: .* another pod of the same"
        ):
            stage.exchange()
        assert stage.world.asked == [("a-0", True)]


# Who is led where


def test_pods_of_one_owner_are_led_to_a_place_each() -> None:
    """However they are told apart from one look to the next: who was nominated somewhere goes there."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)), pod("web-0", "3", node="n0"), pod("web-1", "3", node="n1"),
        workload("web", 2),
    )  # fmt: skip
    stage = leading(start, {"web-0": "n2", "web-1": "n3"})
    stage.lead()
    assert sorted(str(item.node_name) for item in stage.new("web")) == ["n2", "n3"]
    assert sorted(stage.nominations()) == [("web", "n2"), ("web", "n3")]


class Mixing(Departures):
    """Those of one owner, which every second look takes for each other."""

    _looks = 0

    def look(self, only: Any = None) -> None:
        """As they stand, or the other way round."""
        super().look(only)
        self._looks += 1
        found = [item.replacement for item in self.all]
        for item, replacement in zip(self.all, reversed(found) if self._looks % 2 else found, strict=True):
            item.replacement = replacement


def test_a_new_pod_stays_whose_it_was() -> None:
    """Though the second of two comes later, and they are told apart otherwise by then."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)), pod("web-0", "3", node="n0"), pod("web-1", "3", node="n1"),
        workload("web", 2),
    )  # fmt: skip
    stage = leading(start, {"web-0": "n2", "web-1": "n3"}, attempt_seconds=1.0)
    stage.departures = Mixing(stage.world)
    stage.lead()
    assert sorted(str(item.node_name) for item in stage.new("web")) == ["n2", "n3"]
    assert sorted(stage.nominations()) == [("web", "n2"), ("web", "n3")]


def test_a_look_that_fails_is_taken_again() -> None:
    """An API server that does not answer for a moment stops nobody."""
    stage = swapping()
    failing(stage).fails["read_lists"] = 5
    stage.exchange()
    assert (stage.where("a"), stage.where("b")) == ("n1", "n0")


def test_of_those_that_leave_first_nobody_comes_before_all_have_left() -> None:
    """A new pod waits at the gate, unnamed, while the old one of another move still stands."""
    stage = swapping(termination_seconds=lambda item: 9.0 if item.name == "b-0" else 1.0)
    stage.exchange()
    first = min(
        write.at for write in stage.world.writes if write.resource == "pods/status" and write.namespace == "default"
    )
    began = min(write.at for write in stage.world.writes if write.resource == "pods/eviction")
    assert first - began >= 9.0


def test_of_those_that_are_led_nobody_waits_for_the_others() -> None:
    """Each is let go as soon as it is there."""
    start = cluster(
        *(node(f"n{number}", "4") for number in range(4)), pod("slow-0", "3", node="n0", kind="StatefulSet"),
        pod("web-0", "3", node="n1"), workload("slow", 1, kind="StatefulSet"), workload("web", 1),
    )  # fmt: skip
    stage = leading(start, {"slow-0": "n2", "web-0": "n3"}, termination_seconds=9.0)
    stage.lead()
    first, second = stage.nominations()
    assert (first, second) == (("web", "n3"), ("slow", "n2"))
    assert (stage.where("web"), stage.where("slow")) == ("n3", "n2")


def test_a_new_pod_that_goes_before_it_is_led_is_followed_by_the_next() -> None:
    """Its place is kept for it meanwhile; the others of the exchange are led all the same."""
    stage = swapping(termination_seconds=lambda item: 9.0 if item.name == "b-0" else 1.0)
    world = stage.world
    world.clock.after(8.99, lambda: [world.delete_pod("default", item.name) for item in stage.new("a")])
    seconds = elapsed(stage, stage.exchange)
    assert (stage.where("a"), stage.where("b"), world.pod("rival-0").node_name) == ("n1", "n0", None)
    assert seconds < 20.0


class Racing(FailingWorld):
    """Right before a new pod of a is nominated for the first time, something happens to it."""

    def __init__(self, start: Cluster, happens: Callable[[World, str], None]) -> None:
        self.happens: Callable[[World, str], None] | None = happens
        super().__init__(start)

    def nominate(self, pod: PodReference, node: str) -> bool:
        """Not in time."""
        if self.happens is not None and pod.name.startswith("a-"):
            happens, self.happens = self.happens, None
            happens(self, pod.name)
        return super().nominate(pod, node)


def test_who_is_gone_at_his_nomination_is_followed_by_the_next() -> None:
    """The other one goes to its place meanwhile, and nobody gets this one's."""

    def deleted(world: World, name: str) -> None:
        world.delete_pod("default", name)
        world.clock.sleep(0.01)

    world = Racing(full_pair(), deleted)
    stage = GatedStage(world, exchange(world.read()))
    seconds = elapsed(stage, stage.exchange)
    assert (stage.where("a"), stage.where("b"), world.pod("rival-0").node_name) == ("n1", "n0", None)
    assert seconds < 10.0


def test_who_is_bound_at_his_nomination_is_waited_for_no_longer() -> None:
    """As where the gate came too late for it: it is where it is."""

    def bound(world: World, name: str) -> None:
        world.put(structs.replace(world.pod(name), scheduling_gates=(), node_name="n2", phase="Running"))

    world = Racing(cluster(*full_pair().nodes, node("n2"), *full_pair().pods, *full_pair().workloads), bound)
    stage = GatedStage(world, exchange(world.read()))
    seconds = elapsed(stage, stage.exchange)
    assert (stage.where("a"), stage.where("b")) == ("n2", "n0")
    assert seconds < 10.0
