"""Label selectors as kubectl reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.cli.options import parse_label_selector
from rescheduler.model.objects.constraints import Requirement


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("app=web", [("app", "In", ("web",))]),
        ("app==web", [("app", "In", ("web",))]),
        ("app!=web", [("app", "NotIn", ("web",))]),
        ("app=", [("app", "In", ("",))]),
        ("app", [("app", "Exists", ())]),
        ("!app", [("app", "DoesNotExist", ())]),
        ("app in (b, a,a)", [("app", "In", ("a", "b"))]),
        ("app notin (a)", [("app", "NotIn", ("a",))]),
        ("size>1,size < -3", [("size", "Gt", ("1",)), ("size", "Lt", ("-3",))]),
        (
            "a.b/app=web, tier in (x,y) ,!old,new",
            [
                ("a.b/app", "In", ("web",)),
                ("tier", "In", ("x", "y")),
                ("old", "DoesNotExist", ()),
                ("new", "Exists", ()),
            ],
        ),
        ("", []),
        ("  ", []),
    ],
)
def test_every_form_is_read(text: str, wanted: list[tuple[str, str, tuple[str, ...]]]) -> None:
    """Equality, sets and presence, several joined by commas; nothing selects everything."""
    assert list(parse_label_selector(text).requirements) == [Requirement(*rule) for rule in wanted]


@pytest.mark.parametrize(
    "text", ["=a", "a=b=c", "a in", "a in b", "a in (", "a b", "a,", ",a", "a,,b", "a=(b)", "a>b", "ä=b"]
)
def test_what_is_no_selector_shows_the_forms(text: str) -> None:
    """The message shows what may be written."""
    with pytest.raises(ValueError, match="write key=value"):
        parse_label_selector(text)


@given(st.text(max_size=60))
def test_no_text_ends_in_anything_but_rules_or_a_message(text: str) -> None:
    """Whatever is typed either is a selector or a ValueError."""
    try:
        rules = parse_label_selector(text).requirements
    except ValueError:
        return
    assert all(rule.key for rule in rules)
