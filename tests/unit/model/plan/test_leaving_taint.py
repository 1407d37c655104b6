"""Our own taint tells whose it is and until when, and is not in a plan's way."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rescheduler.model.objects.constraints import Taint
from rescheduler.model.plan.leaving_taint import (
    LEAVING,
    SLACK_SECONDS,
    ends_at,
    is_expired,
    is_leaving_taint,
    leaving_taint,
    leaving_taints,
    plan_of,
    without_leaving_taints,
)
from tests.builders import cluster, node

OTHER = Taint("example.com/own", "x", "NoSchedule")


@given(st.text("0123456789abcdef", min_size=1, max_size=10), st.floats(0, 4e9))
def test_owner_and_expiry_come_back(plan_id: str, end: float) -> None:
    """Never earlier than asked, at most a second later; always a legal label value."""
    taint = leaving_taint(plan_id, end)
    assert plan_of(taint) == plan_id
    assert end <= ends_at(taint) <= end + 1
    assert re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", taint.value)


def test_it_is_expired_only_when_clocks_cannot_explain_it() -> None:
    """Two machines may differ by a few seconds."""
    taint = leaving_taint("a", 1000)
    assert not is_expired(taint, 1000 + SLACK_SECONDS)
    assert is_expired(taint, 1001 + SLACK_SECONDS)


@pytest.mark.parametrize("value", ["", "soon", "-5.a", "٣.a", ".a", "1e9.a"])
def test_a_value_that_cannot_be_read_is_nobodys(value: str) -> None:
    """It has run out: otherwise nobody would ever remove it."""
    taint = Taint(LEAVING, value, "NoSchedule")
    assert ends_at(taint) == 0
    assert is_expired(taint, 1.7e9)


def test_only_our_key_with_our_effect_is_ours() -> None:
    """Whoever takes our key for NoExecute has to remove it himself."""
    assert not is_leaving_taint(OTHER)
    assert not is_leaving_taint(Taint(LEAVING, "1.a", "NoExecute"))
    assert is_leaving_taint(Taint(LEAVING))


def test_a_plan_sees_nodes_without_it_and_with_all_others() -> None:
    """And a cluster that has none is the same object."""
    ours = leaving_taint("a", 1000)
    start = cluster(node("n0", taints=(OTHER, ours)), node("n1", taints=(OTHER,)), node("n2"))
    assert leaving_taints(start) == {"n0": ours}
    seen = without_leaving_taints(start)
    assert [item.taints for item in seen.nodes] == [(OTHER,), (OTHER,), ()]
    assert without_leaving_taints(seen) is seen
