"""Tests of open evictions that count in budgets: where, and until a replacement is seen."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.disruption.budgets.coverage import Coverage, Population
from rescheduler.disruption.budgets.open_evictions_counted import unseen
from rescheduler.disruption.pod_kinds import PodKinds
from rescheduler.model.daemon.ledger import LedgerEntry
from rescheduler.policy.fields.budgets import Budget, Per
from tests.builders import NOW, pod
from tests.unit.disruption.budgets.cases import debt, world


def missing(*debts: LedgerEntry, per: Per = Per.WORKLOAD, new: tuple[dict[str, Any], ...] = ()) -> int:
    """How many of these debts are not seen by pods of ``web`` that wait on n0 in a cluster of twelve others."""
    waiting = [
        pod(f"web-new{number}", node="n0", owner="web", labels={"app": "web"}, is_ready=False, **fields)
        for number, fields in enumerate(new)
    ]
    seen = world(*waiting)
    population = Population(seen, PodKinds(seen.pods))
    coverage = Coverage(population, Budget.model_validate({"per": per, "maxUnavailable": 5}))
    return int(unseen(coverage, population, debts, per).sum())


LATER = {"created_at": NOW - 500}


def test_a_debt_is_missing_until_a_new_pod_stands() -> None:
    """Then that one counts as unready instead."""
    assert missing(debt()) == 1
    assert missing(debt(), new=(LATER,)) == 0


def test_a_new_pod_stands_for_one_debt_and_a_debt_for_one_pod() -> None:
    """Two new pods do not make up for a debt that there is not."""
    assert missing(debt(1), debt(2), new=(LATER,)) == 1
    assert missing(debt(), new=(LATER, LATER)) == 0


@pytest.mark.parametrize(("seconds", "expected"), [(-5.0, 0), (-5.5, 1), (-6.0, 1), (0.0, 0), (None, 1)])
def test_a_pod_from_before_the_eviction_is_no_replacement(seconds: float | None, expected: int) -> None:
    """But for five seconds, by which clocks may differ; of unknown age it is none either."""
    assert missing(debt(), new=({"created_at": None if seconds is None else NOW - 600 + seconds},)) == expected


def test_what_a_node_has_lost_stays_lost() -> None:
    """There a replacement is not looked for, even where one stands."""
    assert missing(debt(), per=Per.NODE, new=(LATER,)) == 1


def test_a_debt_without_a_workload_has_no_replacement() -> None:
    """Nobody knows who would make one; a pod without an owner that came later is none either."""
    assert missing(debt(workload=""), per=Per.CLUSTER, new=(LATER,)) == 1
    assert missing(debt(workload=""), per=Per.CLUSTER, new=({**LATER, "owners": ()},)) == 1
