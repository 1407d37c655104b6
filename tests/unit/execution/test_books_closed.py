"""Who is stopped, cannot write, or finds the ledger full sends nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.execution.run.executor import LedgerRules
from rescheduler.extension_points import ClusterError, LedgerFullError
from rescheduler.model.daemon.ledger import EntryState, Ledger
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW
from tests.unit.execution.entries import entry, ledger_of
from tests.unit.execution.ledger_worlds import Audit, LossyLedger, run
from tests.unit.execution.worlds import World, fragmented


def test_the_mark_on_the_ledger_stops_at_the_next_eviction_and_at_the_start() -> None:
    """Its reason is told, and nothing is left behind."""
    for when in (0, 3):
        world = World(fragmented())
        ledger = SimulatedLedger(world.clock)

        def mark(_pod: PodReference, _dry_run: bool, ledger: SimulatedLedger = ledger) -> None:
            ledger.stop = "maintenance"

        world.script = [None, None, mark]
        if not when:
            ledger.stop = "maintenance"
        result = run(world, ledger, guidance="Hold")
        assert "stopped by the mark on the ledger: maintenance" in result.message
        assert len(world.evicted) == (1 if when else 0)
        assert world.leftovers() == []


def test_the_kill_switch_is_looked_at_between_the_intent_and_the_request() -> None:
    """What was announced and not sent is closed at once."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    result = run(world, ledger, stopped=lambda: "told to" if ledger.writes >= 2 else None)
    assert "stopped: told to" in result.message
    assert world.evicted == []
    assert [(item.state, item.message) for item in ledger.ledger.entries] == [
        (EntryState.NOT_EVICTED, "not sent: stopped: told to; nothing more is evicted")
    ]


@pytest.mark.parametrize(("room", "evicted"), [(0, 0), (1, 1), (2, 1)])
def test_what_cannot_be_written_on_this_machine_is_not_evicted(room: int, evicted: int) -> None:
    """The disk may be full from the beginning, or become full on the way."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    audit = Audit(room)
    result = run(world, ledger, audit=audit)
    assert "nothing is evicted that cannot be written down here: history: no space left on device" in result.message
    assert len(world.evicted) == evicted
    assert bool(ledger.writes) is bool(room)
    assert all(item.state is not EntryState.INTENDED for item in ledger.ledger.entries)


def test_the_audit_log_has_a_line_before_each_request_and_after_its_answer() -> None:
    """And one with where the pod landed."""
    world = World(fragmented())
    audit = Audit()
    result = run(world, SimulatedLedger(world.clock), audit=audit)
    told = [(line.pod.name, line.state.value, line.landed_on) for line in audit.lines]
    assert told[:4] == [
        ("web-00", "Intended", None), ("web-00", "Open", None), ("web-01", "Intended", None), ("web-01", "Open", None),
    ]  # fmt: skip
    assert told[4:] == [(move.pod.name, "Open", move.landed_on) for move in result.moves]


@pytest.mark.parametrize(
    "losses", [["after"], ["before"], [None, "after"], [None, "before"], [None, "before", "after"]]
)
def test_a_write_whose_answer_is_lost_is_looked_for_in_the_ledger(losses: list[str | None]) -> None:
    """Whether it took effect or not: one entry an eviction, one number a plan."""
    world = World(fragmented())
    ledger = LossyLedger(world.clock, losses)
    assert run(world, ledger).message == ""
    assert world.evicted == ["web-00", "web-01"]
    assert ledger.ledger.plan == 1
    assert [item.number for item in ledger.ledger.entries] == [1, 2]


def test_a_ledger_that_cannot_be_written_lets_nothing_be_sent() -> None:
    """After some tries; the room that was kept is let go."""
    world = World(fragmented())
    result = run(world, LossyLedger(world.clock, ["before"] * 50))
    assert "the answer was lost" in result.message
    assert (world.evicted, world.leftovers()) == ([], [])
    with pytest.raises(ClusterError, match="the answer was lost"):
        run(World(fragmented()), LossyLedger(world.clock, ["before"] * 50), guidance="Predict")


def test_a_pod_whose_eviction_was_accepted_is_not_asked_for_again() -> None:
    """Also where a reader that is behind shows it unharmed."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock, ledger_of(entry("web-00", at=NOW - 5)))
    result = run(world, ledger)
    assert "default/web-00 was sent for eviction by plan 1 already" in result.message
    assert world.evicted == []


def test_others_who_are_always_faster_stop_the_plan() -> None:
    """The tries are bounded."""
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    real = ledger.write

    def write(changed: Ledger, version: str) -> str | None:
        real(structs.replace(ledger.ledger, clean_since=1.0), ledger.version)
        return real(changed, version)

    ledger.write = write  # type: ignore[method-assign, assignment]
    assert "were faster every time" in run(world, ledger).message
    assert world.evicted == []


def test_a_full_ledger_stops_the_plan() -> None:
    """Before anything is evicted, with the ledger's own words."""

    class Full(SimulatedLedger):
        """Has no room for another open eviction."""

        def write(self, ledger: Ledger, version: str) -> str | None:
            """As long as there is none."""
            if ledger.debts:
                raise LedgerFullError("the ledger is full of evictions that count")
            return super().write(ledger, version)

    world = World(fragmented())
    result = run(world, Full(world.clock))
    assert "the ledger is full of evictions that count; nothing more is evicted until then" in result.message
    assert world.evicted == []


def test_only_labels_that_budgets_use_are_written_down() -> None:
    """In the ledger and on this machine: whoever labels a pod cannot fill either of them."""
    cluster = fragmented()
    pods = tuple(
        structs.replace(pod, labels={**pod.labels, **{f"key-{n}": "x" * 63 for n in range(1_000)}})
        for pod in cluster.pods
    )
    world = World(replace(cluster, pods=pods))
    ledger, audit = SimulatedLedger(world.clock), Audit()
    run(world, ledger, audit=audit, rules=LedgerRules(label_keys=frozenset({"app", "tier"})))
    assert world.evicted
    for item in (*ledger.ledger.entries, *audit.lines):
        assert item.label_keys == ("app", "tier")
        assert set(item.labels) <= {"app", "tier"}
