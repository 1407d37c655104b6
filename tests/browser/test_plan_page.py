"""The page of a plan as a person sees it: no complaint, no request, nothing cut off, every wave within reach."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import OutcomeKind, Plan, PlanResult, Status
from rescheduler.report.explanation import Explanation, NodeVerdict, explanation_report
from rescheduler.report.html import plan_page
from rescheduler.report.html.untouched import FEW_NODES
from rescheduler.report.text_page import text_page
from tests.browser.browser import Browser
from tests.unit.report.large_plans import carried_out, chain, emptying, hostile, nothing_to_do, spreading
from tests.unit.report.plans import HOSTILE

DESKTOP, PHONE = 1280, 390
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
SHOWN = "[...document.querySelectorAll('.pane')].flatMap((e, at) => getComputedStyle(e).display == 'none' ? [] : [at])"
# How far the end of each arrow is from the middle of the bars that it leads to, in pixels.
MISSES = """
  [...document.querySelectorAll('.pane, .walk')].filter(e => e.offsetParent).flatMap(pane =>
    [...pane.querySelectorAll('.a.to')].filter(e => e.offsetParent).map(goal => {
      const drawing = goal.closest('.flow').querySelector('.arrows').getBoundingClientRect();
      const middle = goal.getBoundingClientRect(); const y = middle.y + middle.height / 2;
      const rows = goal.closest('.flow').querySelectorAll('.n').length;
      const at = [...goal.closest('.flow').querySelectorAll('.n')].indexOf(goal.closest('.n'));
      return Math.abs(drawing.y + drawing.height * (at + .5) / rows - y);
    }))
"""


def result_of_emptying() -> tuple[Cluster, PlanResult]:
    """A result with every outcome."""
    found, plan = emptying()
    return found, carried_out(plan, list(OutcomeKind))


def huge() -> tuple[Cluster, Plan]:
    """Five thousand nodes, thousands of moves in hundreds of waves."""
    return spreading(5000, 4000, 300, 2)


Made = Callable[[], tuple[Cluster, Plan | PlanResult]]
EVERY: tuple[Made, ...] = (chain, emptying, spreading, nothing_to_do, hostile, result_of_emptying, huge)


def shown(browser: Browser, pages: Path, made: Made, width: int, *, dark: bool = False) -> Path:
    """The page of a plan, open in the browser."""
    found, plan = made()
    path = pages / "page.html"
    path.write_text(plan_page(plan, found), encoding="ascii")
    browser.open(path, width=width, dark=dark)
    return path


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("made", EVERY)
def test_the_page_needs_nothing_and_fits_the_screen(browser: Browser, pages: Path, made: Made, width: int) -> None:
    """No complaint of the browser, no request but for the file itself, no scrolling to the side."""
    path = shown(browser, pages, made, width)
    assert browser.value(OVERFLOW) == 0
    for opened in browser.value("[...document.querySelectorAll('details')].map(e => e.open = true)"):
        assert opened
    assert browser.value(OVERFLOW) == 0
    assert browser.requests == [path.as_uri()]
    assert browser.complaints == []
    assert browser.value("document.scripts.length") == (len(made()[0].nodes) > FEW_NODES)


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("made", [chain, emptying, spreading, huge])
def test_every_wave_can_be_reached_with_the_mouse(browser: Browser, pages: Path, made: Made, width: int) -> None:
    """A click on its button shows its figure, and no other."""
    shown(browser, pages, made, width)
    count = browser.value("document.querySelectorAll('.pane').length")
    assert count > 3
    assert browser.value(SHOWN) == [0]
    for at in range(1, count):
        browser.click(f".tabs label[for=s{at}]")
        assert browser.value(SHOWN) == [at]
        assert browser.value(f"document.querySelector('#p{at} .flow').offsetHeight") > 0
        assert browser.value(OVERFLOW) == 0
    browser.click(f"#p{count - 1} .turn label")
    assert browser.value(SHOWN) == [count - 2]


def test_every_wave_can_be_reached_with_the_keyboard(browser: Browser, pages: Path) -> None:
    """Tab to the buttons, arrows between them; the one that has the focus is marked."""
    shown(browser, pages, chain, DESKTOP)
    for _ in range(20):
        if browser.value("document.activeElement.name") == "step":
            break
        browser.press("Tab")
    seen = [browser.value(SHOWN)]
    for _ in range(4):
        browser.press("ArrowRight")
        seen += [browser.value(SHOWN)]
    assert seen == [[0], [1], [2], [3], [4]]
    outline = "getComputedStyle(document.querySelector('.tabs label[for=s4]')).outlineStyle"
    assert browser.value(outline) == "solid"


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
@pytest.mark.parametrize("made", [chain, emptying, spreading])
def test_arrows_end_at_the_bars_of_the_node_that_they_lead_to(
    browser: Browser, pages: Path, made: Made, width: int
) -> None:
    """On every screen, though the drawing is stretched."""
    shown(browser, pages, made, width)
    misses = browser.value(MISSES)
    assert misses
    assert max(misses) < 3


def test_the_dark_page_is_dark(browser: Browser, pages: Path) -> None:
    """Where the system asks for it."""
    shown(browser, pages, chain, DESKTOP, dark=True)
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(20, 24, 30)"
    shown(browser, pages, chain, DESKTOP)
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"


def test_hostile_names_run_nothing(browser: Browser, pages: Path) -> None:
    """They are shown as they are."""
    shown(browser, pages, hostile, DESKTOP)
    assert browser.value("document.title") == "Rescheduling plan"
    assert "<script>alert(1)</script>" in browser.value("document.body.innerText")
    assert browser.value("document.querySelectorAll('script, b b').length") == 0


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_pages_of_other_commands_fit_the_screen_too(browser: Browser, pages: Path, width: int) -> None:
    """An explanation with long and hostile texts scrolls inside its own frame."""
    verdicts = tuple(NodeVerdict(f"node-{at}", at % 2 == 0, ("Insufficient cpu " * 20,)) for at in range(40))
    told = Explanation("Stays", f"{HOSTILE} {'long ' * 80}", nodes=verdicts)
    path = pages / "page.html"
    path.write_text(text_page(f"Why {HOSTILE}", explanation_report(told)), encoding="ascii")
    browser.open(path, width=width)
    assert browser.value(OVERFLOW) == 0
    assert (browser.complaints, browser.requests) == ([], [path.as_uri()])


def test_the_printed_page_is_complete(browser: Browser, pages: Path) -> None:
    """Buttons are gone, the figure that was chosen is on paper."""
    shown(browser, pages, chain, DESKTOP)
    browser.click(".tabs label[for=s2]")
    browser.call("Emulation.setEmulatedMedia", media="print")
    assert browser.value("getComputedStyle(document.querySelector('.tabs')).display") == "none"
    assert browser.value(SHOWN) == [2]
    assert len(browser.call("Page.printToPDF", printBackground=True)["data"]) > 10_000
    browser.call("Emulation.setEmulatedMedia", media="")


def large() -> tuple[Cluster, Plan]:
    """Five thousand nodes, five hundred moves."""
    return spreading(5000, 500, 50, 2)


FIND = """
  (word => { const box = document.querySelector('.search input'); box.value = word;
             box.dispatchEvent(new Event('input')); })
