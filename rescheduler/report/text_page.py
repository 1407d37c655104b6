"""Any report as one self-contained page of HTML: its text as a very wide terminal would show it."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from io import StringIO

from rich.console import Console, RenderableType

from rescheduler.model.printable import printable
from rescheduler.report.html.markup import page

_WIDTH = 1000


def text_page(title: str, parts: Iterable[RenderableType]) -> str:
    """The page as HTML text, with the report's own parts below the title."""
    out = StringIO()
    console = Console(file=out, width=_WIDTH, color_system=None, markup=False, emoji=False, highlight=False)
    for part in parts:
        console.print(part)
    lines = (escape(printable(line.rstrip())) for line in out.getvalue().splitlines())
    heading = escape(printable(title))
    return page(heading, [f"<h1>{heading}</h1>", "<pre>", *lines, "</pre>"])
