"""Hostile and broken YAML is refused at its place, quickly and without being built."""

from __future__ import annotations

import pytest

from rescheduler.policy.reading.policy_text import MOST_BYTES, read_document
from tests.unit.policy.policies import HEAD, policy, problem, problems


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n", "null\n", "\n\n"])
def test_an_empty_policy_says_that_nothing_would_be_moved(text: str) -> None:
    """Nothing, comments alone and an empty document are named as such."""
    assert problems(text) == ["p.yaml: the policy is empty: nothing would ever be moved; write apiVersion and kind"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\xff\xfek\x00", "p.yaml: not UTF-8 at byte 0 (it looks like UTF-16); save the file as UTF-8"),
        (b"kind: \xe9", "p.yaml: not UTF-8 at byte 6; save the file as UTF-8"),
        (b"x" * (MOST_BYTES + 1), "p.yaml: larger than 1024 KiB; a policy is a few lines"),
    ],
)
def test_bytes_that_are_no_policy_text(raw: bytes, text: str) -> None:
    """Wrong encodings name the byte; a file that is too large is not parsed."""
    assert [str(one) for one in read_document("p.yaml", raw).problems] == [text]


def test_a_byte_order_mark_is_accepted() -> None:
    """An editor's mark at the beginning changes nothing."""
    document = read_document("p.yaml", b"\xef\xbb\xbf" + HEAD.encode())
    assert (document.data["kind"], document.problems) == ("ReschedulerPolicy", [])


def test_a_tab_is_shown_where_it_stands() -> None:
    """Line, column and the line itself with a marker."""
    (found,) = problems("limits:\n\tdeadline: 5s\n")
    assert found == "p.yaml:2:1: not YAML: a tab stands where YAML wants spaces\n    \\tdeadline: 5s\n    ^"


def test_a_syntax_error_points_into_its_line() -> None:
    """The marker stands under the column that is named."""
    (found,) = problems("limits: {deadline: 5s\nscope: ]\n")
    place, source, marker = found.splitlines()
    assert place.startswith("p.yaml:2:")
    column = int(place.split(":")[2])
    assert source.strip() in "scope: ]"
    assert marker.index("^") - 4 == column - 1


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("---\nkind: x\n", "p.yaml:3:1: only one document is allowed; a second one starts at line 3"),
        ("limits: &a {deadline: 5s}\n", "anchors are not allowed"),
        ("limits: *a\n", "aliases are not allowed"),
        ("mode: !!python/object/apply:os.system [id]\n", "is not allowed; write plain values"),
        ("mode: !mine x\n", "the tag !mine is not allowed"),
        ("mode: !!str DryRun\n", "is not allowed; write plain values"),
        ("<<: {mode: DryRun}\n", "merge keys are not allowed"),
        ("? [a]\n: b\n", "a list or a map cannot be a key"),
        ("x: " + "[" * 100_000, "nested deeper than 20 levels"),
        ("x: [" + "a, " * 11_000 + "]", "more than 10,000 entries"),
        ("mode: '\x01'\n", "the character '\\x01' may not stand in YAML"),
    ],
)
def test_what_a_policy_needs_not_is_refused(body: str, text: str) -> None:
    """Second documents, aliases, tags, merges and bombs stop the reading."""
    assert text in problem(body)


def test_an_alias_bomb_is_refused_at_its_first_anchor() -> None:
    """Nothing is expanded: the first anchor already ends the reading."""
    bomb = "a: &a [x, x]\n" + "".join(f"b{i}: &b{i} [*a, *a]\n" for i in range(50))
    assert problems(bomb) == ["p.yaml:1:4: a: anchors are not allowed; write the value out where it is used"]


def test_a_field_given_twice_names_both_lines() -> None:
    """Neither the first nor the last silently wins."""
    assert problem("limits: {deadline: 5s}\nmode: DryRun\nlimits: {deadline: 6s}\n") == (
        "p.yaml:5:1: limits: the same field twice, at lines 3 and 5; keep one"
    )


@pytest.mark.parametrize("number", ["010", "1:30", "12_000", "0x10", "+5", "1234567890123456789"])
def test_numbers_that_yaml_would_reinterpret_are_refused(number: str) -> None:
    """Octal, base 60, underscores and the like are never turned into another number."""
    assert problem(f"limits: {{maxEvictions: {number}}}\n") == (
        f"p.yaml:3:24: limits.maxEvictions: {number} is no number in its plain form; "
        "write a plain number such as 20, or put quotes round a text"
    )


@pytest.mark.parametrize("number", [".nan", ".inf", "-.inf", ".NaN"])
def test_numbers_that_are_none_are_refused(number: str) -> None:
    """No field takes a number that is not finite."""
    assert "no finite number" in problem(f"scope: {{priorityBelow: {number}}}\n")


def test_an_empty_section_means_its_defaults() -> None:
    """A heading whose lines are all commented out changes nothing."""
    assert policy("limits:\n  # deadline: 5s\nmode: ~\n") == policy()
