"""The figures: the whole plan first, then a step for each wave, each beginning where the one before ended."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.report.html.walk import MOST_ROWS, MOST_STEPS, steps_of, walk
from rescheduler.report.plan.flows import Flow, emptied_nodes
from tests.unit.report.html.drawn import drawn
from tests.unit.report.html.parsed import Page
from tests.unit.report.large_plans import chain, emptying, nothing_to_do, spreading
from tests.unit.report.plans import reference, small_cluster, small_plan


def panes(page: str) -> list[str]:
    """The HTML of each figure."""
    return re.split(r'<div class="pane" id="p\d+">', page)[1:]


def test_each_wave_can_be_chosen_and_is_shown_when_it_is() -> None:
    """As many choices as figures; the whole plan is chosen at first."""
    found, plan = chain()
    text = drawn("walk", walk(plan, found, ()))
    page = Page(text)
    labels = [one.get("aria-label") for one in page.attributes if one.get("type") == "radio"]
    assert labels == ["Whole plan", "Fits already", "Wave 1", "Wave 2", "Wave 3"]
    assert len(panes(text)) == len(labels)
    for at in range(len(labels)):
        assert f"#s{at}:checked~#p{at}{{display:block}}" in text
    assert [
        at for at, one in enumerate(a for a in page.attributes if a.get("type") == "radio") if "checked" in one
    ] == [0]


def test_a_wave_shows_the_nodes_that_it_changes_from_where_the_wave_before_left_them() -> None:
    """n3 loses 2 cores in wave 1 and gets 3 in wave 2."""
    found, plan = chain()
    _, _, first, second, _ = panes(drawn("walk", walk(plan, found, ())))
    assert "<strong>Wave 1:</strong> 1 pod moves, 2 nodes change" in first
    assert re.search(r"n3<.*7 of 8.*5 of 8", first)
    assert re.search(r"n3<.*5 of 8.*8 of 8", second)
    assert "n1<" not in first


def test_a_plan_of_one_wave_is_shown_without_anything_to_choose() -> None:
    """No buttons that do nothing."""
    page = Page(drawn("walk", walk(small_plan(placements=()), small_cluster(), ())))
    assert "input" not in page.tags
    assert page.of_class("pane") == 0
    assert "1 pod moves, 2 nodes change" in page.text


def test_pending_pods_have_a_row_from_which_they_come() -> None:
    """And the node that they get shows their part apart."""
    found, plan = chain()
    whole, _, _, _, last = panes(drawn("walk", walk(plan, found, ())))
    assert "2 pending pods" in whole
    assert "default/tiny-1, default/big-1" in whole
    assert '<i class="p" style="width:62.5%">' in last
    assert "1 pod moves, 1 pending pod gets a place, 2 nodes change" in last


def test_emptied_nodes_are_marked_where_they_become_empty() -> None:
    """In the whole plan all of them; in a wave those whose last pod leaves in it."""
    found, plan = emptying()
    whole, first, *_ = panes(drawn("walk", walk(plan, found, emptied_nodes(plan, found))))
    assert whole.count(">emptied<") == 12
    assert first.count(">emptied<") == 2  # of eight pods that leave, three each


def test_nothing_is_drawn_for_an_empty_plan() -> None:
    """No legend for a figure that is not there."""
    found, plan = nothing_to_do()
    assert walk(plan, found, ()) == []


def test_of_many_nodes_those_are_drawn_that_arrows_connect() -> None:
    """Not only nodes that pods leave."""
    found, plan = emptying(1000, 300, 4)
    whole = panes(drawn("walk", walk(plan, found, emptied_nodes(plan, found))))[0]
    assert whole.count('<div class="n">') == MOST_ROWS
    assert whole.count("<path") >= MOST_ROWS // 2
    assert "and 960 more nodes change" in whole


def test_the_pods_of_a_wave_are_listed_below_its_figure() -> None:
    """For those who cannot point at an arrow."""
    found, plan = chain()
    whole, _, first, _, last = panes(drawn("walk", walk(plan, found, ())))
    assert "<details" not in whole
    assert "<summary>1 pod</summary>" in first
    assert re.search(r"default/job-1<.*>n3<.*>n5<", first)
    assert re.search(r"default/big-1<.*>pending<.*>n1<", last)


def test_rows_follow_the_pods_from_node_to_node() -> None:
    """Emptied nodes first; else each node is followed by those that its pods go to, so that arrows are short."""
    found, plan = chain()
    name = re.compile(r'<div class="name"><span title="([^"]+)"')
    assert name.findall(panes(drawn("walk", walk(plan, found, ())))[0]) == ["n1", "n2", "n3", "n5", "n6"]
    assert name.findall(panes(drawn("walk", walk(plan, found, ("n3",))))[0]) == ["n3", "n5", "n1", "n2", "n6"]


def test_many_waves_have_short_names() -> None:
    """The buttons of sixty waves fit on a phone."""
    found, plan = spreading()
    text = Page(drawn("walk", walk(plan, found, ()))).text
    assert "waves 1-2 3-4 5-6" in text


def flow(wave: int) -> Flow:
    """A pod that moves in a wave."""
    return Flow(reference(f"p{wave}"), "n1", "n2", wave)


def test_each_wave_is_a_step_with_its_number() -> None:
    """Wave 0 are pods that fit already."""
    steps = steps_of([flow(0), flow(1), flow(1), flow(4)])
    assert [(step.label, len(step.flows)) for step in steps] == [("Fits already", 1), ("Wave 1", 2), ("Wave 4", 1)]


def test_a_plan_of_one_wave_has_no_steps() -> None:
    """The whole plan is all there is to see."""
    assert steps_of([flow(1), flow(1)]) == ()
    assert steps_of([]) == ()


@given(st.lists(st.integers(0, 500), min_size=2, unique=True))
def test_many_waves_share_steps_and_none_is_lost(waves: list[int]) -> None:
    """At most so many steps, in the order of the waves."""
    flows = [flow(wave) for wave in sorted(waves)]
    steps = steps_of(flows)
    assert len(steps) <= MOST_STEPS
    assert [one for step in steps for one in step.flows] == flows


def test_a_step_of_several_waves_names_the_first_and_the_last() -> None:
    """In words, and in few letters."""
    first, *_, last = steps_of([flow(wave) for wave in range(1, 101)])
    assert (first.label, first.short) == ("Waves 1 to 3", "1-3")
    assert (last.label, last.short) == ("Wave 100", "100")
    assert steps_of([flow(wave) for wave in range(100)])[0].label == "Up to wave 2"
