"""Examples of docs/disruption-budgets.md and the policy of nightly windows do what they say."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from rescheduler.daemon.plugins import load_policy, parse_policy
from rescheduler.disruption.budgets.windows import closure_at
from rescheduler.policy.fields.policy import Permission, Policy
from tests.paths import ROOT

PAGE = (ROOT / "docs" / "disruption-budgets.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)


def nightly() -> Policy:
    """The policy that is shipped."""
    return load_policy([ROOT / "policies" / "nightly-window.yaml"])


@pytest.mark.parametrize("text", EXAMPLES)
def test_every_example_is_a_policy_with_budgets(text: str) -> None:
    """As it stands on the page."""
    assert parse_policy(text).disruption.budgets


def test_the_page_has_examples_and_names_every_field() -> None:
    """Of budgets and of windows."""
    assert len(EXAMPLES) >= 4
    for field in (
        "namespaces",
        "labelSelector",
        "per",
        "maxUnavailable",
        "maxMoving",
        "rate",
        "windows",
        "slo",
        "name",
    ):
        assert f"`{field}`" in PAGE


@pytest.mark.parametrize(
    ("time", "is_open"),
    [
        ("2026-06-03 12:00", False),  # a Wednesday at noon
        ("2026-06-03 20:30", True),  # 22:30 in Berlin
        ("2026-06-06 10:00", True),  # a Saturday
        ("2026-05-31 22:30", False),  # 00:30 of the first in Berlin
    ],
)
def test_the_example_of_windows_is_open_when_its_comments_say(time: str, is_open: bool) -> None:
    """Weekday nights and weekends, but not the first of the month."""
    (budget, _) = parse_policy(EXAMPLES[0]).disruption.budgets
    moment = datetime.fromisoformat(time).replace(tzinfo=UTC).timestamp()
    assert (closure_at(budget.all_windows, moment) is None) is is_open


@pytest.mark.parametrize(("hour", "is_open"), [(8, False), (12, False), (20, True), (23, True), (2, True), (3, False)])
def test_the_nightly_policy_moves_at_night_only(hour: int, is_open: bool) -> None:
    """From 22:00 to 05:00 in Berlin, which in June is 20:00 to 03:00 UTC."""
    (nights,) = [budget for budget in nightly().disruption.budgets if budget.name == "nights"]
    moment = datetime(2026, 6, 16, hour, tzinfo=UTC).timestamp()
    assert (closure_at(nights.all_windows, moment) is None) is is_open


def test_the_nightly_policy_is_careful() -> None:
    """Few in an hour and in a day, few of a node at once, and no workload that is being changed."""
    policy = nightly()
    rates = {
        (budget.per.value, budget.rate.max_evictions, budget.rate.window)
        for budget in policy.disruption.budgets
        if budget.rate is not None
    }
    assert {("Cluster", 20, 3600.0), ("Cluster", 100, 86400.0), ("Workload", 2, 3600.0)} <= rates
    assert policy.disruption.unsettled is Permission.DENY
    assert policy.scope.minimum_age >= 600
