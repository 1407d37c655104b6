"""A headless Chromium, driven over its DevTools protocol by a pair of pipes."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
SECONDS = 60.0
_ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip
_END = b"\0"


def browser_program() -> str | None:
    """The browser of this machine: the one that RESCHEDULER_BROWSER names, or the first that is found."""
    named = os.environ.get("RESCHEDULER_BROWSER")
    return named or next((found for name in NAMES if (found := shutil.which(name))), None)


@contextmanager
def found_browser(folder: Path) -> Iterator[Browser]:
    """The browser of this machine with a fresh profile in ``folder``; without one the test is skipped."""
    program = browser_program()
    if program is None:
        pytest.skip(f"no browser: none of {', '.join(NAMES)} is on the PATH, and RESCHEDULER_BROWSER names none")
    with running_browser(program, folder) as found:
        yield found


class Browser:
    """One tab; remembers every message of its console and every request that it makes."""

    def __init__(self, commands: int, answers: int) -> None:
        self._commands, self._answers, self._rest = commands, answers, b""
        self._number = 0
        self._session: str | None = None
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self._loads = 0
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = str(self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"])
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """The answer to one command; events that come first are remembered."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        data = json.dumps(message).encode() + _END
        while data:
            data = data[os.write(self._commands, data) :]
        while True:
            answer = self._read()
            if answer.get("id") == self._number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return dict(answer["result"])

    def open(self, place: Path | str, *, width: int, height: int = 900, dark: bool = False) -> None:
        """Show a file, or what is at an address, as a screen of this size would."""
        self.complaints.clear()
        self.requests.clear()
        phone = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)
        loads = self._loads
        self.call("Page.navigate", url=place.resolve().as_uri() if isinstance(place, Path) else place)
        deadline = time.monotonic() + SECONDS
        while self._loads == loads:
            assert time.monotonic() < deadline, f"{place} was not loaded within {SECONDS:.0f} s"
            self._read()

    def value(self, expression: str) -> Any:
        """What an expression of JavaScript gives on the page, as plain data."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def click(self, selector: str) -> None:
        """A click with the mouse in the middle of the first element that a selector finds."""
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect();"
            " return [r.x + r.width / 2, r.y + r.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def press(self, key: str) -> None:
        """One key, such as ``ArrowRight`` or ``Tab``."""
        code = {"ArrowRight": 39, "ArrowLeft": 37, "Tab": 9}[key]
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code)

    def picture(self, *, whole: bool = False) -> bytes:
        """What is seen, or the whole page, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"])

    def close(self) -> None:
        """End the browser in good order, so that it no longer writes to its profile."""
        self._session = None
        self.call("Browser.close")

    def _read(self) -> dict[str, Any]:
        """The next message; what the page complains of or fetches is remembered."""
        while _END not in self._rest:
            part = os.read(self._answers, 1 << 16)
            assert part, "the browser ended"
            self._rest += part
        first, _, self._rest = self._rest.partition(_END)
        message: dict[str, Any] = json.loads(first)
        self._remember(message.get("method", ""), message.get("params", {}))
        return message

    def _remember(self, method: str, details: dict[str, Any]) -> None:
        if method == "Page.loadEventFired":
            self._loads += 1
        elif method == "Network.requestWillBeSent":
            self.requests.append(details["request"]["url"])
        elif method == "Log.entryAdded":
            self.complaints.append(details["entry"]["text"])
        elif method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown"):
            self.complaints.append(json.dumps(details))


@contextmanager
def running_browser(program: str, folder: Path) -> Iterator[Browser]:
    """A browser with a profile of its own in ``folder``; it ends with the block."""
    from_us, commands = os.pipe()
    answers, to_us = os.pipe()
    redirected = f'exec "$0" "$@" 3<&{from_us} 4>&{to_us}'  # the numbers that the protocol asks for
    process = subprocess.Popen(
        ["/bin/bash", "-c", redirected, program, *_ARGUMENTS, f"--user-data-dir={folder}"],
        pass_fds=(from_us, to_us), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    os.close(from_us)
    os.close(to_us)
    try:
        browser = Browser(commands, answers)
        yield browser
        browser.close()
    finally:
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
        os.close(commands)
        os.close(answers)
