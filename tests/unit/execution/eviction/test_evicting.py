"""Every answer of the Eviction API leads to the right next step, and no pod is asked for twice in doubt."""

from __future__ import annotations

import pytest
from msgspec import structs

from rescheduler.execution.eviction.evicting import ATTEMPTS, SHORTEST_BACK_OFF_SECONDS, what_changed
from rescheduler.extension_points import EvictionAnswer
from rescheduler.model.plan.plan import PodReference
from tests.builders import pod, workload
from tests.unit.execution.worlds import AllowAll, World, executor, fragmented, outcomes, plan_of, two_moves

OVERLOADED = EvictionAnswer("TooManyRequests", "please try again later", 1.0)
EXHAUSTED = EvictionAnswer("BudgetExhausted", "the disruption budget web needs 12 healthy pods and has 12")


@pytest.mark.parametrize(
    "answer",
    [
        EXHAUSTED,
        EvictionAnswer("BudgetNotObserved", "still being processed", 10.0),
        EvictionAnswer("TooManyRequests", "please try again later", 1.0),
        EvictionAnswer("WebhookDenied", "not on a Friday"),
    ],
)
@pytest.mark.parametrize("is_dry", [True, False])
def test_a_429_is_tried_again_after_a_long_pause(answer: EvictionAnswer, is_dry: bool) -> None:
    """Whatever the cause, dry or in earnest: at least 30 s of patience, then the plan goes on."""
    start = fragmented()
    world = World(start)
    world.script = [answer] if is_dry else [None, answer]
    began = world.clock.now()
    result = executor(world).carry_out(two_moves(start))
    assert outcomes(result)["big-0"] == ("Landed", "n0")
    assert world.clock.now() - began >= SHORTEST_BACK_OFF_SECONDS


def test_the_servers_own_wish_is_the_least_that_is_waited() -> None:
    """A Retry-After longer than our own pause is honoured."""
    start = fragmented()
    world = World(start)
    world.script = [EvictionAnswer("TooManyRequests", "", 95.0)]
    began = world.clock.now()
    executor(world).carry_out(two_moves(start))
    assert world.clock.now() - began >= 95


def test_a_wish_longer_than_the_plans_time_stops_it_at_once() -> None:
    """Nobody waits for what cannot be waited for."""
    start = fragmented()
    world = World(start)
    world.script = [EvictionAnswer("TooManyRequests", "", 3000.0)]
    began = world.clock.now()
    result = executor(world, timeout=60).carry_out(two_moves(start))
    assert "3000 s" in result.message
    assert world.clock.now() - began < 30
    assert not world.evicted


def test_a_pod_whose_budget_refuses_holds_up_nobody_who_is_of_use_without_it() -> None:
    """The other leaves at once; the first is asked for again in its time. An overloaded server stops both."""
    start = fragmented()
    plan = plan_of(start, [("web-00", "n1", 1), ("web-10", "n2", 1)], objective="SpreadLoad")
    for answer, order in ((EXHAUSTED, ["web-10", "web-00"]), (OVERLOADED, ["web-00", "web-10"])):
        world = World(start)
        world.script = [answer]
        began = world.clock.now()
        result = executor(world).carry_out(plan)
        assert world.evicted == order
        assert {outcomes(result)[name][0] for name in order} == {"Landed"}
        assert world.clock.now() - began >= SHORTEST_BACK_OFF_SECONDS


def test_a_pod_whose_budget_refuses_for_longer_than_the_plan_has_time_is_left_alone() -> None:
    """The others go; it is told why it does not."""
    start = fragmented()
    plan = plan_of(start, [("web-00", "n1", 1), ("web-10", "n2", 1)], objective="SpreadLoad")
    world = World(start)
    world.script = [EvictionAnswer("BudgetExhausted", "no disruption is allowed", 3000.0)]
    result = executor(world, timeout=60).carry_out(plan)
    assert world.evicted == ["web-10"]
    assert outcomes(result)["web-00"] == ("Refused", None)
    assert "3000 s, more than the plan's time allows" in result.message


def test_a_budget_that_stays_exhausted_is_named_after_three_tries() -> None:
    """The server's own words reach the user; nothing was evicted, nothing is left."""
    start = fragmented()
    world = World(start)
    world.script = [EXHAUSTED] * 10
    result = executor(world).carry_out(two_moves(start))
    assert world.asked == [("web-00", True)] * ATTEMPTS
    assert outcomes(result)["web-00"] == ("Refused", None)
    assert "needs 12 healthy pods" in result.message
    assert world.leftovers() == []
    assert not world.evicted


