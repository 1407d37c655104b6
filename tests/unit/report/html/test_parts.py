"""Objectives, price, fullness, lists, and nodes that stay as they are."""

from __future__ import annotations

import pytest

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import ObjectiveResult, OutcomeKind, Plan, PlannedPlacement, Refusal, Status
from rescheduler.report.html.cost_by_owner import cost_by_owner, tiles
from rescheduler.report.html.fullness import fullness
from rescheduler.report.html.lists import moves, placements, refusals, warnings
from rescheduler.report.html.objectives import objectives
from rescheduler.report.html.untouched import MOST_WITH_BARS, untouched
from rescheduler.report.plan.nodes import SHOWN_FIRST, NodeUse, uses_of
from rescheduler.report.plan.price import price_of
from tests.builders import cluster, node, pod
from tests.unit.report.html.drawn import drawn
from tests.unit.report.html.parsed import Page
from tests.unit.report.large_plans import carried_out, emptying, spreading
from tests.unit.report.plans import objective, reference, small_cluster, small_plan, small_result


def all_uses(plan: Plan, found: Cluster) -> tuple[NodeUse, ...]:
    """Every node of a cluster, with what a plan changes."""
    return uses_of(plan, found, and_others=len(found.nodes))


@pytest.mark.parametrize(
    ("value", "bound", "width"),
    [(12, 16, "75%"), (16, 12, "75%"), (3, 3, "100%"), (0, 0, "100%"), (3, 0, "0%"), (0, 4, "0%"), (-2, 4, "0%")],
)
def test_a_bar_shows_how_near_the_bound_an_objective_came(value: float, bound: float, width: str) -> None:
    """Full where no plan does better, whichever side is better."""
    answer = ObjectiveResult("EmptyNodes", Status.FEASIBLE, value, bound, 0.25, "nodes", 1.0)
    assert f'<i style="width:{width}">' in drawn("objectives", objectives(small_plan(objectives=(answer,))))


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.UNKNOWN])
def test_where_not_all_was_reached_there_is_no_full_bar(status: Status) -> None:
    """A value that meets its bound is no success where it is proven that not all can be helped, or nothing is known."""
    answer = ObjectiveResult("MakeRoom", status, 0, 0, 0.0, "evictions", 1.0, message="nobody", helped=0, wanted=2)
    page = Page(drawn("objectives", objectives(small_plan(objectives=(answer,)))))
    assert page.of_class("near") == 0
    assert status.value in page.text


@pytest.mark.parametrize(("value", "bound"), [(None, 3), (3, None), (float("inf"), 1), (1, float("nan"))])
def test_without_value_or_bound_there_is_no_bar(value: float | None, bound: float | None) -> None:
    """Nothing is made up."""
    answer = ObjectiveResult("EmptyNodes", Status.UNKNOWN, value, bound, None, "nodes", 1.0, message="no time")
    page = Page(drawn("objectives", objectives(small_plan(objectives=(answer,)))))
    assert page.of_class("near") == 0
    assert "no time" in page.text


def test_a_certificate_can_be_read() -> None:
    """As indented data, folded away."""
    answer = objective(status=Status.INFEASIBLE, certificate={"addNodes": {"count": 2, "shape": {"cpu": "16"}}})
    page = Page(drawn("objectives", objectives(small_plan(objectives=(answer,)))))
    assert "Certificate" in page.text
    assert '"count": 2' in page.text


def test_the_price_is_told_in_large_figures() -> None:
    """Evictions, waves, nodes, pods."""
    found, plan = emptying()
    text = Page(drawn("tiles", tiles(plan, price_of(plan, found)))).text
    assert text.startswith("36 evictions 5 waves 12 nodes emptied")
    assert "node-00000, node-00001" in text
    small = drawn("tiles", tiles(small_plan(), price_of(small_plan())))
    assert "1 eviction 1 wave 1 of 1 pending pod gets a place" in Page(small).text


def test_a_result_counts_what_happened() -> None:
    """By outcome."""
    found, plan = emptying()
    result = carried_out(plan, [OutcomeKind.LANDED, OutcomeKind.REFUSED])
    text = Page(drawn("tiles", tiles(result, price_of(result, found)))).text
    assert text.startswith("18 evictions")
    assert "Outcome of moves: 18 Landed, 18 Refused" in text


