"""Drawn lives of daemons that surge, one dying after the other, with users who scale meanwhile; and faults noticed.

Four checkers: never fewer Ready than wanted by our doing, nothing left behind, the user wins, and whoever leads next
has given back what the one before took out.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.daemon.rounds.rounds import RoundRunner
from rescheduler.execution.surge import surge_core
from rescheduler.model.plan.detachment import detachment_of
from tests.builders import pod
from tests.unit.daemon.rounds.test_surges import rounds
from tests.unit.execution.surge.scenes import ReadyWatch, left_behind, shop
from tests.unit.execution.surge.test_surge_at_random import Killed, Mortal, Story, _without_budget, hasty
from tests.unit.execution.worlds import World

SEEDS = range(24)
LIVES = 3
LAST_ROUNDS = 8
ROUND_SECONDS = 60.0


class Reign(Story):
    """Daemons that follow one another, without guardians; the last one lives."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        filler = pod("filler", owner="", node="n1")
        self.world = World(shop(self.replicas, filler, network_policies=()), startup_seconds=self._startups())
        self.watch = ReadyWatch(self.world)
        self.kept: list[str] = []
        self._ledger = SimulatedLedger(self.world.clock)
        if self._random.random() < 0.4:
            self.world.clock.after(self._random.uniform(0.5, 30.0), self._scale, is_background=True)

    def _startups(self) -> Any:
        seconds = [self._startup() for _ in range(40)]
        return lambda item: seconds[sum(map(ord, item.name)) % 40]

    def run(self) -> None:
        """Each but the last dies at some call."""
        for _ in range(LIVES):
            dying = self._leader(Mortal(self.world, self._random.randint(20, 400)))
            with suppress(Killed):
                self._lead(dying, 2)
            self.world.clock.sleep(self._random.uniform(1.0, 20.0))
        self._lead(self._leader(self.world), LAST_ROUNDS)
        self.world.settle(120.0)

    def _leader(self, world: Any) -> RoundRunner:
        return rounds(world, ledger=self._ledger)

    def _lead(self, leader: RoundRunner, count: int) -> None:
        for _ in range(count):
            leader.clear_up(self.world.read())
            seen = self.world._store.pods.values()
            self.kept += [item.name for item in seen if not item.is_terminating and detachment_of(item)]
            leader.run_once()
            self.world.clock.sleep(ROUND_SECONDS)

    def wrong(self) -> list[str]:
        """What the four checkers say."""
        pods = [item for item in self.world._store.pods.values() if item.labels.get("app") == "web"]
        owned = self.world._store.members("rs-web")
        return [
            *(["somebody was missing"] if self.watch.fewest < min(self.replicas, self.wanted) else []),
            *(["something is left behind"] if left_behind(self.world) else []),
            *(["the user does not get what he wants"] if not len(pods) == len(owned) == self.wanted else []),
            *(["a leader leaves pods out"] if self.kept else []),
        ]


def complaints() -> list[str]:
    """Of all reigns, each with its seed; and that there was something to check."""
    found, moved = [], 0
    for seed in SEEDS:
        reign = Reign(seed)
        reign.run()
        found += [f"{seed}: {text}" for text in reign.wrong()]
        moved += len(reign.world.evicted)
    assert moved > len(SEEDS)
    return found


def test_nobody_is_missing_nothing_stays_and_the_user_wins() -> None:
    """Whatever is drawn."""
    assert complaints() == []


def test_a_leader_that_does_not_look_whose_pods_are_out_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would leave them out until the time on them has passed."""
    monkeypatch.setattr("tests.unit.daemon.rounds.test_surges.LEASE", "")
    assert any("a leader leaves pods out" in text for text in complaints())


def test_a_daemon_that_evicts_too_early_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without its own waiting, only a budget would protect, and here is none."""
    monkeypatch.setattr(surge_core, "decide", hasty(surge_core.decide))
    monkeypatch.setattr(World, "evict", _without_budget)
    assert any("somebody was missing" in text for text in complaints())
