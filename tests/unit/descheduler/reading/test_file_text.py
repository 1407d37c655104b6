"""The text of a file as the libraries take it that descheduler reads with: YAML 1.1, and nothing as a zero value."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.descheduler.reading.file_text import plain_value, read_document, with_zero_values
from rescheduler.descheduler.reading.go_url import url_problem
from rescheduler.policy.reading.errors import PolicyError


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", True), ("On", True), ("y", True), ("no", False), ("OFF", False), ("n", False), ("true", True),
        ("~", None), ("", None), ("Null", None), ("yES", "yES"), ("nothing", "nothing"),
        ("010", 8), ("0o10", 8), ("0x1F", 31), ("0b11", 3), ("-0b11", -3), ("1_000", 1000), ("+3", 3), ("08", 8),
        ("100.0", 100), ("1e2", 100), ("1.5", 1.5), (".5", 0.5), ("1.", 1), ("1e30", 1e30), ("1:30", "1:30"),
        ("2026-01-01", "2026-01-01"), ("18446744073709551615", 2**64 - 1), ("18446744073709551616", 2**64),
        ("5d", "5d"), ("-", "-"), (".", "."), ("0x", "0x"), ("9" * 400, "9" * 400), ("1e999", "1e999"), ("٣", "٣"),
        ("1٣", "1٣"), ("<<", "<<"),
    ],
)  # fmt: skip
def test_words_and_numbers_of_yaml_1_1(text: str, value: Any) -> None:
    """``off`` is false, a leading zero means base 8, and a float that is whole fits where a whole number is wanted."""
    found = plain_value(text)
    assert (found, type(found)) == (value, type(value))


def test_maps_are_merged() -> None:
    """What stands below ``<<`` comes in, and what is written out after it wins; of several maps the first one."""
    document, _ = read_document("a: &a {x: 1, y: 1}\nb: &b {x: 2, z: 2}\nc: {<<: [*a, *b], y: 3}", "d.yaml")
    assert document.data["c"] == {"x": 1, "y": 3, "z": 2}
    with pytest.raises(PolicyError, match="takes a map"):
        read_document("a: {<<: 5}", "d.yaml")


@pytest.mark.parametrize("behind", ["---\na: b", "---\na: [", "---"])
def test_what_stands_behind_the_document_is_read_over_and_named(behind: str) -> None:
    """It need be no YAML."""
    document, findings = read_document(f"a: 1\n{behind}\n", "d.yaml")
    assert document.data == {"a": 1}
    assert [finding.text for finding in findings] == ["a second document, and is read over"]
    assert read_document("a: 1\n", "d.yaml")[1] == []


def test_nothing_is_a_field_that_is_left_out_or_a_zero_value() -> None:
    """In a list, and in maps whose keys are not ours."""
    data = {
        "profiles": [None],
        "nodeSelector": None,
        "exitCodes": [None],
        "states": [None],
        "thresholds": {"cpu": None},
    }
    assert with_zero_values(data) == {"profiles": [{}], "exitCodes": [0], "states": [""], "thresholds": {"cpu": 0}}


@pytest.mark.parametrize(
    "text",
    ["http://prometheus:9090/x?y#z", "prometheus:9090", "x", "/x", "//host", "http://[::1]:9", "http://a:", "x%20y"],
)
def test_an_address_that_go_parses_is_taken(text: str) -> None:
    """Whether or not it leads anywhere."""
    assert url_problem(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("127.0.0.1:9090", "has no scheme"), (":9090", "begins with a colon"), ("http://[::1", "lacks the bracket"),
        ("http://a:b", "':b' is no port"), ("http://a b/", "no host has"), ("%zz", "without two hexadecimal"),
        ("http://a/%z", "without two hexadecimal"), ("http://a\n", "control character"),
    ],
)  # fmt: skip
def test_an_address_that_go_does_not_parse_is_refused(text: str, said: str) -> None:
    """In words that say what to write."""
    assert said in (url_problem(text) or "")
