"""``python -m tests.browser.screenshots``: pictures of plans for the docs, made of the shipped recordings."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from tests.browser.browser import Browser, browser_program, running_browser
from tests.paths import ROOT

FOLDER: Final = ROOT / "docs" / "images"
HEIGHT: Final = 900


class Screenshot(NamedTuple):
    """A picture: what is planned, and how wide the screen is."""

    name: str
    arguments: tuple[str, ...]
    width: int


SCREENSHOTS: Final = (
    Screenshot("make-room.png", ("-f", "docs/examples/small.json"), 1000),
    Screenshot("infeasible.png", ("-f", "docs/examples/infeasible.json"), 1000),
    Screenshot("empty-nodes-phone.png", ("-f", "docs/examples/small.json", "--objective", "EmptyNodes"), 390),
)


def taken(browser: Browser, folder: Path) -> Iterator[tuple[Screenshot, bytes]]:
    """Each picture as PNG; ``folder`` is for the pages."""
    for one in SCREENSHOTS:
        command = [sys.executable, "-m", "rescheduler", "plan", "-o", "html", *one.arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
        page = folder / "page.html"
        page.write_text(done.stdout, encoding="ascii")
        browser.open(page, width=one.width, height=HEIGHT)
        yield one, browser.picture()


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
