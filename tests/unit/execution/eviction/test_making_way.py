"""Room that is opened for one replacement, and kept again: whose placeholder stands back for whom."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.eviction.making_way import Way, can_preempt
from rescheduler.execution.guidance.hold_maker import HeldRoom
from rescheduler.execution.guidance.holds import Holds
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import PodReference, reference_to
from tests.builders import cluster, node, pod
from tests.unit.execution.guidance.keepers import Noting, hold
from tests.unit.execution.worlds import plan_of

GUEST = pod("guest-0", "2", node="n1")
START = cluster(node("n0", "4"), node("n1", "4"), GUEST)
[MOVE] = plan_of(START, [("guest-0", "n0", 1)]).moves
OTHER = hold(PodReference("default", "big-0", "uid-big"), "other", cpu=3000)
SMALL = hold(PodReference("default", "little-0", "uid-little"), "small", cpu=1000)
OWN = hold(reference_to(GUEST), "own", cpu=2000)


class Scene:
    """The way of a pod that needs two of four CPUs, past these placeholders."""

    def __init__(self, *holds: HeldRoom) -> None:
        self.target: Any = Noting()
        self.holds = Holds(self.target, self.target.clock)
        self.holds.set(holds)
        self.way = Way(self.holds)

    def open(self, seen: Cluster = START, guest: Any = GUEST) -> None:
        """For the guest."""
        self.target.did.clear()
        self.way.open(MOVE, guest, seen)

    @property
    def standing(self) -> list[str]:
        """Names of placeholders."""
        return sorted(found.request.name for found in self.holds.on(["n0", "n1"]))


def made_by_plan(found: HeldRoom, is_made: bool) -> HeldRoom:
    """Room that the plan makes, or that was there."""
    return found._replace(is_made_by_plan=is_made)


def test_only_what_leaves_no_room_stands_back() -> None:
    """And is kept again once the pod is where it belongs, or does not start after all."""
    scene = Scene(OTHER)
    scene.open()
    assert (scene.standing, scene.way.is_open_to_others) == ([], True)
    scene.way.close()
    assert (scene.standing, scene.way.is_open_to_others) == (["other"], False)
    scene.target.did.clear()
    scene.way.close()
    scene.way.shut_again()
    assert scene.target.did == [], "once"
    scene = Scene(SMALL)
    scene.open()
    assert (scene.standing, scene.way.is_open_to_others) == (["small"], False)


@pytest.mark.parametrize(("is_made", "stands"), [(False, False), (True, True)])
def test_a_pods_own_room_opens_unless_the_plan_has_yet_to_make_it(is_made: bool, stands: bool) -> None:
    """Kept closed by its own placeholder it would go elsewhere; made room others would take."""
    scene = Scene(made_by_plan(OWN, is_made))
    scene.open()
    assert scene.standing == (["own"] if stands else [])
    assert not scene.way.is_open_to_others
    scene.way.shut_again()
    assert scene.standing == ["own"]


def test_its_own_room_stays_open_once_it_has_started() -> None:
    """Others' room is kept again; where it does not start all is."""
    scene = Scene(OTHER, made_by_plan(OWN, False))
    scene.open()
    assert scene.standing == []
    scene.way.close()
    assert scene.standing == ["other"]
    scene.way.shut_again()
    assert scene.standing == ["other", "own"]
    scene.target.did.clear()
    scene.way.shut_again()
    assert scene.target.did == []


def test_a_pod_that_would_throw_others_out_finds_even_made_room_open() -> None:
    """Kept out of it, it would do so elsewhere."""
    high = structs.replace(GUEST, spec=structs.replace(GUEST.spec, priority=10))
    seen = cluster(node("n0", "4"), node("n1", "4"), high, pod("low-0", "1", node="n1"))
    scene = Scene(OWN)
    scene.open(seen, high)
    assert scene.standing == []


@pytest.mark.parametrize(
    ("fields", "other", "can"),
    [
        ({"priority": 10}, {"node": "n0", "priority": 9}, True),
        ({"priority": 10}, {"node": "n0", "priority": 10}, False),
        ({"priority": 10}, {"node": "n0", "priority": 11}, False),
        ({"priority": 10, "preemption_policy": "Never"}, {"node": "n0", "priority": 9}, False),
        ({"priority": 10}, {"priority": 9}, False),
        ({"priority": 10}, {"node": "n0", "priority": 9, "phase": "Succeeded"}, False),
    ],
    ids=["lower", "as high", "higher", "never", "not running", "finished"],
)
def test_only_running_pods_of_a_lower_priority_can_be_thrown_out(
    fields: dict[str, Any], other: dict[str, Any], can: bool
) -> None:
    """By whoever may."""
    guest = pod("guest-0", "1", **fields)
    assert can_preempt(guest, cluster(node("n0"), guest, pod("other-0", "1", **other))) is can
