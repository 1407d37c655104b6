"""What a person who approves is told, when nothing could be carried out now."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.daemon.steering.objections import timed_objection
from rescheduler.daemon.steering.steering_errors import ObjectionError
from rescheduler.model.daemon.ledger import Breaker, Ledger
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW, cluster, node, pod
from tests.unit.daemon.plans import plan

WORLD = cluster(node("n1"), node("n2"), pod("a", node="n1"), pod("b", node="n1", namespace="other"))


def objection(ledger: Ledger | None = None, **policy: Any) -> ObjectionError | None:
    """To a plan that moves pod a."""
    return timed_objection(plan("a"), Policy.model_validate(policy), WORLD, ledger or Ledger())


def budget(**fields: Any) -> dict[str, Any]:
    """A policy with one budget."""
    return {"disruption": {"budgets": (fields,)}}


def test_nothing_speaks_against_a_plan_in_a_calm_cluster() -> None:
    """The gate has the last word all the same."""
    assert objection() is None


@pytest.mark.parametrize(
    ("breaker", "until"),
    [
        (Breaker(opened_at=NOW - 600, openings=1, reason="2 failed"), NOW + 3000),
        (Breaker(opened_at=NOW - 600, openings=2, reason="2 failed"), None),
        (Breaker(opened_at=NOW - 600, openings=1, reason="2 failed", trial=7), None),
    ],
)
def test_an_open_breaker_says_when_one_eviction_is_tried(breaker: Breaker, until: float | None) -> None:
    """Where a person has to close it, or a trial runs, no time can be named."""
    found = objection(Ledger(breaker=breaker))
    assert found is not None
    assert "the circuit breaker is open: 2 failed" in str(found)
    assert found.until == until


def test_a_breaker_that_allows_its_trial_is_no_objection() -> None:
    """One eviction is due."""
    assert objection(Ledger(breaker=Breaker(opened_at=NOW - 7200, openings=1, reason="x"))) is None


def test_outside_of_a_window_the_next_opening_is_told() -> None:
    """For budgets that a pod of the plan counts in."""
    window: dict[str, Any] = {"schedule": "0 3 1 1 *", "duration": 3600.0, "time_zone": "UTC", "name": "night"}
    found = objection(**budget(**window, namespaces=("default",)))
    assert found is not None
    assert "budget night, which default/a counts in, is outside of its windows" in str(found)
    assert found.until is not None
    assert found.until > NOW
    assert objection(**budget(**window, namespaces=("other",))) is None
    assert objection(**budget(**window, label_selector={"match_labels": {"app": "else"}})) is None
    assert objection(**budget(**window, label_selector={"match_labels": {"app": "a"}})) is not None
