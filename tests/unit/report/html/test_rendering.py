"""Templates: whatever a value holds is escaped, a name that is missing is an error, and they load late."""

from __future__ import annotations

import subprocess
import sys

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from rescheduler.report.html.rendering import LONGEST_TEXT, environment, page


@pytest.mark.parametrize("name", environment().list_templates(extensions=["html"]))
def test_no_template_turns_escaping_off(name: str) -> None:
    """One rule for every value, and none that a template could break."""
    source = (environment().loader.get_source(environment(), name))[0]  # type: ignore[union-attr]
    assert "safe" not in source.split()
    assert "autoescape" not in source


def test_values_are_escaped_printable_and_cut() -> None:
    """In texts and in attributes; markup of a template itself stays."""
    shown = environment().from_string('<i title="{{ value }}">{{ value }}</i>').render
    assert shown(value="<b>\"'") == '<i title="&lt;b&gt;&#34;&#39;">&lt;b&gt;&#34;&#39;</i>'
    assert "\\u202e" in shown(value="\u202e")
    assert shown(value="x" * (LONGEST_TEXT + 1)).endswith(f">{'x' * LONGEST_TEXT}...</i>")
    assert shown(value=Markup("<b>")) == '<i title="<b>"><b></i>'


def test_a_name_that_a_template_does_not_get_is_an_error() -> None:
    """Not an empty place in a page."""
    with pytest.raises(UndefinedError, match="lines"):
        page("text.html", "x")


def test_a_plan_that_is_not_written_as_html_loads_no_templates() -> None:
    """Start-up pays for what a command needs."""
    code = (
        "import sys; from rescheduler.cli.main import main;"
        "code = main(['plan', '-f', 'docs/examples/small.json', '-o', 'json']);"
        "assert 'jinja2' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
