"""The templates of pages, with every value escaped, made printable and cut where it is endless."""

from __future__ import annotations

from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rescheduler.model.printable import printable

LONGEST_TEXT = 2000


def page(template: str, title: str, **values: object) -> str:
    """A whole page from the template of this name, in ASCII so that it reads the same in every locale."""
    text = environment().get_template(template).render(title=title, **values)
    return text.encode("ascii", "xmlcharrefreplace").decode() + "\n"


@cache
def environment() -> Environment:
    """The templates beside this module; a name that a template does not get is an error."""
    return Environment(
        loader=PackageLoader("rescheduler.report.html"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _shown(value: object) -> object:
    """Markup as it is; texts of a cluster without characters that do not print, and not endless."""
    return value if isinstance(value, Markup) else printable(str(value), LONGEST_TEXT)
