"""Any report as one self-contained page of HTML: its text as a very wide terminal would show it."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO

from rich.console import Console, RenderableType

from rescheduler.report.html.rendering import page

_WIDTH = 1000


def text_page(title: str, parts: Iterable[RenderableType]) -> str:
    """The page as HTML text, with the report's own parts below the title."""
    out = StringIO()
    console = Console(file=out, width=_WIDTH, color_system=None, markup=False, emoji=False, highlight=False)
    for part in parts:
        console.print(part)
    return page("text.html", title, lines=[line.rstrip() for line in out.getvalue().splitlines()])
