"""Selectors over many objects at once agree with selectors over one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.columns.selectors import (
    LabelTable,
    NodeTable,
    as_integer,
    describe,
    holds,
    read_selector,
    selects,
)
from rescheduler.model.objects.constraints import LabelSelector, NodeSelectorTerm, Requirement
from rescheduler.policy.fields.selectors import PolicySelector
from tests.builders import node

# Tests of selectors as policies write them.


def written(text: str) -> LabelSelector:
    """A selector from a policy's JSON."""
    return read_selector(PolicySelector.model_validate_json(text))


@pytest.mark.parametrize(
    ("text", "labels", "picked"),
    [
        ("{}", {}, True),
        ('{"matchLabels": {"a": "1", "b": "2"}}', {"a": "1", "b": "2", "c": "3"}, True),
        ('{"matchLabels": {"a": "1", "b": "2"}}', {"a": "1"}, False),
        ('{"matchExpressions": [{"key": "a", "operator": "In", "values": ["1", "2"]}]}', {"a": "2"}, True),
        ('{"matchExpressions": [{"key": "a", "operator": "NotIn", "values": ["1"]}]}', {}, True),
        ('{"matchExpressions": [{"key": "a", "operator": "Exists"}]}', {"a": ""}, True),
        ('{"matchExpressions": [{"key": "a", "operator": "DoesNotExist"}]}', {"a": ""}, False),
        ('{"matchLabels": {"a": "1"}, "matchExpressions": [{"key": "b", "operator": "Exists"}]}', {"a": "1"}, False),
    ],
)
def test_a_policys_selector_picks_as_kubernetes_would(text: str, labels: dict[str, str], *, picked: bool) -> None:
    """All rules must hold; none at all picks everything."""
    assert selects(written(text), labels) == picked


def test_an_absent_selector_picks_nothing() -> None:
    """None is not the same as empty."""
    assert not selects(None, {"a": "1"})


def test_selectors_are_described_as_kubectl_writes_them() -> None:
    """People know this form."""
    rules = (
        Requirement("a", "In", ("1",)),
        Requirement("b", "In", ("1", "2")),
        Requirement("c", "NotIn", ("1",)),
        Requirement("d", "Exists"),
        Requirement("e", "DoesNotExist"),
    )
    assert describe(LabelSelector(rules)) == "a=1,b in (1,2),c notin (1),d,!e"
    assert describe(LabelSelector()) == "everything"


KEYS = st.sampled_from(("a", "b", "absent"))
VALUES = st.sampled_from(("", "1", "2", "x"))
OPERATORS = st.sampled_from(("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Resembles"))
RULES = st.lists(st.builds(Requirement, KEYS, OPERATORS, st.lists(VALUES, max_size=2).map(tuple)), max_size=3)
LABELS = st.lists(st.dictionaries(st.sampled_from(("a", "b")), VALUES), min_size=1, max_size=8)


@given(labels=LABELS, rules=RULES)
def test_a_table_answers_as_each_object_would(labels: list[dict[str, str]], rules: list[Requirement]) -> None:
    """Masks and positions, all objects and some of them, for known and unknown operators."""
    table = LabelTable(labels)
    expected = [all(holds(rule, one.get(rule.key)) for rule in rules) for one in labels]
    assert table.matching(rules).tolist() == expected
    assert table.positions(rules).tolist() == np.flatnonzero(expected).tolist()
    some = np.arange(0, len(labels), 2)
    assert table.positions(rules, some).tolist() == [number for number in some if expected[number]]


@pytest.mark.parametrize(
    ("operator", "values", "value", "expected"),
    [
        ("In", ("x", "y"), "x", True),
        ("In", ("x",), None, False),
        ("In", (), "x", False),
        ("NotIn", ("x",), "x", False),
        ("NotIn", ("x",), None, True),
        ("NotIn", (), "x", True),
        ("Exists", (), "", True),
        ("Exists", (), None, False),
        ("DoesNotExist", (), None, True),
        ("DoesNotExist", (), "", False),
        ("Gt", ("5",), "10", True),
        ("Gt", ("5",), "5", False),
        ("Lt", ("5",), "-7", True),
        ("Lt", ("5",), None, False),
        ("Gt", ("5.0",), "6", False),
        ("Gt", ("5",), "6 ", False),
        ("Gt", ("5",), "1_0", False),
        ("Gt", (), "6", False),
        ("in", ("x",), "x", False),
    ],
)
def test_rules_hold_as_kubernetes_has_it(
    operator: str, values: tuple[str, ...], value: str | None, expected: bool
) -> None:
    """Absent labels satisfy the negative rules only; Gt and Lt need one whole number on either side."""
    assert holds(Requirement("k", operator, values), value) is expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12), ("+12", 12), ("-0", 0), ("9223372036854775807", 2**63 - 1), ("-9223372036854775808", -(2**63)),
        ("9223372036854775808", None), ("1" * 40, None), ("", None), ("1e3", None), ("٣", None), (" 1", None),
    ],
)  # fmt: skip
def test_only_64_bit_decimal_integers_are_numbers(text: str, value: int | None) -> None:
    """What the scheduler's own parser takes, and nothing that Python would take besides."""
    assert as_integer(text) == value


def test_demands_are_kept_by_value() -> None:
    """Pods that ask for the same share one array."""
    table = NodeTable([node("n1", labels={"disk": "ssd"}), node("n2")])
    terms = (NodeSelectorTerm((Requirement("disk", "Exists"),)),)
    first = table.demanded((("disk", "ssd"),), terms)
    assert first.tolist() == [True, False]
    assert table.demanded((("disk", "ssd"),), (NodeSelectorTerm((Requirement("disk", "Exists"),)),)) is first
    assert table.demanded((), None).tolist() == [True, True]
