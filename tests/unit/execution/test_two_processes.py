"""Killed at any call, or overtaken by another process at any call: budgets hold, and nobody is evicted twice."""

from __future__ import annotations

from collections import Counter

import pytest

from rescheduler.adapters.simulated.ledger_object import SimulatedLedger
from rescheduler.model.daemon.ledger import DEBTS
from rescheduler.model.plan.plan import OutcomeKind, Plan, PlanResult
from tests.unit.execution.ledger_worlds import Killed, OneMoving, Process
from tests.unit.execution.worlds import World, fragmented, plan_of, two_moves

OTHERS = [("web-10", "n2", 1), ("web-11", "n3", 2)]


def calls_of_a_whole_run() -> int:
    """How many calls to cluster and ledger an undisturbed run makes."""
    world = World(fragmented())
    process = Process(world, SimulatedLedger(world.clock))
    assert process.apply(two_moves(fragmented()), world) is not None
    return process.calls


CALLS = calls_of_a_whole_run()


def sent(world: World) -> Counter[str]:
    """How often each pod's eviction was accepted, by uid as the pod had it then."""
    return Counter(world.evicted)


@pytest.mark.parametrize("phase", ["before", "after"])
def test_killed_at_any_call_the_next_run_goes_on_and_evicts_nobody_twice(phase: str) -> None:
    """Every eviction was in the ledger before it was sent; in the end the pending pod has its room."""
    plan = two_moves(fragmented())
    for point in range(CALLS):
        world = World(fragmented())
        ledger = SimulatedLedger(world.clock)

        def at_call(number: int, now: str, point: int = point) -> None:
            if (number, now) == (point, phase):
                raise Killed

        first = Process(world, ledger, at_call)
        assert first.apply(plan, world) is None
        known = {entry.pod.name for entry in ledger.ledger.entries}
        assert set(world.evicted) <= known, point
        second = Process(world, ledger).apply(plan, world)
        assert second is not None
        assert max(sent(world).values()) == 1, point
        assert sum(sent(world).values()) <= 2, point
        open_ones = [entry.pod.name for entry in ledger.ledger.entries if entry.state in DEBTS]
        assert set(open_ones) <= set(world.evicted), point


def test_an_eviction_that_may_have_been_sent_is_not_asked_again_for_ninety_seconds() -> None:
    """Killed right before the request: the pod stands, and nobody can know that it was not evicted."""
    plan = two_moves(fragmented())
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    requests: list[tuple[float, str]] = []

    def die(pod: object, dry_run: bool) -> None:
        if not dry_run:
            raise Killed

    world.script = [None, die]
    process = Process(world, ledger)
    assert process.apply(plan, world) is None
    killed_at = world.clock.monotonic()
    real = world.evict

    def evict(pod, resource_version, *, dry_run):  # type: ignore[no-untyped-def]
        requests.append((world.clock.monotonic(), pod.name))
        return real(pod, resource_version, dry_run=dry_run)

    world.evict = evict  # type: ignore[method-assign]
    result = Process(world, ledger).apply(plan, world)
    assert result is not None
    assert result.message == ""
    assert min(at for at, _ in requests) - killed_at > 90


def test_one_that_has_no_time_to_wait_stops() -> None:
    """And says so, with nothing sent."""
    plan = two_moves(fragmented())
    world = World(fragmented())
    ledger = SimulatedLedger(world.clock)
    world.script = [None, lambda _pod, _dry: (_ for _ in ()).throw(Killed())]
    assert Process(world, ledger).apply(plan, world) is None
    result = Process(world, ledger).apply(plan, world, timeout=20.0)
    assert result is not None
    assert "was not through after 20 s" in result.message
    assert world.evicted == []


