"""The daemon's page as a person on call sees it, through ``rescheduler ui``: screens, keys alone, hostile pages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from rescheduler.daemon.page import page_desk
from rescheduler.model.daemon.notices import RoundEnded
from rescheduler.report.html import daemon_page as rendering
from rescheduler.report.html.daemon_page import DaemonView
from tests.browser.browser import Browser
from tests.browser.daemon_scene import busy, crowded, opened, served
from tests.browser.hostile_site import attack
from tests.browser.page_look import LAPTOP, LOADED, TOLD, enter, named, printed, shown, tab_to, tree, until
from tests.builders import NOW, cluster, node, pod
from tests.unit.daemon.api.daemon_bench import DaemonBench, bench
from tests.unit.daemon.plans import plan, report
from tests.unit.report.plans import HOSTILE

PHONE = (390, 844)
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
ANSWERS = {
    "Is it stuck?": "5 of 20 nodes are not ready",
    "How to stop it": "rescheduler.dev/stop",
    "What will it do next?": "b7a91c02de",
    "What moved in the last hour?": "3 pods",
    "Who is affected?": "default/web",
    "Why is a pod still waiting?": "the plan gives it n1",
    "Who approved?": "joe",
    "Can its load data be believed?": "8 of 9 nodes",
    "Which budget is used up?": "disruption.rates.perWorkloadPerHour",
    "Did the last plan keep its promise?": "5c0ffee123",
}


@contextmanager
def page(browser: Browser, folder: Path, *arguments: str, found: DaemonBench | None = None,
         screen: tuple[int, int] = LAPTOP) -> Iterator[DaemonBench]:  # fmt: skip
    """A daemon whose page is open."""
    made = found or busy()
    with served(made) as url, opened(url, folder, *arguments) as address:
        shown(browser, address, screen)
        yield made


@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_ten_questions_are_answered_within_the_second_screen(
    browser: Browser, pages: Path, screen: tuple[int, int]
) -> None:
    """Each is found by its accessible name, and what answers it stands there; nothing scrolls to the side."""
    with page(browser, pages, "--allow", "approve,pause", screen=screen):
        regions = named(tree(browser), "region")
        for question, answer in ANSWERS.items():
            place = browser.call("DOM.getBoxModel", backendNodeId=regions[question]["backendDOMNodeId"])["model"]
            assert max(place["content"][1::2]) <= 2 * screen[1], question
            found = browser.call("DOM.resolveNode", backendNodeId=regions[question]["backendDOMNodeId"])["object"]
            read = {"functionDeclaration": "function () { return this.innerText }", "returnByValue": True}
            text = browser.call("Runtime.callFunctionOn", objectId=found["objectId"], **read)["result"]["value"]
            assert answer in text, question
        assert browser.value(OVERFLOW) == 0
        assert browser.complaints == []


@pytest.mark.parametrize("screen", [LAPTOP, PHONE], ids=["laptop", "phone"])
def test_the_worst_night_fits_two_screens_too(browser: Browser, pages: Path, screen: tuple[int, int]) -> None:
    """Everything has much to say, and under the longest names; what does not fit is listed below."""
    with page(browser, pages, "--allow", "approve,pause", found=crowded(), screen=screen):
        regions = named(tree(browser), "region")
        for question in ANSWERS:
            place = browser.call("DOM.getBoxModel", backendNodeId=regions[question]["backendDOMNodeId"])["model"]
            assert max(place["content"][1::2]) <= 2 * screen[1], question
        assert browser.value("document.querySelectorAll('#s-held tbody tr').length") == 3
        assert "more, listed below" in browser.value("document.querySelector('.answers').innerText")
        assert browser.value(OVERFLOW) == 0


POLLS = """
(() => { window.answers = []; var key = sessionStorage.getItem("key");
  var ask = () => fetch("/", {headers: {"X-Rescheduler-Key": key, Accept: "text/html"}})
    .then(a => a.text().then(t => answers.push([a.status, t.includes("Is it stuck?") && t.includes("</html>")])));
  for (var at = 0; at < 300; at++) { setTimeout(ask, at * 10); }
})()
"""


def test_a_page_that_polls_a_hundred_times_a_second_is_answered_within_bounds(
    browser: Browser, pages: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For three seconds: each gets a whole page or is told that there are too many, with a clock that stands the page
    is made once, and what a person typed is still there when there is room for it."""
    made: list[DaemonView] = []
    real = rendering.daemon_page
    monkeypatch.setattr(page_desk, "daemon_page", lambda view: made.append(view) or real(view))  # type: ignore[func-returns-value]
    with page(browser, pages, "--allow", "pause") as found:
        before = len(made)
        browser.value(POLLS)
        until(browser, "answers.length === 300")
        answers = {(status, whole) for status, whole in browser.value("answers")}
        assert (200, True) in answers <= {(200, True), (429, False)}
        assert len(made) == before
        browser.value("document.querySelector('[name=reason]').value = 'lunch'")
        browser.click("form[data-post$='/pause'] button")
        until(browser, f"{TOLD} === 'more than 20 requests in a second'")
        assert found.controls.paused() is None
        found.clock.time += 10
        browser.click("form[data-post$='/pause'] button")
        until(browser, f"{TOLD} === 'Paused: nothing is carried out.'")
        assert found.controls.paused() == "paused by jane: lunch"


