"""One part of a page as its template draws it."""

from __future__ import annotations

from rescheduler.report.html.rendering import environment


def drawn(part: str, *values: object) -> str:
    """The HTML of a part from the macro of this name in the template of the same name."""
    macro = getattr(environment().get_template(f"plan/{part}.html").module, part)
    return str(macro(*values)).strip()
