"""Windows are judged in true time, and what is on the move at once by the debts that are open."""

from __future__ import annotations

import pytest

from rescheduler.model.plan.plan import Plan, SnapshotSummary
from tests.soak.invariants.in_flight import InFlight
from tests.soak.invariants.rates import Rates, RatesUnderJumps
from tests.soak.invariants.windows import Windows
from tests.soak.trace import PlanEvent
from tests.unit.soak.scenes import a_world
from tests.unit.soak.story import Story

NONE = "rampUp: unlimited, rates: {perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited}"
HOURLY = f"disruption: {{{NONE}, budgets: [{{name: hourly, rate: {{maxEvictions: 2, window: 1h}}}}]}}"


def three(story: Story, apart: float) -> Story:
    """Three evictions, so many seconds apart."""
    for name in ("web-0", "web-1", "web-2"):
        story.send(name)
        story.sleep(apart)
    return story


@pytest.mark.parametrize(("apart", "is_right"), [(1801.0, True), (1790.0, False)])
def test_a_window_slides(apart: float, is_right: bool) -> None:
    """Three evictions may not lie within one hour."""
    assert (three(Story(Rates, policy=HOURLY), apart).found == []) is is_right


def test_a_restart_resets_no_window() -> None:
    """Whoever sends, and however often it was started."""
    story = Story(Rates, policy=HOURLY)
    story.send("web-0")
    story.process("kill").start("p0")
    story.send("web-1")
    story.start("p1")
    story.send("web-2", process="p1")
    assert any("3 evictions of the cluster" in message for message in story.found)


def test_what_was_refused_does_not_count() -> None:
    """Nor what never took effect."""
    story = Story(Rates, policy=HOURLY)
    for name in ("web-0", "web-1"):
        story.send(name, effect="never", answer="BudgetExhausted")
    assert three(story, 3600).found == []


def test_a_late_effect_counts_by_its_send() -> None:
    """Sent first, effective last."""
    story = Story(Rates, policy=HOURLY)
    late = story.send("web-3", effect="later", answer="Failed")
    story.send("web-0")
    story.send("web-1")
    assert story.found == []
    story.take_effect(late)
    assert len(story.found) == 1


def test_groups_have_windows_of_their_own() -> None:
    """Two pods of different nodes do not share a window of one node."""
    policy = f"disruption: {{{NONE}, budgets: [{{per: Node, rate: {{maxEvictions: 1, window: 1h}}}}]}}"
    story = Story(Rates, a_world(5), policy)
    story.send("web-0")
    story.send("web-1")
    assert story.found == []
    story.send("web-4")
    assert any("node n0" in message for message in story.found)


@pytest.mark.parametrize(
    ("rates", "message"),
    [
        ("{perHour: 2, perWorkloadPerHour: unlimited}", "perHour: 3 evictions of the cluster"),
        ("{perDay: 2, perWorkloadPerHour: unlimited}", "perDay: 3 evictions of the cluster"),
        ("{}", "perWorkloadPerHour: 3 evictions of workload"),
    ],
)
def test_rates_bind_by_default_and_as_written(rates: str, message: str) -> None:
    """Whatever else the policy says."""
    story = three(Story(Rates, policy=f"disruption: {{rampUp: unlimited, rates: {rates}}}"), 1)
    assert any(message in found for found in story.found)


def test_the_ramp_up_is_a_rate() -> None:
    """One an hour on the first day, by default."""
    story = Story(Rates)
    story.send("web-0")
    story.send("web-1")
    assert any("rampUp" in message for message in story.found)


@pytest.mark.parametrize(("name", "is_right"), [("web-4", True), ("web-1", False)])
def test_one_step_of_one_plan_may_go_whole(name: str, is_right: bool) -> None:
    """Both pods leave one node; of two nodes they do not belong together."""
    story = Story(Rates, a_world(5))
    moves = (story.move("web-0", "n2"), story.move(name, "n3"))
    plan = Plan(SnapshotSummary(None, 0, 0, 0, "test"), moves=moves)
    story.trace.tell(PlanEvent(story.t, "p0", "real", plan, story.store.snapshot()))
    for sent in ("web-0", name):
        story.send(sent, without=("plan",))
    assert (not any("rampUp" in message for message in story.found)) is is_right


def test_a_step_of_another_plan_does_not_go_beside_it() -> None:
    """The window has to be empty of everything else."""
    story = Story(Rates, a_world(5))
    for name in ("web-0", "web-4"):
        plan = Plan(SnapshotSummary(None, 0, 0, 0, "test"), moves=(story.move(name, "n2"),))
        story.trace.tell(PlanEvent(story.t, "p0", "real", plan, story.store.snapshot()))
        story.send(name, without=("plan",))
    assert any("rampUp" in message for message in story.found)


@pytest.mark.parametrize("jumps", [True, False])
def test_a_jump_of_the_clock_widens_no_window(jumps: bool) -> None:
    """I25 looks at windows in which a clock has jumped."""
    story = Story(RatesUnderJumps, policy=HOURLY)
    if jumps:
        story.process("wall-clock", detail="+3600 s")
    assert bool(three(story, 1).found) is jumps


def test_what_is_on_the_move_is_bounded() -> None:
    """Only pods that the budget covers."""
    policy = "disruption: {budgets: [{name: web, labelSelector: {matchLabels: {app: web}}, maxMoving: 2}]}"
    assert three(Story(InFlight, policy=policy), 1).found == [
        "web: 3 of the cluster on the move; 2 are allowed",
    ]
    assert three(Story(InFlight, policy=policy.replace("app: web", "app: other")), 1).found == []


def test_a_share_of_what_may_move_is_rounded_towards_fewer() -> None:
    """Half of five pods is two."""
    story = Story(InFlight, a_world(5), "disruption: {budgets: [{maxMoving: 50%}]}")
    assert len(three(story, 1).found) == 1


@pytest.mark.parametrize("limit", ["maxEvictions", "maxEvictionsPerNamespace"])
def test_a_plan_keeps_its_limits(limit: str) -> None:
    """Counted over one plan, whatever its waves."""
    assert len(three(Story(InFlight, policy=f"limits: {{{limit}: 2}}"), 1).found) == 1


@pytest.mark.parametrize(
    ("windows", "is_right"),
    [
        ("[{type: Allow, schedule: 0 * * * *, duration: 30m, timeZone: UTC}]", True),
        ("[{type: Allow, schedule: 0 3 * * *, duration: 1h, timeZone: UTC}]", False),
        ("[{type: Freeze, schedule: 0 8 * * *, duration: 1h, timeZone: UTC}]", False),
        ("[{type: Freeze, schedule: 0 8 * * *, duration: 1h, timeZone: Europe/Berlin}]", True),
    ],
)
def test_outside_of_its_windows_nothing_is_moved(windows: str, is_right: bool) -> None:
    """The story begins at 8:00 UTC."""
    story = Story(Windows, policy=f"disruption: {{budgets: [{{windows: {windows}}}]}}")
    story.sleep(60).send("web-0")
    assert (story.found == []) is is_right
    assert story.guard == 1
