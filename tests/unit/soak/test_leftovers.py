"""What is left behind, what is touched that is not ours, and pods that have no place when a plan stops."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from rescheduler.model.objects.constraints import Taint
from tests.builders import pod
from tests.soak.invariants.leftovers import Leftovers
from tests.soak.invariants.prefixes import PrefixSafety
from tests.soak.trace import Effect, RoundEvent
from tests.unit.soak.scenes import a_world
from tests.unit.soak.story import Story


def test_what_is_left_behind_is_found() -> None:
    """A gated pod five minutes and a deadline after the last process died, and at the end."""
    story = Story(Leftovers).come("web-9", None, scheduling_gates=("rescheduler.dev/guide",))
    story.sleep(3600).read().process("kill").sleep(300).happen("x")
    assert story.found == []
    story.sleep(70).happen("x")
    assert len(story.found) == 1
    assert len(story.end()) == 2


@pytest.mark.parametrize(
    ("fields", "is_right"),
    [
        ({"taints": (Taint("rescheduler.dev/leaving", "", "NoSchedule"),)}, True),
        ({"taints": (Taint("other", "", "NoSchedule"),)}, False),
        ({"is_unschedulable": True}, False),
    ],
    ids=str,
)
def test_of_nodes_we_write_our_own_taint_alone(fields: dict[str, Any], is_right: bool) -> None:
    """Everything else of the node is somebody else's."""
    story = Story(Leftovers)
    request = story.ask("patch", "nodes", body=("n0",))
    story.node("n0", **fields)
    story.trace.tell(Effect(story.t, request))
    assert (story.found == []) is is_right


def test_placeholders_name_plan_and_deadline() -> None:
    """Else nobody could tell whose they are, nor would they end."""
    story = Story(Leftovers)
    story.ask("create", "jobs", body=(SimpleNamespace(name="a", plan_id="p", deadline_seconds=60),))
    assert story.found == []
    story.ask("create", "jobs", body=(SimpleNamespace(name="b", plan_id="p", deadline_seconds=0),))
    assert len(story.found) == 1


def after_a_round(story: Story, *, result: object = "stopped") -> list[str]:
    """A plan ends."""
    story.trace.tell(RoundEvent(story.t, "p0", result, "stopped"))  # type: ignore[arg-type]
    return story.found


def test_a_pod_without_any_place_is_found() -> None:
    """Its room was taken by nobody but our own doing."""
    full = [pod(f"big-{number}", "3", node=f"n{number}", owner="big") for number in range(4)]
    story = Story(PrefixSafety, a_world(4, 4, *full)).sleep(60)
    story.send("big-0", "n1")
    story.come("big-9", None, owner="big").set_pod("big-9", spec=pod("x", "3").spec)
    assert len(after_a_round(story)) == 1
    assert after_a_round(Story(PrefixSafety)) == []


def test_room_that_others_took_is_no_reproach() -> None:
    """Somebody else's pod came meanwhile."""
    full = [pod(f"big-{number}", "3", node=f"n{number}", owner="big") for number in range(4)]
    story = Story(PrefixSafety, a_world(4, 4, *full)).sleep(60)
    story.send("big-0", "n1")
    story.come("big-9", None, owner="big").set_pod("big-9", spec=pod("x", "3").spec).come("x-0", "n0", owner="x")
    assert after_a_round(story) == []


@pytest.mark.parametrize("evicted", [("big-0",), ("big-0", "big-1")])
def test_a_pod_that_a_scaling_asked_for_is_no_replacement(evicted: tuple[str, ...]) -> None:
    """Where as many came and found a node as were evicted, who waits is nobody's replacement; else it is one's."""
    full = [pod(f"big-{number}", "3", node=f"n{number}", owner="big") for number in range(4)]
    story = Story(PrefixSafety, a_world(4, 4, *full)).sleep(60)
    for name in evicted:
        story.send(name, "n1")
        story.sleep(10)
    story.come("big-8", "n1", owner="big").come("big-9", None, owner="big").set_pod("big-9", spec=pod("x", "3").spec)
    assert len(after_a_round(story)) == len(evicted) - 1
