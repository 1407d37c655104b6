"""Tests of selectors as policies write them."""

from __future__ import annotations

import pytest

from rescheduler.model.constraints import LabelSelector, Requirement
from rescheduler.model.label_selectors import describe, read_selector, selects
from rescheduler.policy.selectors import PolicySelector


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
