"""Drawn surges in the embedded cluster, killed at any call, with users who scale meanwhile; and faults noticed.

Three checkers: never fewer Ready than wanted by our doing, nothing left behind, and the user wins.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.surge import surge_core, surge_moves
from rescheduler.extension_points import ExecutionInterruptedError
from rescheduler.model.objects.annotations import GUIDE_GATE, SURGE
from rescheduler.model.objects.scale_down_order import first_to_go
from rescheduler.model.plan.plan import reference_to
from tests.unit.execution.surge.scenes import ReadyWatch, left_behind, shop, surger, surging
from tests.unit.execution.worlds import World

SEEDS = range(60)


class Killed(BaseException):
    """The process is gone: nothing of it runs any more."""


class Mortal:
    """A world as a process sees it that is killed at one of its calls."""

    def __init__(self, world: World, dies_at: int) -> None:
        self._world = world
        self._left = dies_at

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._world, name)
        if not callable(found):
            return found

        def call(*arguments: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left < 0:
                raise Killed
            return found(*arguments, **named)

        return call


class Story:
    """One drawn run from its beginning to the last thing that follows from it."""

    def __init__(self, seed: int) -> None:
        self._random = random = Random(seed)
        self.replicas = self.wanted = random.randint(1, 4)
        seconds = {name: self._startup() for name in range(40)}
        self.world = World(shop(self.replicas), startup_seconds=lambda pod: seconds[sum(map(ord, pod.name)) % 40])
        self.watch = ReadyWatch(self.world)
        self.scaled_at = float("inf")
        self._dies_at = random.choice([10**9, random.randint(1, 120)])
        if random.random() < 0.4:
            self.world.clock.after(random.uniform(0.5, 15.0), self._scale, is_background=True)

    def _startup(self) -> float | None:
        return self._random.choice([0.5, 3.0, 8.0, 8.0, None])

    def _scale(self) -> None:
        """Somebody wants fewer; his controllers delete those too many."""
        self.wanted = self._random.randint(0, self.replicas - 1)
        self.scaled_at = self.world.clock.now()
        for owner in self.world.read().workloads:
            number = owner.generation + 1
            changed = structs.replace(
                owner, desired_replicas=self.wanted, generation=number, observed_generation=number
            )
            self.world.put(changed)
        pods = self.world._store.members("rs-web")
        for pod in first_to_go(pods, len(pods) - self.wanted, pods, self.scaled_at):
            self.world.delete_pod(pod.namespace, pod.name)

    def run(self) -> None:
        """Move some of the pods; where the process dies, a guardian does what is left."""
        world, names = self.world, [f"web-{number}" for number in range(self.replicas)]
        moved = self._random.sample(names, self._random.randint(1, self.replicas))
        executor = surger(world, within=12.0, settle=1.0, guidance=self._random.choice(["Guide", "Hold"]))
        executor._target = Mortal(world, self._dies_at)  # type: ignore[assignment]
        try:
            executor.carry_out(surging(world.read(), *moved))
        except (Killed, ExecutionInterruptedError):
            self._guard()
        world.settle(120.0)

    def _guard(self) -> None:
        """Give back first, let go second; placeholders go by their deadline."""
        world = self.world
        for pod in world.read().pods:
            if SURGE in pod.annotations:
                world.give_back(reference_to(pod))
        world._gates._owners = frozenset()
        for pod in world.read().pods:
            if GUIDE_GATE in pod.scheduling_gates:
                world.ungate(reference_to(pod))
        world.clock.sleep(90.0)

    def wrong(self) -> list[str]:
        """What the three checkers say."""
        pods = [pod for pod in self.world._store.pods.values() if not pod.is_terminating]
        owned = self.world._store.members("rs-web")
        return [
            *(["somebody was missing"] if self.watch.fewest < min(self.replicas, self.wanted) else []),
            *(["something is left behind"] if left_behind(self.world) else []),
            *(["the user does not get what he wants"] if not len(pods) == len(owned) == self.wanted else []),
        ]


def complaints(seeds: range = SEEDS) -> list[str]:
    """Of all stories, each with its seed."""
    found = []
    for seed in seeds:
        story = Story(seed)
        story.run()
        found += [f"{seed}: {text}" for text in story.wrong()]
    return found


def test_nobody_is_missing_nothing_stays_and_the_user_wins() -> None:
    """Whatever is drawn."""
    assert complaints() == []


def hasty(decide: Callable[..., Any]) -> Callable[..., Any]:
    """Evicts as soon as the replacement has a node."""

    def changed(rules: Any, state: Any, sight: Any, now: float) -> Any:
        state, act = decide(rules, state, sight, now)
        is_bound = sight.new is not None and sight.new.node_name is not None
        return state, surge_core.Evict() if is_bound and act == surge_core.Wait() else act

    return changed


def stubborn(decide: Callable[..., Any]) -> Callable[..., Any]:
    """Does not look at what the owner wants by now."""
    return lambda rules, state, sight, now: decide(rules, state, sight._replace(owners=state.owners), now)


def forgetful(*_: Any) -> None:
    """Gives nothing back."""


def test_a_run_that_evicts_too_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its own waiting, only a budget would protect, and here is none."""
    monkeypatch.setattr(surge_core, "decide", hasty(surge_core.decide))
    monkeypatch.setattr(World, "evict", _without_budget)
    assert any("somebody was missing" in text for text in complaints())


def _without_budget(world: World, pod: Any, _version: str, *, dry_run: bool) -> Any:
    """An Eviction API that asks no budget."""
    for key in list(world._store.budgets):
        world._store.remove_budget(key)
    return super(World, world).evict(pod, "", dry_run=dry_run)


def test_a_run_that_does_not_look_at_its_owner_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on evicting for a workload that was scaled down meanwhile; one that looks never does."""
    assert late_evictions() == 0
    monkeypatch.setattr(surge_core, "decide", stubborn(surge_core.decide))
    assert late_evictions() > 0


def late_evictions() -> int:
    """In how many stories a pod was evicted over a second after its owner was scaled down."""
    number = 0
    for seed in SEEDS:
        story = Story(seed)
        story.run()
        evicted = [write.at for write in story.world.writes if write.resource == "pods/eviction"]
        number += any(at > story.scaled_at + 1.0 for at in evicted)
    return number


def test_a_run_that_gives_nothing_back_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its label and annotation stay."""
    monkeypatch.setattr(surge_moves, "give_back", forgetful)
    assert any("something is left behind" in text for text in complaints())