def test_everything_that_can_be_pressed_has_a_name_and_a_role(browser: Browser, pages: Path) -> None:
    """Buttons, fields, and the summary of each table; the answer to a press is told to a screen reader."""
    with page(browser, pages, "--allow", "approve,pause"):
        nodes = tree(browser)
        assert {"Approve", "Pause"} <= set(named(nodes, "button"))
        assert {"Reason", "Minutes"} <= {*named(nodes, "textbox"), *named(nodes, "spinbutton")}
        headings = named(nodes, "heading")
        assert {"rescheduler", "Controls", *ANSWERS} <= set(headings)
        assert browser.value("document.getElementById('told').getAttribute('role')") == "status"
        tables = named(nodes, "table")
        assert "Budgets in force, the least left first" in tables


def test_a_person_pauses_and_resumes_with_keys_alone(browser: Browser, pages: Path) -> None:
    """Tab to the field, text, Tab to the button, Enter; the page tells what was done, and shows the other button."""
    with page(browser, pages, "--allow", "pause") as found:
        tab_to(browser, "document.activeElement.name === 'reason'")
        browser.call("Input.insertText", text="lunch")
        tab_to(browser, "document.activeElement.textContent === 'Pause'")
        enter(browser)
        until(browser, f"{TOLD} === 'Paused: nothing is carried out.'")
        assert found.controls.paused() == "paused by jane: lunch"
        tab_to(browser, "document.activeElement.textContent === 'Resume'")
        outline = browser.value("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        enter(browser)
        until(browser, f"{TOLD} === 'Resumed.'")
        assert found.controls.paused() is None


def test_a_plan_that_was_replaced_is_not_approved_and_the_newer_one_is_shown(browser: Browser, pages: Path) -> None:
    """Then that one is."""
    with page(browser, pages, "--allow", "approve") as found:
        found.controls.propose("9e9e9e9e9e", plan("a-1", "a-2"), NOW)
        browser.click("form[data-post$='/approve'] button")
        until(browser, f"{TOLD}.startsWith('Not done: ')")
        assert "plan 9e9e9e9e9e is shown now" in browser.value(TOLD)
        assert found.controls.approved("9e9e9e9e9e") is None
        assert "9e9e9e9e9e" in browser.value("document.querySelector('form[data-post$=\"/approve\"]').innerText")
        browser.click("form[data-post$='/approve'] button")
        until(browser, f"{TOLD} === 'Approved plan 9e9e9e9e9e.'")
        approval = found.controls.approved("9e9e9e9e9e")
        assert approval is not None
        assert approval.who == "jane"


def test_no_secret_is_left_in_the_address_and_a_second_tab_gets_nothing(browser: Browser, pages: Path) -> None:
    """A reload of the first one goes on."""
    with served(busy()) as url, opened(url, pages) as address:
        shown(browser, address)
        assert browser.value("location.hash") == ""
        assert browser.value("document.cookie") == ""
        assert not any("#" in one.partition(address.partition("#")[0])[2] for one in browser.requests[1:])
        assert browser.value("document.querySelectorAll('button').length") == 0
        browser.open(address.partition("#")[0], width=1280)
        until(browser, LOADED)
        browser.value("sessionStorage.clear()")
        browser.open("about:blank", width=1280)
        browser.open(address, width=1280)
        until(browser, f"{TOLD}.includes('was opened before')")
        assert not browser.value(LOADED)


def test_a_hostile_page_beside_it_does_nothing(browser: Browser, pages: Path) -> None:
    """Posts, forms and frames of another site, while the page is open and may do everything."""
    with served(found := busy()) as url, opened(url, pages, "--allow", "approve,pause") as address:
        shown(browser, address)
        attack(browser, address.partition("#")[0])
        assert found.controls.paused() is None


def test_hostile_names_run_nothing(browser: Browser, pages: Path) -> None:
    """In pods, plans and reasons they are texts."""
    evil = f"<img src=x onerror=alert(1)><script>alert(1)</script>{HOSTILE}"
    found = bench()
    found.controls.publish(cluster(node("n1"), pod(evil, namespace=evil)))
    found.tell(RoundEnded(NOW, report(3, plan_id=evil, plan=plan("a-1", reason=evil), reason=evil)))
    with page(browser, pages, found=found):
        assert browser.value("document.querySelectorAll('main script, main img, main b').length") == 0
        assert "<script>alert(1)</script>" in browser.value("document.querySelector('main').innerText")
        assert browser.complaints == []


def test_the_printed_page_holds_the_tables(browser: Browser, pages: Path) -> None:
    """Buttons are gone; what a click would open is on paper."""
    with page(browser, pages, "--allow", "pause"), printed(browser):
        assert browser.value("getComputedStyle(document.querySelector('form')).display") == "none"
        assert browser.value("document.querySelector('#s-trust table').getBoundingClientRect().height") > 0


def test_the_page_is_whole_without_its_script(browser: Browser, pages: Path) -> None:
    """As a proxy that adds the header itself would show it."""
    del pages
    with served(busy()) as url:
        browser.call("Emulation.setScriptExecutionDisabled", value=True)
        browser.call("Network.setExtraHTTPHeaders", headers={"Authorization": "Bearer token-jane"})
        try:
            browser.open(url + "/", width=1280)
            assert set(ANSWERS) <= set(named(tree(browser), "region"))
        finally:
            browser.call("Emulation.setScriptExecutionDisabled", value=False)
            browser.call("Network.setExtraHTTPHeaders", headers={})
