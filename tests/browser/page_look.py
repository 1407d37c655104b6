"""The daemon's page in a browser: opened, waited for, walked with keys, and as a screen reader is given it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.browser.browser import Browser

LAPTOP = (1280, 800)
LOADED = "document.querySelector('.answers') !== null"
TOLD = "document.getElementById('told').textContent"


def until(browser: Browser, expression: str) -> None:
    """Wait for what a script does after the page is loaded."""
    deadline = time.monotonic() + 30
    while not browser.value(expression):
        assert time.monotonic() < deadline, (expression, browser.value("document.body.innerText")[:2000])
        time.sleep(0.05)


def shown(browser: Browser, address: str, screen: tuple[int, int] = LAPTOP) -> None:
    """The page through its script; the fragment of another address alone would load nothing."""
    browser.open("about:blank", width=screen[0], height=screen[1])
    browser.open(address, width=screen[0], height=screen[1])
    until(browser, LOADED)


def tree(browser: Browser) -> list[dict[str, Any]]:
    """What a screen reader is given."""
    browser.call("Accessibility.enable")
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [one for one in nodes if not one.get("ignored")]


def named(nodes: list[dict[str, Any]], role: str) -> dict[str, dict[str, Any]]:
    """Those of a role by their accessible names."""
    return {one["name"]["value"]: one for one in nodes if one.get("role", {}).get("value") == role}


def tab_to(browser: Browser, is_there: str) -> None:
    """Press Tab until the focus is there."""
    for _ in range(40):
        if browser.value(is_there):
            return
        browser.press("Tab")
    raise AssertionError(f"no Tab leads to {is_there}")


def enter(browser: Browser) -> None:
    """Press Enter."""
    key = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13}
    browser.call("Input.dispatchKeyEvent", type="keyDown", text="\r", **key)
    browser.call("Input.dispatchKeyEvent", type="keyUp", **key)


@contextmanager
def printed(browser: Browser) -> Iterator[None]:
    """The page as on paper, which holds something."""
    browser.call("Emulation.setEmulatedMedia", media="print")
    try:
        yield
        assert len(browser.call("Page.printToPDF", printBackground=True)["data"]) > 10_000
    finally:
        browser.call("Emulation.setEmulatedMedia", media="")
