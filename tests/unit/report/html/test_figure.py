"""Bars and arrows of one figure."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.report.html.bars import Bar, bars_after, bars_before
from rescheduler.report.html.figure import MOST_ARROWS, Look, arrows, figure
from rescheduler.report.plan.flows import Flow, flows_of
from rescheduler.report.plan.nodes import NodeUse, uses_of
from tests.builders import cluster, node, pod
from tests.unit.report.html.drawn import drawn
from tests.unit.report.html.parsed import Page
from tests.unit.report.plans import reference, small_cluster, small_plan

WIDTHS = re.compile(r"width:([\d.e-]+)%")


def small_uses() -> dict[str, NodeUse]:
    """The two nodes of the small plan."""
    return {use.node.name: use for use in uses_of(small_plan(), small_cluster())}


def _pieces(bars: list[Bar]) -> list[tuple[str, str]]:
    """Classes and widths of what is drawn."""
    return re.findall(r'<i class="(\w)" style="width:([\d.]+)%"></i>', drawn("bars", bars))


def test_a_bar_has_a_part_for_what_stays_leaves_arrives_and_was_pending() -> None:
    """Of 4 cores: 1 stays on n1, 1 leaves it and 3 were pending; 3 stay on n2 and 1 arrives."""
    n1, n2 = small_uses()["n1"], small_uses()["n2"]
    assert '<i class="s" style="width:25%"></i><i class="o" style="width:25%"></i>' in drawn(
        "bars", bars_before(n1, ["cpu"])
    )
    assert '<i class="s" style="width:25%"></i><i class="p" style="width:75%"></i>' in drawn(
        "bars", bars_after(n1, ["cpu"])
    )
    assert '<i class="s" style="width:75%"></i><i class="i" style="width:25%"></i>' in drawn(
        "bars", bars_after(n2, ["cpu"])
    )


def test_a_node_with_more_than_it_offers_has_a_full_bar_and_a_mark() -> None:
    """The bar stays inside the page."""
    crowded = uses_of(
        small_plan(moves=(), placements=()), cluster(node("n1", cpu="1"), pod("a", "3", node="n1")), and_others=1
    )[0]
    bar = drawn("bars", bars_before(crowded, ["cpu"]))
    assert "over" in bar
    assert "3 of 1" in bar
    assert WIDTHS.findall(bar) == ["100"]


def test_a_resource_that_a_node_lacks_leaves_a_gap_of_the_same_height() -> None:
    """Rows keep one height, which arrows count on."""
    assert drawn("bars", bars_before(small_uses()["n1"], ["example.com/gpu"])) == '<div class="t none"></div>'


@given(*[st.integers(0, 10**12)] * 5)
def test_no_bar_is_longer_than_its_track(offered: int, stays: int, leaves: int, arrives: int, placed: int) -> None:
    """Whatever the amounts."""
    use = NodeUse(node("n"), {"x": offered}, {"x": stays + leaves}, {"x": leaves}, {"x": arrives}, {"x": placed})
    for bar in (bars_before(use, ["x"]), bars_after(use, ["x"])):
        assert sum(map(float, WIDTHS.findall(drawn("bars", bar)))) <= 100.1


def test_moves_between_the_same_nodes_are_one_thicker_arrow() -> None:
    """With the pods by name, some of many."""
    flows = [Flow(reference(f"p{at}"), "a", "b", 1) for at in range(8)] + [Flow(reference("q"), "b", "a", 1)]
    found, left_out = arrows(flows, {"a": 0, "b": 1}, None, 2)
    picture = drawn("arrows", found)
    widths = [float(width) for width in re.findall(r'stroke-width="([\d.]+)"', picture)]
    assert left_out == 0
    assert len(widths) == 2
    assert max(widths) > 2 * min(widths)
    assert "default/p0, default/p1, default/p2 and 5 more: a to b" in picture
    assert 'viewBox="0 0 100 20"' in picture


def test_arrows_to_nodes_without_a_row_are_counted() -> None:
    """As are those whose end nobody knows."""
    flows = [Flow(reference("p"), "a", "elsewhere", 1), Flow(reference("q"), "a", None, 1)]
    found, left_out = arrows(flows, {"a": 0}, None, 1)
    assert left_out == 2
    assert "<path" not in drawn("arrows", found)


def test_of_very_many_arrows_the_thickest_are_drawn() -> None:
    """A page stays a page."""
    rows = {f"n{at}": at for at in range(MOST_ARROWS + 50)}
    flows = [Flow(reference(name), name, "n0", 1) for name in rows if name != "n0"]
    flows += [Flow(reference("again"), "n299", "n0", 1)]
    found, left_out = arrows(flows, rows, None, len(rows))
    picture = drawn("arrows", found)
    assert picture.count("<path") == MOST_ARROWS
    assert left_out == len(flows) - MOST_ARROWS - 1
    assert "2 more" not in picture
    assert "default/n299, default/again: n299 to n0" in picture


@pytest.mark.parametrize(("emptied", "marks"), [(frozenset(), 0), (frozenset({"n1"}), 1)])
def test_a_figure_has_a_row_for_each_node(emptied: frozenset[str], marks: int) -> None:
    """With how many pods come and go, and what is empty in the end."""
    plan = small_plan(placements=())
    found = figure(uses_of(plan, small_cluster()), flows_of(plan), Look(("cpu",), emptied), left_out=3)
    page = Page(drawn("figure", found))
    assert page.of_class("n") == 3  # the headings are a row too
    assert page.of_class("mark") == marks
    assert "pods 2 \u2192 1 (\u22121)" in page.text
    assert "and 3 more nodes change" in page.text
