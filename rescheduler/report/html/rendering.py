"""The templates of pages, with every value escaped, made printable and cut where it is endless."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from typing import NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from rescheduler.model.printable import printable

LONGEST_TEXT = 2000


class Script(NamedTuple):
    """A script or style that stands in the page, and the digest by which the page lets this one in and no other."""

    text: Markup
    digest: str


def page(template: str, title: str, *, script: str = "", **values: object) -> str:
    """A whole page from the template of this name, in ASCII so that it reads the same in every locale.

    ``script``: the name of a template that holds one.
    """
    found = embedded(script) if script else None
    text = environment().get_template(template).render(title=title, script=found, **values)
    return text.encode("ascii", "xmlcharrefreplace").decode() + "\n"


def embedded(name: str) -> Script:
    """A script or style of this name from the folder of templates, as it stands in its file."""
    loader = environment().loader
    assert loader is not None
    text = loader.get_source(environment(), name)[0]
    return Script(Markup(text), b64encode(sha256(text.encode()).digest()).decode())  # noqa: S704 - our own file


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