@pytest.mark.parametrize("is_slow", [False, True], ids=["quick pods", "pods that are never ready"])
@pytest.mark.parametrize("guidance", ["Hold", "Predict"])
def test_overtaken_at_any_call_two_processes_together_keep_the_budget(guidance: str, is_slow: bool) -> None:
    """The second one runs from beginning to end between two calls of the first: at most one pod is ever under way."""
    phase = "before"
    for point in range(CALLS):
        world = World(fragmented(), startup_seconds=None if is_slow else 1.0)
        ledger = SimulatedLedger(world.clock)
        most = _watch(world, ledger)
        others = plan_of(fragmented(), OTHERS)
        results: list[PlanResult | None] = []

        def at_call(number: int, now: str, point: int = point) -> None:
            if (number, now) == (point, phase):
                process = Process(world, ledger)  # noqa: B023 - called within this round
                results.append(  # noqa: B023
                    process.apply(others, world, gate=OneMoving(1), guidance=guidance, timeout=90.0)  # noqa: B023
                )

        gate = OneMoving(1)
        start = fragmented()
        plan = plan_of(start, [("web-00", "n1", 1), ("web-01", "n2", 2)], [("big-0", "n0", 2)])
        Process(world, ledger, at_call).apply(plan, world, gate=gate, guidance=guidance)
        assert max(sent(world).values(), default=0) <= 1, point
        assert max(most, default=0) <= 1, point
        assert set(world.evicted) <= {entry.pod.name for entry in ledger.ledger.entries}, point
        numbers = [entry.number for entry in ledger.ledger.entries]
        assert numbers == sorted(set(numbers)), point


@pytest.mark.parametrize("guidance", ["Hold", "Predict"])
def test_what_another_run_of_the_plan_has_sent_before_our_number_is_done(guidance: str) -> None:
    """It sends one pod between our proof and our number and gets no further: we do the rest, and the plan is done."""
    plan = two_moves(fragmented())
    met = 0
    for point in range(CALLS):
        world = World(fragmented())
        ledger = SimulatedLedger(world.clock)

        def at_call(number: int, now: str, point: int = point) -> None:
            if (number, now) == (point, "before") and ledger.ledger.plan == 0:  # noqa: B023 - called within this round
                _sends_one_and_stops(plan, world, ledger, guidance)  # noqa: B023

        result = Process(world, ledger, at_call).apply(plan, world, guidance=guidance)
        assert result is not None
        if ledger.ledger.plan != 2 or "its placeholder is gone" in result.message:
            continue  # the other one waits for our placeholders, and so long were we paused that they went
        met += 1
        told = (point, result.message, [(move.pod.name, move.outcome, move.message) for move in result.moves])
        assert sorted(world.evicted) == ["web-00", "web-01"], told
        landed = {OutcomeKind.LANDED} if guidance == "Hold" else {OutcomeKind.LANDED, OutcomeKind.LANDED_ELSEWHERE}
        assert {move.outcome for move in result.moves} <= landed, told
    assert met > 3


def _sends_one_and_stops(plan: Plan, world: World, ledger: SimulatedLedger, guidance: str) -> None:
    """Another run of the plan is told to end after its first eviction, and leaves nothing but what it wrote down."""
    before = len(world.evicted)
    Process(world, ledger).apply(
        plan, world, guidance=guidance, stopped=lambda: "told to" if len(world.evicted) > before else None
    )
    assert len(world.evicted) == before + 1


def _watch(world: World, ledger: SimulatedLedger) -> list[int]:
    """How many pods of the workload were missing or not ready right after each accepted eviction."""
    found: list[int] = []
    real = world.evict

    def evict(pod, resource_version, *, dry_run):  # type: ignore[no-untyped-def]
        answer = real(pod, resource_version, dry_run=dry_run)
        if not dry_run and answer.kind == "Accepted":
            standing = [
                item
                for item in world.read_pods("default", None)
                if item.name.startswith("web-") and item.is_ready and not item.is_terminating
            ]
            found.append(12 - len(standing))
        return answer

    world.evict = evict  # type: ignore[method-assign]
    return found