def test_who_pays_is_told_by_objective_namespace_and_workload() -> None:
    """The largest first, the rest counted."""
    found, plan = spreading()
    text = Page(drawn("cost_by_owner", cost_by_owner(price_of(plan, found)))).text
    assert "By objective FaultDomains 30 SpreadLoad 270 By namespace" in text
    assert "By workload ReplicaSet team-" in text
    assert cost_by_owner(price_of(small_plan(), small_cluster())) == []


def test_how_full_nodes_are_is_counted_by_tenths() -> None:
    """24 nodes at 1.5 of 8 cores; then 12 are empty and 12 hold 3 of 8."""
    found, plan = emptying()
    text = Page(drawn("fullness", fullness(all_uses(plan, found)))).text
    assert (
        "cpu requested of the node nodes before nodes after 0 to 10% 0 12 10 to 20% 24 0 20 to 30% 0 0 30 to 40% 0 12"
        in text
    )
    assert "more than 100%" not in text
    assert fullness(all_uses(small_plan(), small_cluster())) == []


def test_full_nodes_are_not_more_than_full() -> None:
    """100% is in the last tenth, 101% has a line of its own."""
    nodes = [node(f"n{at}", "4") for at in range(20)]
    found = cluster(*nodes, pod("a", "4", node="n0"), pod("b", "5", node="n1"), pod("web-1", node="n1"))
    text = Page(drawn("fullness", fullness(all_uses(small_plan(placements=()), found)))).text
    assert "90 to 100% 1 1 more than 100% 1 1" in text


def test_long_lists_are_folded_and_end_with_what_is_left_out() -> None:
    """Short ones are open."""
    _, plan = emptying(1000, 900, 4)
    found = Page(drawn("listing", moves(plan)))
    assert "open" not in found.attributes[0]
    assert "and 600 more moves; -o json lists each of them" in found.text
    assert "open" in Page(drawn("listing", moves(small_plan()))).attributes[0]
    many = small_plan(placements=tuple(PlannedPlacement(reference(f"p{at}"), "n1", at) for at in range(100)))
    assert "open" not in Page(drawn("listing", placements(many))).attributes[0]
    assert "already" in Page(drawn("listing", placements(many))).text
    assert "and 5 more warnings" in Page(drawn("warnings", warnings(["w"] * 205))).text


def test_a_move_that_needs_guidance_says_so() -> None:
    """Beside its reason."""
    _, plan = spreading()
    assert Page(drawn("listing", moves(plan))).text.count("(needs guidance)") == 8


def test_outcomes_stand_beside_moves_and_placements() -> None:
    """Of a result."""
    result = small_result(OutcomeKind.REFUSED)
    assert "Refused on n2" in Page(drawn("listing", moves(result))).text
    assert "Landed on n1" in Page(drawn("listing", placements(result))).text


def test_refusals_are_grouped_by_rule() -> None:
    """With their number; of very many the first ones, and of very many rules too."""
    found = [Refusal("DaemonSet", "m", pod=reference(f"p{at}")) for at in range(201)] + [Refusal("Plan", "n")]
    text = Page(drawn("refusals", refusals(found))).text
    assert "DaemonSet (201)" in text
    assert "and 1 more refusals" in text
    assert "Plan (1) What Why the plan n" in text
    assert "and 20 more rules" in Page(drawn("refusals", refusals([Refusal(f"r{at}", "m") for at in range(120)]))).text


def test_nodes_that_stay_as_they_are_are_all_named_and_the_first_ones_drawn() -> None:
    """And folded away where others change."""
    found, plan = emptying(1000, 10, 1)
    nothing = small_plan(moves=(), placements=())
    page = Page(drawn("untouched", untouched(all_uses(nothing, found))))
    assert all(node.name in page.text for node in found.nodes)
    assert page.of_class("other") == 1000
    assert page.of_class("t") == MOST_WITH_BARS * len(SHOWN_FIRST)
    assert "more nodes" not in page.text
    assert "open" not in Page(drawn("untouched", untouched(all_uses(plan, found)))).attributes[0]
    assert untouched(all_uses(small_plan(), small_cluster())) is None


def test_pending_pods_are_counted_only_where_they_were_asked_about() -> None:
    """An objective that does not help them says nothing of them."""
    none_placed = small_plan(placements=(), moves=())
    assert "0 of 1 pending pod gets a place" in Page(drawn("tiles", tiles(none_placed, price_of(none_placed)))).text
    other = small_plan(
        placements=(), objectives=(ObjectiveResult("EmptyNodes", Status.OPTIMAL, 1, 1, 0.0, "nodes", 1.0),)
    )
    assert "pending" not in Page(drawn("tiles", tiles(other, price_of(other)))).text
