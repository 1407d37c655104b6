"""What can be used of what the policy asks for: what cannot is told, or stops a plan that rests on it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from rescheduler.execution.guidance.guidance_support import (
    PLACEHOLDERS,
    GuidanceSupport,
    usable_guidance,
    with_gates,
)
from rescheduler.execution.landing.outcomes import Outcomes
from rescheduler.execution.stopping import PlanStoppedError
from rescheduler.model.plan.plan import Plan
from tests.unit.execution.guidance.keepers import Noting
from tests.unit.execution.worlds import fragmented, plan_of

START = fragmented()
MAKES_ROOM = plan_of(START, [("web-00", "n1", 1)], [("big-0", "n0", 1)])
SPREADS = plan_of(START, [("web-00", "n1", 1)], objective="SpreadLoad")
GUIDED = plan_of(START, [("web-00", "n1", 1)], objective="SpreadLoad", guided=["web-00"])
EMPTIES = plan_of(START, [("web-00", "n1", 1)], objective="EmptyNodes")
NOTHING = plan_of(START, [], [("big-0", "n0", 0)])
HOLDS = GuidanceSupport(has_placeholders=True)


def asked(guidance: str, plan: Plan, **unable: str) -> tuple[GuidanceSupport, str]:
    """What can be used, and what is told."""
    target: Any = Noting()
    target.unable = unable
    outcomes = Outcomes(plan)
    found = usable_guidance(guidance, plan, plan, target, outcomes)
    return found, "; ".join(outcomes.warnings)


@pytest.mark.parametrize(
    ("guidance", "plan", "support"),
    [
        ("Predict", MAKES_ROOM, GuidanceSupport()),
        ("Hold", NOTHING, GuidanceSupport()),
        ("Taint", NOTHING, GuidanceSupport()),
        ("Hold", MAKES_ROOM, HOLDS),
        ("Guide", MAKES_ROOM, HOLDS),
        ("Taint", MAKES_ROOM, GuidanceSupport(has_placeholders=True, has_taints=True)),
        ("Taint", EMPTIES, GuidanceSupport(has_placeholders=True, has_taints=True)),
    ],
)
def test_where_all_can_be_had_it_is_used_without_a_word(guidance: str, plan: Plan, support: GuidanceSupport) -> None:
    """A plan that moves nobody needs none of it."""
    assert asked(guidance, plan) == (support, "")
    assert support.is_any is (support.has_placeholders or support.has_taints)
    assert PLACEHOLDERS == HOLDS


def test_predict_asks_for_nothing() -> None:
    """It does not matter what could not be had."""
    assert asked("Predict", EMPTIES, hold="none", taint="none", gate="none") == (GuidanceSupport(), "")


def test_without_taints_placeholders_close_nodes() -> None:
    """Only whoever asks for taints is told."""
    support, said = asked("Taint", EMPTIES, taint="no leave")
    assert support == HOLDS
    assert said.startswith("nodes cannot be tainted here (no leave): carried out as with guidance: Hold")
    assert asked("Hold", EMPTIES, taint="no leave") == (HOLDS, "")


def test_without_placeholders_nobody_keeps_room() -> None:
    """It goes on as a prediction, and says so."""
    support, said = asked("Hold", MAKES_ROOM, hold="no leave")
    assert support == GuidanceSupport()
    assert said.startswith("placeholders cannot be used here (no leave): carried out as with guidance: Predict")


@pytest.mark.parametrize("guidance", ["Hold", "Guide", "Taint"])
def test_nodes_that_nothing_keeps_empty_are_not_emptied(guidance: str) -> None:
    """The scheduler would fill them again."""
    with pytest.raises(PlanStoppedError, match=r"nodes cannot be kept empty here.*\(no leave\)"):
        asked(guidance, EMPTIES, hold="no leave", taint="none")


@pytest.mark.parametrize(("plan", "is_told"), [(MAKES_ROOM, True), (GUIDED, True), (SPREADS, False), (EMPTIES, False)])
def test_taints_alone_keep_nodes_closed_and_no_room(plan: Plan, is_told: bool) -> None:
    """That is told where the plan rests on room."""
    support, said = asked("Taint", plan, hold="no leave")
    assert support == GuidanceSupport(has_taints=True)
    assert said.startswith("placeholders cannot be used here (no leave): taints close") is is_told
    assert bool(said) is is_told


def test_a_pod_that_fits_already_rests_on_no_room_that_is_made() -> None:
    """Its placement is of wave 0."""
    plan = plan_of(START, [("web-00", "n1", 1)], [("big-0", "n0", 0)])
    assert asked("Taint", plan, hold="no leave")[1] == ""


def gated(guidance: str, plan: Plan, support: GuidanceSupport = HOLDS, **unable: str) -> tuple[GuidanceSupport, str]:
    """With the gate, as far as it can be had."""
    target: Any = Noting()
    target.unable = unable
    outcomes = Outcomes(plan)
    return with_gates(support, guidance, plan, target, outcomes), "; ".join(outcomes.warnings)


WITH_GATES = HOLDS._replace(has_gates=True)
EXCHANGE = structs.replace(GUIDED, moves=tuple(structs.replace(move, evict_first=True) for move in GUIDED.moves))


@pytest.mark.parametrize("plan", [GUIDED, EXCHANGE])
def test_a_gate_is_used_where_the_policy_asks_for_it(plan: Plan) -> None:
    """Without a word."""
    assert gated("Guide", plan) == (WITH_GATES, "")


def test_whoever_does_not_ask_for_a_gate_has_none() -> None:
    """And is told nothing; nor is a plan that moves nobody."""
    assert gated("Hold", GUIDED) == (HOLDS, "")
    assert gated("Guide", NOTHING, gate="not installed") == (HOLDS, "")
    assert gated("Guide", NOTHING) == (HOLDS, "")


def test_where_no_pod_can_be_gated_it_is_told() -> None:
    """Unless placeholders are missing too: that was told already."""
    support, said = gated("Guide", GUIDED, gate="not installed")
    assert support == HOLDS
    assert said.startswith("replacements cannot be held at a gate here (not installed): carried out as with")
    assert gated("Guide", GUIDED, GuidanceSupport(has_taints=True)) == (GuidanceSupport(has_taints=True), "")


@pytest.mark.parametrize(
    ("guidance", "support", "unable", "why"),
    [
        ("Hold", HOLDS, {}, "the policy has guidance: Hold"),
        ("Guide", HOLDS, {"gate": "not installed"}, "not installed"),
        ("Guide", GuidanceSupport(), {}, "placeholders, which it needs besides, cannot be used here"),
    ],
)
def test_pods_that_leave_first_do_not_go_without_a_gate(
    guidance: str, support: GuidanceSupport, unable: dict[str, str], why: str
) -> None:
    """Their successors would go anywhere."""
    with pytest.raises(PlanStoppedError, match=f"default/web-00 are to leave before they arrive.*{why}"):
        gated(guidance, EXCHANGE, support, **unable)
