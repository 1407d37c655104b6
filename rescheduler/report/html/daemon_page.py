"""The daemon's page: ten answers for whoever is on call, what may be pressed, and tables with the rest.

It is one document without any resource of others; ``templates/daemon/script.js`` is its only script, and that of the
page by which ``rescheduler ui`` opens it in a browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from rescheduler.report.html.rendering import Script, embedded, environment

STYLE: Final = "daemon/style.css"
SCRIPT: Final = "daemon/script.js"
MOST_OPEN: Final = 12


class OnCallAnswer(NamedTuple):
    """What a person asks, a word and sentences that answer it, and commands that help. ``tone``: good, bad or ""."""

    name: str
    question: str
    word: str
    sentences: Sequence[str] = ()
    commands: Sequence[str] = ()
    tone: str = ""


class Listed(NamedTuple):
    """A table that a click opens, if it is long. ``left_out``: how many more rows there are.

    ``none``: what is said without any; ``notes``: sentences above it.
    """

    name: str
    title: str
    headings: Sequence[str]
    rows: Sequence[Sequence[str]]
    left_out: int = 0
    none: str = "none"
    notes: Sequence[str] = ()

    @property
    def is_open(self) -> bool:
        """Whether it is short enough to stand open."""
        return 0 < len(self.rows) <= MOST_OPEN


class Buttons(NamedTuple):
    """What the caller may press now. ``switch_tag``, ``plan_tag``: what If-Match names; ``plan``: waits for a yes.

    ``notes``: why there is nothing to press.
    """

    may_pause: bool = False
    may_resume: bool = False
    switch_tag: str = ""
    plan: str = ""
    plan_tag: str = ""
    notes: Sequence[str] = ()


class DaemonView(NamedTuple):
    """Everything that is shown. ``made_at``: by the daemon's clock, in UTC."""

    title: str
    made_at: str
    facts: Sequence[tuple[str, str]]
    answers: Sequence[OnCallAnswer]
    controls: Buttons
    tables: Sequence[Listed]


def daemon_page(view: DaemonView) -> str:
    """The page as HTML, in ASCII."""
    return _rendered("daemon/page.html", view=view)


def shell_page(title: str) -> str:
    """An empty page whose script brings the daemon's page into it, once it has shown the secret of its address."""
    return _rendered("daemon/shell.html", title=title)


@cache
def content_security_policy() -> str:
    """The header's value for both pages: our style, our script, answers of the same server, and nothing else."""
    style, script = embedded(STYLE), embedded(SCRIPT)
    return (
        f"default-src 'none'; style-src 'sha256-{style.digest}'; script-src 'sha256-{script.digest}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _rendered(template: str, **values: object) -> str:
    parts: dict[str, Script] = {"style": embedded(STYLE), "script": embedded(SCRIPT)}
    text = environment().get_template(template).render(**parts, **values)
    return text.encode("ascii", "xmlcharrefreplace").decode() + "\n"
