"""A daemon is killed at any of its writes: nobody is missing, and whoever leads next brings all to rest and goes on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.model.plan.detachment import detachment_of
from tests.builders import pod
from tests.unit.daemon.rounds.test_surges import rounds
from tests.unit.execution.surge.scenes import ReadyWatch, left_behind, shop
from tests.unit.execution.worlds import World

WRITES: Final = frozenset({
    "hold", "renew", "release", "nominate", "gate_replacements", "ungate", "detach", "give_back", "evict", "record",
    "write",
})  # fmt: skip
PATIENCE_SECONDS: Final = 600.0
MOST_WRITES: Final = 200


class KilledError(BaseException):
    """Nothing of the process runs on."""


class Mortal:
    """What a process reaches the cluster or the ledger by: at one of its writes it dies, before or after that."""

    def __init__(self, thing: Any, life: Life) -> None:
        self._thing = thing
        self._life = life

    def __getattr__(self, name: str) -> Any:
        """Calls of anything that can be called."""
        found = getattr(self._thing, name)
        return self._life.guarding(name, found) if callable(found) else found


class Life:
    """``dies_at``: the number of the write; ``is_after``: that still takes effect."""

    def __init__(self, dies_at: int, *, is_after: bool) -> None:
        self.writes = 0
        self.is_over = False
        self._dies_at = dies_at
        self._is_after = is_after

    def guarding(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        """The same call, if the process still lives."""

        def called(*arguments: Any, **named: Any) -> Any:
            if self.is_over:
                raise KilledError
            self.writes += name in WRITES
            if name not in WRITES or self.writes != self._dies_at:
                return call(*arguments, **named)
            self.is_over = True
            if self._is_after:
                call(*arguments, **named)
            raise KilledError

        return called


def killed(where: World, ledger: SimulatedLedger, life: Life) -> None:
    """A daemon's round that ends so, if it has so many writes."""
    runner = rounds(Mortal(where, life), ledger=Mortal(ledger, life))  # type: ignore[arg-type]
    try:
        runner.run_once()
    except KilledError:
        return
    assert not life.is_over


@pytest.mark.parametrize("replicas", [1, 3])
@pytest.mark.parametrize("is_after", [False, True], ids=["before", "after"])
def test_after_a_death_at_any_write_the_next_leader_brings_all_to_rest(replicas: int, is_after: bool) -> None:
    """At once what is out of its ReplicaSet; then it moves all pods in its own name, and nothing of anybody is left."""
    for number in range(1, MOST_WRITES):
        where = World(shop(replicas, pod("filler", owner="", node="n1"), network_policies=()), startup_seconds=3.0)
        watch, ledger, life = ReadyWatch(where), SimulatedLedger(where.clock), Life(number, is_after=is_after)
        killed(where, ledger, life)
        if not life.is_over:
            assert number > 10, "the round was to write more than that"
            break
        successor = rounds(where, ledger=ledger)
        successor.clear_up(where.read())
        assert not [item.key for item in where.read().pods if not item.is_terminating and detachment_of(item)]
        _until_at_rest(where, successor, replicas)
        assert watch.fewest == replicas, f"killed at write {number}"
    else:
        pytest.fail("the round never ended by itself")


def _until_at_rest(where: World, successor: Any, replicas: int) -> None:
    until = where.clock.monotonic() + PATIENCE_SECONDS

    def shops() -> list[str | None]:
        return [item.node_name for item in where.read().pods if item.labels.get("app") == "web"]

    while shops() != ["n1"] * replicas or left_behind(where):
        assert where.clock.monotonic() < until, (shops(), left_behind(where), successor.run_once().reason)
        where.clock.sleep(15.0)
        successor.run_once()
