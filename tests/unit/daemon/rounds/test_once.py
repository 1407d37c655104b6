"""``--once``: when it gives up, and when its round counts as failed."""

from __future__ import annotations

import pytest

from rescheduler.daemon.rounds.once import ONCE_SECONDS, Once, RoundFailedError
from rescheduler.extension_points import ClusterError
from rescheduler.model.daemon.rounds import RoundReport
from rescheduler.model.plan.plan import Plan, PlanResult, SnapshotSummary
from tests.builders import NOW
from tests.clocks import FakeClock

PLAN = Plan(SnapshotSummary(taken_at=None, nodes=1, pods=1, pending_pods=0, source="test"))


def report(reason: str = "", *, plan: Plan | None = PLAN, is_carried_out: bool = True) -> RoundReport:
    """One round."""
    result = PlanResult(PLAN.snapshot) if is_carried_out else None
    return RoundReport(1, (), NOW, NOW, "Execute", "abc", plan=plan, result=result, reason=reason)


def test_a_round_that_cannot_begin_ends_in_an_error_that_says_what_is_missing() -> None:
    """A Job would hang until its deadline otherwise, and tell nobody why."""
    clock = FakeClock()
    once = Once(clock, is_once=True)
    clock.time += ONCE_SECONDS
    once.check(dict)
    clock.time += 1
    with pytest.raises(ClusterError, match="within 10m: Node: cannot be reached"):
        once.check(lambda: {"Pod": "not read", "Node": "cannot be reached"})
    with pytest.raises(ClusterError, match="another process leads"):
        once.check(dict)
    with pytest.raises(ClusterError, match="faults in the log"):
        once.check(dict, leads=True)


def test_a_daemon_waits_for_ever() -> None:
    """It has nobody to report to but its log, its metrics and its probes."""
    clock = FakeClock()
    once = Once(clock, is_once=False)
    clock.time += 100 * ONCE_SECONDS
    once.check(lambda: {"Node": "cannot be reached"})
    once.judge(report("no plan", plan=None, is_carried_out=False))


@pytest.mark.parametrize(
    ("found", "is_failure"),
    [
        (report(), False),
        (report("the gate refuses a move"), True),
        (report("the planner failed", plan=None, is_carried_out=False), True),
        (report("the plan is empty", is_carried_out=False), False),
        (report("it has to be calm for another 5m", is_carried_out=False), False),
        (None, False),
    ],
)
def test_a_round_that_failed_or_stopped_early_is_the_process_s_failure(
    found: RoundReport | None, is_failure: bool
) -> None:
    """As with ``apply``; a round that had nothing to do, or had to wait, has not failed."""
    once = Once(FakeClock(), is_once=True)
    if not is_failure:
        once.judge(found)
        return
    assert found is not None
    with pytest.raises(RoundFailedError, match=found.reason):
        once.judge(found)
