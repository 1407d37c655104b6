"""The page as a whole: complete, self-contained, small, and safe whatever names a cluster has."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import OutcomeKind, Plan, Refusal
from rescheduler.report.html import plan_page
from rescheduler.report.html.untouched import FEW_NODES
from tests.builders import cluster, node, pod
from tests.unit.report.html.parsed import Page
from tests.unit.report.large_plans import chain, emptying, hostile, nothing_to_do, spreading
from tests.unit.report.plans import objective, small_cluster, small_plan, small_result

MOST_BYTES = 5_000_000


def test_the_page_tells_gain_price_nodes_moves_and_reasons() -> None:
    """Everything that the table tells, with bars."""
    text = Page(plan_page(small_plan(), small_cluster())).text
    for piece in (
        "OPTIMAL",
        "1 of 1 pending pod gets a place",
        "1 eviction",
        "default/web-1",
        "makes room for default/big-1",
        "2 of 4",
        "4 of 4",
        "SingleReplica (1)",
        "default/db-1 is the only replica",
        "2 nodes, 4 pods, 1 of them pending, from test, taken at 2027-01-15T08:00:00Z",
    ):
        assert piece in text


def test_a_result_has_outcomes_and_its_message() -> None:
    """What became of each move stands beside it, and why the plan stopped on top."""
    text = Page(plan_page(small_result(OutcomeKind.LANDED_ELSEWHERE, "stopped after wave 1"))).text
    assert "Rescheduling result" in text
    assert "LandedElsewhere on n2" in text
    assert "stopped after wave 1" in text


@pytest.mark.parametrize("made", [chain, emptying, spreading, nothing_to_do, hostile])
def test_the_page_fetches_nothing(made: object) -> None:
    """No image, font or link, and no script but our own search; the page says so to the browser too."""
    found, plan = made()  # type: ignore[operator]
    text = plan_page(plan, found)
    page = Page(text)
    assert page.links == []
    assert {"link", "img", "iframe", "object", "form", "a", "base"}.isdisjoint(page.tags)
    assert "default-src 'none'" in text
    scripts = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    assert re.findall(r"'sha256-([^']+)'", unescape(text)) == digests
    assert page.tags.count("script") == len(digests) == (len(found.nodes) > FEW_NODES)
    assert "url(" not in text
    assert "@import" not in text
    assert text.isascii()


@given(st.text(max_size=40))
def test_no_name_becomes_markup(name: str) -> None:
    """Whatever a name holds, the page has the same tags as with a harmless one."""
    name = name.encode("utf-8", "replace").decode() or "x"

    def page(text: str) -> str:
        plan = small_plan(
            objectives=(objective(name=text, unit=text, message=text, certificate={text: text}),),
            refusals=(Refusal(text, text, node=text),),
            warnings=(text,),
        )
        extended = {f"x.example/{text}": "1"}
        found = cluster(
            node("n1"), node("n2"), node(f"z{text}"), pod("web-1", node="n1", extended=extended), pod("big-1", "3")
        )
        return plan_page(plan, found)

    assert Page(page(name)).tags == Page(page("harmless")).tags
    assert page(name).replace("\n", "").isprintable()


@pytest.mark.parametrize("made", [lambda: emptying(5000, 1700, 2), lambda: spreading(5000, 4000, 300, 2)])
def test_a_cluster_of_five_thousand_nodes_gives_a_page_of_a_few_megabytes(made: object) -> None:
    """What is drawn is limited, and what is left out is counted."""
    found, plan = made()  # type: ignore[operator]
    page = plan_page(plan, found)
    assert len(page) < MOST_BYTES
    assert "more nodes change" in page
    assert f"and {len(plan.moves) - 3000} more moves" in page


def test_endless_texts_do_not_make_an_endless_page() -> None:
    """A message of a megabyte is cut, with a sign."""
    plan = small_plan(objectives=(objective(message="x" * 1_000_000),))
    page = plan_page(plan, small_cluster())
    assert len(page) < 100_000
    assert "x..." in page


def test_without_a_cluster_the_page_has_no_bars_but_everything_else() -> None:
    """A plan alone tells its moves."""
    page = Page(plan_page(small_plan()))
    assert "Nodes before and after" not in page.text
    assert "default/web-1" in page.text


def _read(made: tuple[Cluster, Plan]) -> str:
    found, plan = made
    return Page(plan_page(plan, found)).text


def test_an_empty_plan_says_so() -> None:
    """Its message, no figure of moves, and the nodes as they are."""
    text = _read(nothing_to_do())
    assert "SeparateAntagonists: no answer" in text
    assert "the deadline of 10s passed" in text
    assert "0 evictions" in text
    assert "Nodes before and after" not in text
    assert "9 nodes n0 1 pod cpu 3 of 4" in text
