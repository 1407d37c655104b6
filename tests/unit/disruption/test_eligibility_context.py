"""Tests of what rules look at beside the pod: it is one cluster under one policy, and stays so."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from rescheduler.disruption.eligibility import explain_pod
from rescheduler.disruption.eligibility_context import EligibilityContext
from rescheduler.policy.fields.policy import Policy
from tests.builders import cluster, node, pod, workload
from tests.unit.disruption.ledgers import entry, ledger

SEEN = cluster(node("n1", cpu="64"), workload("web", 10), *(pod(f"web-{n}", node="n1") for n in range(10)))


def test_what_was_counted_once_stays_right() -> None:
    """Nothing of a context changes after what is looked up in it; two of them are never taken for one."""
    context = EligibilityContext(SEEN, Policy())
    with pytest.raises(FrozenInstanceError):
        context.stop = "everything"  # type: ignore[misc]
    assert context != EligibilityContext(SEEN, Policy())


def test_what_binds_daemons_alone_binds_nobody_who_does_not_say_so() -> None:
    """Earlier moves that came to nothing, here."""
    past = ledger(entry(ago=60, landed_on="n3"))
    told = [
        [found.rule for found in explain_pod(EligibilityContext(SEEN, Policy(), ledger=past, **options), SEEN.pods[0])]
        for options in ({}, {"is_daemon": True})
    ]
    assert told == [[], ["BackOff"]]