def test_a_webhook_is_told_in_its_own_words() -> None:
    """It is no overloaded API server."""
    start = fragmented()
    world = World(start)
    world.script = [EvictionAnswer("WebhookDenied", "not on a Friday")] * 10
    message = executor(world).carry_out(two_moves(start)).message
    assert "an admission webhook does not let it go now: not on a Friday" in message
    assert "overloaded" not in message


@pytest.mark.parametrize("kind", ["Forbidden", "TwoBudgets", "Gone", "OwnerMoves"])
@pytest.mark.parametrize("is_dry", [True, False])
def test_a_definite_refusal_is_not_repeated(kind: str, is_dry: bool) -> None:
    """The plan stops, and says so."""
    start = fragmented()
    world = World(start)
    answer = EvictionAnswer(kind, "the server's words")
    world.script = [answer] if is_dry else [None, answer]
    result = executor(world).carry_out(two_moves(start))
    assert len(world.asked) == (1 if is_dry else 2)
    assert outcomes(result)["web-00"] == ("Refused", None)
    assert outcomes(result)["web-01"] == ("NotAttempted", None)
    assert "the server's words" in result.message


def test_a_conflict_in_a_dry_run_costs_nothing_and_is_tried_again() -> None:
    """The pod's version moved on between the look and the call."""
    start = fragmented()
    world = World(start)
    world.script = [EvictionAnswer("Conflict", "the object has been modified")]
    result = executor(world).carry_out(two_moves(start))
    assert outcomes(result)["big-0"] == ("Landed", "n0")


def test_a_conflict_in_earnest_stops_the_plan() -> None:
    """The budget may count one disruption too many for two minutes, so nothing more is tried."""
    start = fragmented()
    world = World(start)
    world.script = [None, EvictionAnswer("Conflict", "the object has been modified")]
    result = executor(world).carry_out(two_moves(start))
    assert world.asked == [("web-00", True), ("web-00", False)]
    assert "two minutes" in result.message


def test_a_lost_answer_of_an_eviction_that_took_effect_is_found_out() -> None:
    """The pod is leaving, so the move counts as begun and the plan goes on; nobody asks a second time."""
    start = fragmented()
    world = World(start)

    def lost(reference: PodReference, dry_run: bool) -> EvictionAnswer:
        answer = super(World, world).evict(reference, world.pod(reference.name).resource_version, dry_run=dry_run)
        assert answer.kind == "Accepted"
        return EvictionAnswer("Failed", "connection reset")

    world.script = [None, lost]
    result = executor(world).carry_out(two_moves(start))
    assert outcomes(result)["big-0"] == ("Landed", "n0")
    assert [name for name, is_dry in world.asked if not is_dry] == ["web-00", "web-01"]


def test_a_lost_answer_with_the_pod_still_there_is_unknown_and_ends_the_plan() -> None:
    """It may yet take effect: no second request, and the outcome is not called a refusal."""
    start = fragmented()
    world = World(start)
    world.script = [None, EvictionAnswer("Failed", "504 gateway timeout")]
    result = executor(world).carry_out(two_moves(start))
    assert outcomes(result)["web-00"] == ("Unknown", None)
    assert "may yet take effect" in result.message
    assert world.asked == [("web-00", True), ("web-00", False)]


def test_a_failed_dry_run_is_harmless_and_tried_again() -> None:
    """Nothing can have happened."""
    start = fragmented()
    world = World(start)
    world.script = [EvictionAnswer("Failed", "502")]
    result = executor(world).carry_out(two_moves(start))
    assert outcomes(result)["big-0"] == ("Landed", "n0")


@pytest.mark.parametrize(("seconds", "reads"), [(0.5, 0), (1.2, 1)])
def test_a_pod_is_read_once_more_only_where_a_dry_run_took_long(seconds: float, reads: int) -> None:
    """The look around for its verdict has shown it a moment ago, and its eviction names the version that was seen."""
    start = fragmented()
    world = World(start)
    asked: list[str] = []
    read = world.read_pod
    world.read_pod = lambda namespace, name: asked.append(name) or read(namespace, name)  # type: ignore[func-returns-value,method-assign]
    world.script = [lambda *_: world.clock.sleep(seconds), lambda *_: asked.append("sent")]  # type: ignore[list-item,return-value]
    executor(world, guidance="Predict").carry_out(plan_of(start, [("web-00", "n1", 1)]))
    assert asked[: asked.index("sent")] == ["web-00"] * reads
    assert world.evicted == ["web-00"]


