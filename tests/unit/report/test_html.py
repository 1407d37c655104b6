"""The page: complete, self-contained, and safe whatever names a cluster has."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.plan import OutcomeKind, Refusal
from rescheduler.report.html import plan_page
from tests.builders import cluster, node, pod
from tests.unit.report.plans import small_cluster, small_plan, small_result

NEVER_CLOSED = {"meta"}


class Page(HTMLParser):
    """Tags, attributes and texts of a page; fails on tags that do not pair."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.links: list[str] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember the tag and whatever could fetch something."""
        self.tags.append(tag)
        self.links += [name for name, _ in attrs if name in ("src", "href", "action", "onclick", "onerror")]
        if tag not in NEVER_CLOSED:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Tags close in the order in which they opened."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Remember the text."""
        self.texts.append(data)


def test_the_page_tells_nodes_moves_and_reasons() -> None:
    """Everything that the table tells, with bars."""
    page = Page(plan_page(small_plan(), small_cluster()))
    text = " ".join(page.texts)
    for piece in (
        "OPTIMAL",
        "1 of 1 pending pod gets a place",
        "default/web-1",
        "makes room for default/big-1",
        "2 of 4",
        "4 of 4",
        "SingleReplica (1)",
        "default/db-1 is the only replica",
    ):
        assert piece in text
    assert plan_page(small_plan(), small_cluster()).count("width:50.0%") == 1


def test_a_result_has_outcomes() -> None:
    """What became of each move stands beside it."""
    text = " ".join(Page(plan_page(small_result(OutcomeKind.LANDED_ELSEWHERE))).texts)
    assert "LandedElsewhere on n2" in text


def test_the_page_fetches_nothing() -> None:
    """No script, image, font or link; the page says so to the browser too."""
    page = plan_page(small_plan(), small_cluster())
    assert Page(page).links == []
    assert {"script", "link", "img", "iframe"}.isdisjoint(Page(page).tags)
    assert "default-src 'none'" in page
    assert "url(" not in page
    assert "http" not in page.replace("http-equiv", "")


@given(st.text(max_size=40))
def test_no_name_becomes_markup(name: str) -> None:
    """Whatever a name holds, the page has the same tags as with a harmless one."""
    name = name.encode("utf-8", "replace").decode() or "x"

    def page(text: str) -> str:
        plan = small_plan(refusals=(Refusal(text, text, node=text),), warnings=(text,))
        return plan_page(plan, cluster(node("n1"), node("n2"), node(f"z{text}"), pod("web-1", node="n1")))

    assert Page(page(name)).tags == Page(page("harmless")).tags
    assert page(name).replace("\n", "").isprintable()


def test_a_node_with_more_than_it_offers_has_a_full_bar() -> None:
    """An overcommitted node is marked, and its bar stays inside the page."""
    crowded = cluster(node("n1", cpu="1"), pod("a-1", "3", node="n1"))
    page = plan_page(small_plan(moves=(), placements=()), crowded)
    assert "width:100.0%" in page
    assert "over" in page
    assert "width:300" not in page
