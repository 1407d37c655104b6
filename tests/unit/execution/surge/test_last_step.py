"""The last step of a surge: by what is known now, and never by what was true before a slow answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from rescheduler.model.objects.annotations import SURGE
from rescheduler.model.objects.pod import Pod
from tests.unit.execution.surge.scenes import ReadyWatch, left_behind, shop, surger, surging, told
from tests.unit.execution.surge.test_surge_moves import scale
from tests.unit.execution.worlds import AllowAll, World


class SlowWorld(World):
    """An API server that takes its time for one call, the first after the gate was asked about a pod that is out."""

    def __init__(self, *arguments: Any, seconds: float, meanwhile: Any = None, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.is_due = False
        self._seconds = seconds
        self._meanwhile = meanwhile

    def read_pod(self, namespace: str, name: str) -> Pod | None:
        """Late, where it is due, and then as the pod stood when it was asked for."""
        found = super().read_pod(namespace, name)
        if self.is_due:
            self.is_due = False
            if self._meanwhile is not None:
                self._meanwhile(self)
            self.clock.sleep(self._seconds)
        return found


class Asked(AllowAll):
    """A gate that makes the next look at a pod slow, once, and counts what it is asked of a pod that is out."""

    def __init__(self, world: SlowWorld) -> None:
        super().__init__()
        self.times = 0
        self._world = world

    def permit(self, moves: Any, cluster: Any, *more: Any) -> Any:
        """Permits all."""
        if any(SURGE in item.annotations for item in cluster.pods):
            self.times += 1
            self._world.is_due = self.times == 1
        return super().permit(moves, cluster, *more)


@pytest.mark.parametrize(("seconds", "times"), [(0.5, 1), (25.0, 2)])
def test_the_gate_is_asked_again_after_a_slow_look_at_the_pod(seconds: float, times: int) -> None:
    """No pod goes by a verdict that grew old."""
    world = SlowWorld(shop(), seconds=seconds)
    watch, gate = ReadyWatch(world), Asked(world)
    result = surger(world, gate=gate).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Landed", "n1")}
    assert gate.times == times
    assert watch.fewest == 1


def test_an_owner_who_changes_his_mind_during_a_slow_look_wins() -> None:
    """What he wants is looked for again before the pod goes."""
    world = SlowWorld(shop(2), seconds=8.0, meanwhile=lambda where: scale(where, 1))
    result = surger(world, gate=Asked(world)).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Undone", None)}
    assert "scaled from 2 to 1" in result.message
    assert world.evicted == []
    assert left_behind(world) == []


def test_looks_are_further_apart_where_much_was_asked() -> None:
    """Up to ten requests a second on average, of whomsoever; the surge is done all the same."""
    world = World(shop(), startup_seconds=40.0)
    seen: list[float] = []
    original = world.read_lists

    def look(asked: Any) -> Any:
        seen.append(world.clock.now())
        return original(asked)

    world.read_lists = look  # type: ignore[method-assign]

    def asked() -> int:
        return 500 if any(SURGE in item.annotations for item in world._store.pods.values()) else 0

    result = surger(world, asked=asked).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Landed", "n1")}
    paced = len(seen)
    seen.clear()
    calm = World(shop(), startup_seconds=40.0)
    calm.read_lists, original, world = look, calm.read_lists, calm  # type: ignore[method-assign]
    surger(calm).carry_out(surging(calm.read(), "web-0"))
    assert paced < len(seen) / 2


@pytest.mark.parametrize("guidance", ["Guide", "Hold"])
def test_no_pod_is_taken_out_before_the_minute_has_room_for_it(guidance: str) -> None:
    """Not the first one either: what was asked before the plan counts. It is carried out as planned then."""
    world = World(shop(2), startup_seconds=5.0)
    until = world.clock.monotonic() + 50.0
    began: list[float] = []

    def note(_old: Pod | None, new: Pod | None) -> None:
        if new is not None and SURGE in new.annotations:
            began.append(world.clock.monotonic())

    world._store.on_pod_change(note)

    def asked() -> int:
        return 500 if world.clock.monotonic() < until else 0

    result = surger(world, guidance=guidance, asked=asked).carry_out(surging(world.read(), "web-0", "web-1"))
    assert told(result) == {"web-0": ("Landed", "n1"), "web-1": ("Landed", "n1")}
    assert began[0] >= until
    assert left_behind(world) == []


def test_a_switch_is_heard_long_before_the_last_step() -> None:
    """A pause, or the stop file: the pod is given back while its replacement is still starting."""
    world = World(shop(), startup_seconds=40.0)
    began = world.clock.now()

    def stopped() -> str | None:
        return "paused" if world.clock.now() - began > 10.0 else None

    result = surger(world, stopped=stopped).carry_out(surging(world.read(), "web-0"))
    assert told(result) == {"web-0": ("Undone", None)}
    assert "paused" in result.message
    assert world.clock.now() - began < 14.0
    assert left_behind(world) == []


@pytest.mark.parametrize("guidance", ["Guide", "Hold"])
def test_who_is_out_himself_takes_nobodys_place(guidance: str) -> None:
    """Two of a workload go to each other's nodes, under no budget: neither is the other's replacement."""
    start = shop(2)
    pods = [structs.replace(item, node_name=f"n{number}") for number, item in enumerate(start.pods)]
    world = World(replace(start, pods=tuple(pods), budgets=()), startup_seconds=20.0)
    watch = ReadyWatch(world)
    first, second = surging(world.read(), "web-0").moves[0], surging(world.read(), "web-1", to_node="n0").moves[0]
    plan = structs.replace(surging(world.read(), "web-0"), moves=(first, second))
    result = surger(world, guidance=guidance).carry_out(plan)
    assert {kind for kind, _ in told(result).values()} <= {"Landed", "LandedElsewhere"}
    world.settle()
    assert watch.fewest == 2
    assert left_behind(world) == []


@pytest.mark.parametrize("guidance", ["Guide", "Hold"])
def test_a_replacement_lets_one_pod_go(guidance: str) -> None:
    """The first one's works while the second one's is still starting, and lists tell that one first."""
    start = shop(2)
    world = World(replace(start, budgets=()), startup_seconds=startups(5.0, 40.0))
    watch = ReadyWatch(world)
    original = world.read_lists

    def unready_first(asked: Any) -> Any:
        return [sorted(pods, key=lambda item: item.is_ready) for pods in original(asked)]

    world.read_lists = unready_first  # type: ignore[method-assign]
    result = surger(world, guidance=guidance).carry_out(surging(world.read(), "web-0", "web-1"))
    assert told(result) == {"web-0": ("Landed", "n1"), "web-1": ("Landed", "n1")}
    world.settle()
    assert watch.fewest == 2
    assert left_behind(world) == []


def startups(*seconds: float) -> Callable[[Pod], float]:
    """How long new pods start for, in the order in which they are made."""
    known: dict[str, float] = {}
    return lambda item: known.setdefault(item.uid, seconds[min(len(known), len(seconds) - 1)])
