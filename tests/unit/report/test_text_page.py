"""A report as a page: complete, nothing cut, and safe whatever names a cluster has."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from rescheduler.report.cells import cell, table
from rescheduler.report.text_page import text_page
from tests.unit.report.html.parsed import Page


def test_a_table_keeps_its_columns() -> None:
    """One line a row, however long it is, in the text of one page."""
    long = "x" * 500
    found = text_page("Scores of default/a", [cell("head"), table(["NODE", "WHY"], [["n1", long], ["n22", "y"]])])
    assert found.startswith("<!DOCTYPE html>")
    lines = found.splitlines()
    assert lines[lines.index("<pre>") + 1 : lines.index("</pre>")] == ["head", "NODE  WHY", f"n1    {long}", "n22   y"]
    assert "<title>Scores of default/a</title>" in lines


@given(text=st.text(max_size=40))
def test_no_name_becomes_markup(text: str) -> None:
    """Tags pair, nothing is fetched, and the page is plain ASCII."""
    found = text_page(text, [cell(text), table([text], [[text]])])
    parsed = Page(found)
    assert parsed.links == []
    assert set(parsed.tags) == {"html", "head", "meta", "title", "style", "body", "main", "h1", "pre"}
    assert found.isascii()
