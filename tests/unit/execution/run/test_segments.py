"""How much of a plan is on its way together."""

from __future__ import annotations

import pytest

from rescheduler.execution.run import segments
from rescheduler.execution.run.segments import segment_end
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.plan.plan import Plan
from tests.builders import cluster, node, pod, workload
from tests.unit.execution.worlds import plan_of


def four() -> Cluster:
    """Four workloads of one pod each, and a pending pod."""
    return cluster(
        *(node(f"n{number}", "8") for number in range(4)),
        *(pod(f"{name}-0", "1", node="n0", owner=name) for name in "abcd"),
        pod("big-0", "8"),
        *(workload(name, 1) for name in "abcd"), workload("big", 1),
    )  # fmt: skip


MOVES = [("a-0", "n1", 1), ("b-0", "n1", 2), ("c-0", "n2", 3), ("d-0", "n2", 4)]


def end(plan: Plan, *, by_waves: bool = False) -> int:
    """Where the first segment ends."""
    return segment_end(plan, four(), by_waves=by_waves, waits_until_repaid=False)


def test_waves_go_together() -> None:
    """As long as nothing has to be waited for."""
    assert end(plan_of(four(), MOVES)) == 4


def test_where_the_order_of_waves_tells_the_scheduler_s_choice_each_is_apart() -> None:
    """Nothing leads the pods there."""
    assert end(plan_of(four(), MOVES), by_waves=True) == 1


def test_pending_pods_get_their_room_before_others_move_on() -> None:
    """The wave that makes the room is the last of its segment."""
    assert end(plan_of(four(), MOVES, [("big-0", "n0", 2)])) == 2


def test_a_wave_that_has_to_wait_for_the_one_before_is_a_segment_of_its_own() -> None:
    """Its room would be kept for nothing meanwhile."""
    start = cluster(
        node("n0", "8"), node("n1", "8"), pod("a-0", "1", node="n0"), pod("a-1", "1", node="n0"), workload("a", 2)
    )
    plan = plan_of(start, [("a-0", "n1", 1), ("a-1", "n1", 2)])
    assert segment_end(plan, start, by_waves=False, waits_until_repaid=False) == 1


def test_where_debts_are_to_be_repaid_a_workload_loses_pods_once() -> None:
    """Its next pod goes when the first replacement has proven itself, whatever else goes with it."""
    start = cluster(
        *(node(f"n{number}", "8") for number in range(3)), pod("a-0", "1", node="n0"), pod("a-1", "1", node="n0"),
        pod("b-0", "1", node="n0"), workload("a", 2), workload("b", 1),
    )  # fmt: skip
    plan = plan_of(start, [("a-0", "n1", 1), ("a-1", "n1", 2), ("b-0", "n2", 2)])
    assert segment_end(plan, start, by_waves=False, waits_until_repaid=False) == 2
    assert segment_end(plan, start, by_waves=False, waits_until_repaid=True) == 1


def test_later_waves_join_up_to_a_number_of_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wave is never split."""
    monkeypatch.setattr(segments, "MOST_TOGETHER", 3)
    assert end(plan_of(four(), MOVES)) == 3
    monkeypatch.setattr(segments, "MOST_TOGETHER", 0)
    assert end(plan_of(four(), MOVES)) == 1
