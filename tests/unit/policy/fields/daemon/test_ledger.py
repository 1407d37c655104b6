"""The ledger in a policy: its name, how long it keeps what, and which budgets rest on it."""

from __future__ import annotations

import pytest

from rescheduler.policy.fields.policy import counted_seconds, keep_seconds, needs_ledger
from tests.unit.policy.policies import policy, problem

DAY = 86400.0


def test_by_default_it_is_kept_for_as_long_as_back_offs_need_it() -> None:
    """Which is longer than a day: a back-off of a day is doubled from one of a day before."""
    found = policy()
    assert (found.ledger.name, found.ledger.keep) == ("rescheduler-ledger", DAY)
    assert keep_seconds(found) == counted_seconds(found) == 2 * DAY


def test_it_is_kept_longer_where_that_is_asked_for() -> None:
    """But what is kept longer does not count longer."""
    found = policy("ledger: {name: book, keep: 240h}")
    assert (found.ledger.name, keep_seconds(found), counted_seconds(found)) == ("book", 10 * DAY, 2 * DAY)


def test_it_is_never_kept_for_less_than_a_rate_counts() -> None:
    """The longest window of all budgets."""
    rates = "[{rate: {maxEvictions: 1, window: 1h}}, {rate: {maxEvictions: 5, window: 168h}}, {maxUnavailable: 2}]"
    found = policy(f"ledger: {{keep: 1m}}\ndisruption: {{budgets: {rates}}}")
    assert keep_seconds(found) == counted_seconds(found) == 7 * DAY


@pytest.mark.parametrize(
    ("budget", "is_needed"),
    [("maxUnavailable: 2", False), ("maxMoving: 2", True), ("rate: {maxEvictions: 1, window: 1h}", True)],
)
def test_budgets_that_count_evictions_need_it(budget: str, is_needed: bool) -> None:
    """Those that look at the pods as they stand do not."""
    assert needs_ledger(policy(f"disruption: {{budgets: [{{{budget}}}]}}"), is_daemon=False) is is_needed
    assert not needs_ledger(policy(), is_daemon=False)


NO_RATES = "perHour: unlimited, perDay: unlimited, perWorkloadPerHour: unlimited"


@pytest.mark.parametrize(
    ("rates", "by_run", "by_a_person"),
    [("", True, False), ("perDay: 50", True, True), (NO_RATES, False, False)],
)
def test_rates_need_it_where_they_bind(rates: str, by_run: bool, by_a_person: bool) -> None:
    """Those that stand by default bind ``run`` alone, so that only it cannot do without."""
    found = policy(f"disruption: {{rates: {{{rates}}}}}")
    assert needs_ledger(found, is_daemon=True) is by_run
    assert needs_ledger(found, is_daemon=False) is by_a_person


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("ledger: {name: Bad Name}", "ledger.name: found 'Bad Name'; wanted a name of lower-case letters"),
        ("ledger: {name: a/b}", "ledger.name: found 'a/b'"),
        ("ledger: {keep: 0s}", "ledger.keep: '0s' leaves no time at all"),
        ("ledger: {keep: 24}", "ledger.keep: 24 is not a duration"),
        ("ledger: {keeep: 24h}", "ledger.keeep: unknown field; did you mean keep?"),
        ("ledger: book", "ledger:"),
    ],
)
def test_each_mistake_is_told_with_its_place(body: str, text: str) -> None:
    """As everywhere in a policy."""
    assert text in problem(body)
