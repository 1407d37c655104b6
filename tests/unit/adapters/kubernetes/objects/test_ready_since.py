"""Since when a pod is Ready."""

from __future__ import annotations

import pytest

from tests.unit.adapters.api_objects import pod_object, read_pod

NOON = "2026-01-01T12:00:00Z"


@pytest.mark.parametrize(
    ("condition", "ready_at"),
    [
        ({"status": "True", "lastTransitionTime": NOON}, 1767268800.0),
        ({"status": "False", "lastTransitionTime": NOON}, None),
        ({"status": "True"}, None),
        ({"status": "True", "lastTransitionTime": "soon"}, None),
    ],
)
def test_it_is_the_last_change_of_a_condition_that_is_true(condition: dict[str, str], ready_at: float | None) -> None:
    """Where it is not, or does not say, nothing is known."""
    found = pod_object("web-0", status={"phase": "Running", "conditions": [{"type": "Ready", **condition}]})
    assert read_pod(found).ready_at == ready_at
