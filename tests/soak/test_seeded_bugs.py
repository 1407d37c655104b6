"""The checkers find what is wrong: deliberate bugs in gate, ledger, executor and budgets do not get through a run.

All of them: ``python -m tests.soak.seeded_bugs``. A few that are found at once belong to the fast tests; of the others
a slow run takes ten at a time, by the number of the round in ``SEEDED_BUGS_ROUND``.
"""

from __future__ import annotations

import os

import pytest

from rescheduler.execution.ledger import open_evictions as debts
from tests.soak.seeded_bugs.catalogue import BUGS
from tests.soak.seeded_bugs.hunting import hunt
from tests.soak.seeded_bugs.seams import SeamGoneError, changed, without_rules

QUICK = ("no uid", "accepted is repaid", "intent afterwards", "one number for all")
SHARE = 10
FIRST = SHARE * int(os.environ.get("SEEDED_BUGS_ROUND", "0"))
ROTATING = [list(BUGS)[(FIRST + number) % len(BUGS)] for number in range(SHARE)]


@pytest.mark.parametrize("name", QUICK)
def test_a_bug_is_found_at_once(name: str) -> None:
    """Within ten simulated hours, and by a checker that finds nothing without the bug."""
    assert hunt(BUGS[name], most_hours=10.0).violation is not None


@pytest.mark.e2e
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ROTATING)
def test_a_bug_is_found(name: str) -> None:
    """Within fifty simulated hours."""
    assert hunt(BUGS[name]).violation is not None


def test_every_bug_can_be_sown_and_leaves_nothing_behind() -> None:
    """Each seam is there, and is as before afterwards."""
    before = (debts.settled, debts.READY_SECONDS)
    for bug in BUGS.values():
        with bug.sow():
            pass
    assert (debts.settled, debts.READY_SECONDS) == before
    assert len(BUGS) >= 40


def test_a_seam_that_is_gone_is_told() -> None:
    """A bug that changes nothing would never be missed."""
    with pytest.raises(SeamGoneError, match="has no NO_SUCH_THING"), changed(debts, "NO_SUCH_THING", lambda _: 0)():
        pass
    with pytest.raises(SeamGoneError, match="NoSuchRule"), without_rules("NoSuchRule")():
        pass