def test_a_pod_that_changes_after_it_was_seen_is_not_evicted() -> None:
    """Its version is another by then, and the API server refuses."""
    start = fragmented()
    world = World(start)

    old = start.pod_by_key["default/web-00"]
    world.put(old)  # from now on it has a version
    world.script = [None, lambda *_: world.put(structs.replace(old, labels={**old.labels, "changed": "yes"}))]
    result = executor(world, guidance="Predict").carry_out(plan_of(start, [("web-00", "n1", 1)]))
    assert not world.evicted
    assert "changed at this very moment" in result.message


def test_a_pod_recreated_right_before_its_eviction_is_left_alone() -> None:
    """The look right before the call sees another uid."""
    start = fragmented()
    world = World(start)

    def swap(_reference: PodReference, _dry_run: bool) -> None:
        world.put(pod("web-01", "1", "1Gi", node="n0", owner="web", uid="another"))

    world.script = [None, swap]
    result = executor(world).carry_out(two_moves(start))
    assert ("web-01", False) not in world.asked
    assert outcomes(result)["web-01"][0] in ("Refused", "NotAttempted")
    assert "another pod of the same name" in result.message


def test_the_gate_is_asked_again_when_the_snapshot_has_grown_old() -> None:
    """After a long back-off the world may be another: the verdict is taken afresh, with what was sent."""
    start = fragmented()
    world = World(start)
    gate = AllowAll()

    def refuse_later(_reference: PodReference, _dry_run: bool) -> EvictionAnswer:
        gate.refused.add("web-01")
        return EXHAUSTED

    world.script = [None, None, refuse_later]
    result = executor(world, gate=gate).carry_out(two_moves(start))
    assert gate.asked[-1] == (["web-01"], ["web-00"])
    assert outcomes(result)["web-01"] == ("Refused", None)
    assert world.evicted == ["web-00"]


def test_an_unready_pod_is_not_what_was_planned_for() -> None:
    """Each kind of change is told in words; an unchanged pod has none."""
    planned = pod("web-0", node="n0")
    assert what_changed(planned, planned) is None
    assert "gone" in (what_changed(None, planned) or "")
    assert "ready" in (what_changed(pod("web-0", node="n0", is_ready=False), planned) or "")
    assert "n1" in (what_changed(pod("web-0", node="n1"), planned) or "")
    assert "way out" in (what_changed(pod("web-0", node="n0", deletion_at=1.0), planned) or "")
    assert "way out" in (what_changed(pod("web-0", node="n0", phase="Failed"), planned) or "")


def test_a_pod_that_vanishes_during_a_long_pause_stops_the_plan() -> None:
    """The snapshot taken after the pause does not hold the next pod any more: said so, nothing crashes."""
    start = fragmented()
    world = World(start)

    def vanish(_reference: PodReference, _dry_run: bool) -> EvictionAnswer:
        world.put(pod("web-01", "1", "1Gi", node="n0", owner="web", uid="another"))
        return EXHAUSTED

    world.script = [vanish]
    result = executor(world).carry_out(two_moves(start))
    assert world.evicted == ["web-00"]
    assert "web-01" in result.message
    assert outcomes(result)["web-01"][0] in ("Refused", "NotAttempted")


@pytest.mark.parametrize(("size", "is_evicted"), [("500m", True), ("1", False)])
def test_room_that_goes_during_a_long_pause_stops_the_plan(size: str, is_evicted: bool) -> None:
    """Somebody else's pod came to the destination: the pod stays where it is, unless both fit."""
    start = fragmented(pod("little-0", "500m", node="n0", owner="little"), workload("little", 1))
    world = World(start)

    def come(_reference: PodReference, _dry_run: bool) -> EvictionAnswer:
        world.put(pod("other-0", size, node="n1", owner="other"))
        return EXHAUSTED

    world.script = [come]
    result = executor(world).carry_out(plan_of(start, [("little-0", "n1", 1)]))
    assert (world.evicted == ["little-0"]) is is_evicted
    assert ("finds no room on n1 any more; plan again" in result.message) is not is_evicted