"""
ROWS_SEEN = (
    "[...document.querySelectorAll('.other, .list tbody tr')].filter(e => e.checkVisibility()).map(e => e.innerText)"
)


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_a_node_or_a_pod_of_a_large_cluster_is_found_by_name(browser: Browser, pages: Path, width: int) -> None:
    """What does not change is folded away until it is looked for, and folded again afterwards."""
    found, plan = large()
    shown(browser, pages, large, width)
    still = next(node.name for node in reversed(found.nodes) if node.name not in {m.from_node for m in plan.moves})
    assert browser.value("[...document.querySelectorAll('details[open]')].length") == 0
    for name in (still, plan.moves[0].pod.key):
        browser.value(f"{FIND}({name!r})")
        rows = browser.value(ROWS_SEEN)
        assert rows
        assert all(name in row for row in rows)
        assert str(len(browser.value(ROWS_SEEN))) in browser.value("document.querySelector('.search output').innerText")
        assert browser.value(OVERFLOW) == 0
    browser.value(f"{FIND}('')")
    assert browser.value(ROWS_SEEN) == []
    assert browser.complaints == []


def test_a_large_page_stays_small_enough_to_open_in_a_moment(browser: Browser, pages: Path) -> None:
    """By its bytes and elements, which do not depend on the machine."""
    path = shown(browser, pages, large, DESKTOP)
    assert path.stat().st_size < 4_000_000
    assert browser.value("document.querySelectorAll('*').length") < 60_000


@pytest.mark.parametrize("width", [DESKTOP, PHONE])
def test_names_of_nodes_do_not_break_and_a_bar_never_praises_what_cannot_be(
    browser: Browser, pages: Path, width: int
) -> None:
    """One line for a name on a wide screen; INFEASIBLE has no bar at all."""
    shown(browser, pages, emptying, width)
    browser.value("[...document.querySelectorAll('details')].map(e => e.open = true)")
    lines = browser.value("""
      [...document.querySelectorAll('td.id')].filter(e => e.offsetParent).map(e => {
        const range = document.createRange(); range.selectNodeContents(e);
        return new Set([...range.getClientRects()].map(r => Math.round(r.y))).size; })
    """)
    assert lines
    assert set(lines) == {1} or width == PHONE
    found, plan = emptying()
    answer = replace(plan.objectives[0], status=Status.INFEASIBLE)
    path = pages / "page.html"
    path.write_text(plan_page(replace(plan, objectives=(answer,)), found), encoding="ascii")
    browser.open(path, width=width)
    assert browser.value("document.querySelectorAll('.near').length") == 0
    assert browser.value("getComputedStyle(document.querySelector('.badge')).backgroundColor") == "rgb(179, 38, 30)"


def test_the_browser_would_notice(browser: Browser, pages: Path) -> None:
    """A page that asks for a file, complains and is too wide is seen to do so: the tests above can fail."""
    path = pages / "page.html"
    path.write_text(
        '<img src="missing.png" alt=""><script>console.error("x")</script><div style="width: 3000px">x</div>'
    )
    browser.open(path, width=DESKTOP)
    assert browser.value(OVERFLOW) > 0
    assert len(browser.requests) == 2
    assert browser.complaints
