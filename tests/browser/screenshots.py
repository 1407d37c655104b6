"""``python -m tests.browser.screenshots``: pictures for the docs, of plans and of the daemon's page."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.browser.browser import Browser, browser_program, running_browser
from tests.browser.daemon_scene import busy, opened, served
from tests.browser.page_look import shown
from tests.paths import ROOT

FOLDER: Final = ROOT / "docs" / "images"
HEIGHT: Final = 900


class Screenshot(NamedTuple):
    """A picture: what is planned, and how wide the screen is; without arguments it is of the daemon's page."""

    name: str
    arguments: tuple[str, ...]
    width: int


SCREENSHOTS: Final = (
    Screenshot("make-room.png", ("-f", "docs/examples/small.json"), 1000),
    Screenshot("infeasible.png", ("-f", "docs/examples/infeasible.json"), 1000),
    Screenshot("empty-nodes-phone.png", ("-f", "docs/examples/small.json", "--objective", "EmptyNodes"), 390),
    Screenshot("daemon-page.png", (), 1280),
    Screenshot("daemon-page-phone.png", (), 390),
)


def taken(browser: Browser, folder: Path) -> Iterator[tuple[Screenshot, bytes]]:
    """Each picture as PNG; ``folder`` is for the pages."""
    for one in SCREENSHOTS:
        (_show_plan if one.arguments else _show_daemon)(browser, folder, one)
        yield one, browser.picture()


def _show_plan(browser: Browser, folder: Path, one: Screenshot) -> None:
    command = [sys.executable, "-m", "rescheduler", "plan", "-o", "html", *one.arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    page = folder / "page.html"
    page.write_text(done.stdout, encoding="ascii")
    browser.open(page, width=one.width, height=HEIGHT)


def _show_daemon(browser: Browser, folder: Path, one: Screenshot) -> None:
    with served(busy()) as url, opened(url, folder, "--allow", "approve,pause") as address:
        shown(browser, address, (one.width, HEIGHT))


def main() -> int:
    """Write them all."""
    program = browser_program()
    if program is None:
        print("error: no browser; make test-packages installs Chromium", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_browser(program, Path(folder)) as browser:
        for one, picture in taken(browser, Path(folder)):
            (FOLDER / one.name).write_bytes(picture)
            print(FOLDER / one.name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
