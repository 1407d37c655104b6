"""The gate keeps the policy's budgets: with what the ledger tells, at the time of the fresh snapshot."""

from __future__ import annotations

from typing import Any

from rescheduler.disruption.gate.policy_gate import PolicyGate
from rescheduler.model.daemon.ledger import EMPTY_LEDGER, Ledger
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.permit import Permit
from rescheduler.model.plan.plan import Move, PodReference, Refusal
from tests.builders import NOW
from tests.unit.disruption.budgets.cases import OPEN, debt, entry, ledger, world
from tests.unit.disruption.cases import policy


def move(number: int) -> Move:
    """``web-NUMBER`` goes to another node."""
    reference = PodReference("default", f"web-{number:02d}", f"uid-default-web-{number:02d}")
    return Move(reference, f"n{number % 4}", f"n{(number + 1) % 4}", 1, "MakeRoom", "room")


def asked(
    cluster: Cluster, numbers: list[int], *budgets: dict[str, Any], seen: Ledger = EMPTY_LEDGER
) -> list[str | None]:
    """What the gate says to each of these moves; None: a permit."""
    gate = PolicyGate(policy(disruption={**OPEN, "budgets": list(budgets)}))
    verdicts = gate.permit([move(number) for number in numbers], cluster, [], seen)
    assert all(isinstance(verdict, Permit | Refusal) for verdict in verdicts)
    return [verdict.message if isinstance(verdict, Refusal) else None for verdict in verdicts]


RATE = {"name": "slow", "rate": {"maxEvictions": 3, "window": "1h"}}


def test_a_rate_permits_what_its_window_leaves() -> None:
    """One was sent ten minutes ago, so two of four may go; the refusal names budget and numbers."""
    found = asked(world(), [0, 1, 2, 3], RATE, seen=ledger(entry()))
    refusal = "would be eviction 3 of budget slow, which allows 2 now (1 of 3 evictions in 1h are used)"
    assert found == [None, None, f"default/web-02 {refusal}", f"default/web-03 {refusal}"]


def test_a_rate_that_others_used_up_meanwhile_permits_nothing() -> None:
    """Whoever sent them: the ledger tells."""
    seen = ledger(*(entry(number) for number in range(3)))
    (only,) = asked(world(), [0], RATE, seen=seen)
    assert only is not None
    assert "budget slow, whose rate is used up: 3 of 3 evictions in 1h are used" in only


def test_a_window_that_closed_after_planning_stops_the_wave() -> None:
    """The fresh snapshot is of two minutes past six."""
    night = {"name": "night", "schedule": "0 22 * * *", "duration": "10h", "timeZone": "UTC"}
    assert asked(world(taken_at=NOW - 120), [0], night) == [None]
    (only,) = asked(world(taken_at=NOW + 120), [0], night)
    assert only is not None
    assert "budget night, which is outside of its windows; it opens at 2027-01-15 22:00 UTC" in only


def test_debts_of_other_plans_leave_less() -> None:
    """Two of a node at once, and one is on the move already."""
    found = asked(world(), [0, 4, 1], {"per": "Node", "maxMoving": 2}, seen=ledger(debt()))
    assert [message is None for message in found] == [True, False, True]


def test_a_pod_in_debt_is_not_sent_again() -> None:
    """However healthy it looks."""
    seen = ledger(debt(pod=PodReference("default", "web-00", "uid-default-web-00")))
    (only,) = asked(world(), [0], seen=seen)
    assert only is not None
