"""Pieces that every page is made of: escaped text, sections, tables, and the page around them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from rescheduler.model.printable import printable
from rescheduler.report.html.style import STYLE

LONGEST_TEXT = 2000


def page(title: str, body: Iterable[str]) -> str:
    """A whole page of our style around lines of HTML; ``title`` must be escaped."""
    text = (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>\n"
        + "\n".join(body)
        + "\n</main>\n</body>\n</html>\n"
    )
    return text.encode("ascii", "xmlcharrefreplace").decode()  # reads the same in every locale


def text(value: object) -> str:
    """Any text of a cluster, safe in HTML: escaped, without characters that do not print, and not endless."""
    return escape(printable(str(value), LONGEST_TEXT), quote=True)


def section(title: str, lines: Iterable[str]) -> list[str]:
    """Lines under a heading; nothing where there are none."""
    found = list(lines)
    return [f"<section><h2>{title}</h2>", *found, "</section>"] if found else []


def folded(summary: str, lines: Iterable[str], *, is_open: bool = False) -> Iterator[str]:
    """Lines that a click on ``summary`` (escaped) shows and hides."""
    yield f"<details{' open' if is_open else ''}><summary>{summary}</summary>"
    yield from lines
    yield "</details>"


def table(headings: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """A table of texts. On a narrow screen each row becomes a block, with the heading before each value."""
    yield '<table class="list"><thead><tr>'
    yield "".join(f'<th scope="col">{heading}</th>' for heading in headings)
    yield "</tr></thead><tbody>"
    for row in rows:
        cells = zip(headings, row, strict=True)
        yield "<tr>" + "".join(f'<td data-h="{heading}">{text(item)}</td>' for heading, item in cells) + "</tr>"
    yield "</tbody></table>"


def more(count: int, what: str) -> Iterator[str]:
    """How many of a list are not shown, and where they are; nothing where there are none."""
    if count > 0:
        yield f'<p class="quiet">and {count} more {what}; -o json lists each of them</p>'
