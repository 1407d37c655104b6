"""Why a pod has no node, and since when."""

from __future__ import annotations

from typing import Any

import pytest

from tests.unit.adapters.api_objects import pod_object, read_pod

NOON = "2026-01-01T12:00:00Z"


def scheduled(**condition: str) -> Any:
    """A pending pod with this condition."""
    return pod_object("web-0", status={"phase": "Pending", "conditions": [{"type": "PodScheduled", **condition}]})


@pytest.mark.parametrize(
    ("condition", "word"),
    [
        ({"status": "False", "reason": "Unschedulable", "lastTransitionTime": NOON}, "Unschedulable"),
        ({"status": "False", "reason": "SchedulingGated"}, "SchedulingGated"),
        ({"status": "False"}, "Unschedulable"),
        ({"status": "True", "reason": "Unschedulable"}, ""),
        ({"status": "Unknown"}, ""),
    ],
)
def test_it_is_the_reason_of_a_condition_that_is_false(condition: dict[str, str], word: str) -> None:
    """One without a word of its own is Unschedulable."""
    assert read_pod(scheduled(**condition)).unscheduled == word


@pytest.mark.parametrize(
    ("condition", "at"),
    [
        ({"status": "False", "reason": "Unschedulable", "lastTransitionTime": NOON}, 1767268800.0),
        ({"status": "False", "reason": "Unschedulable", "lastTransitionTime": "soon"}, None),
        ({"status": "False", "reason": "SchedulingGated", "lastTransitionTime": NOON}, 1767268800.0),
        ({"status": "True", "reason": "Unschedulable", "lastTransitionTime": NOON}, None),
    ],
)
def test_the_condition_says_since_when(condition: dict[str, str], at: float | None) -> None:
    """A time that is none is not known, and one that is bound has a node."""
    assert read_pod(scheduled(**condition)).unscheduled_at == at


def test_where_nobody_has_said_anything_nothing_is_known() -> None:
    """Without the condition no scheduler has tried it."""
    assert read_pod(pod_object("web-0", status={"phase": "Pending"})).unscheduled == ""
