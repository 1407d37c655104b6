"""The tables of the page: plan, nodes, moves, pods that wait, rounds, evictions, budgets, trust."""

from __future__ import annotations

from dataclasses import replace as replace_state

import pytest
from msgspec.structs import replace

from rescheduler.daemon.page.outlook import Rights
from rescheduler.model.daemon.notices import Fault, MoveChanged, RoundEnded
from rescheduler.model.plan.disruption import OwnIdentity, Selection
from rescheduler.model.plan.move_change import MoveChange, MoveState
from rescheduler.model.plan.plan import MoveMethod, PlannedPlacement
from rescheduler.model.usage.trust import NodeTrust, Trust, TrustState
from tests.builders import NOW, cluster, node, pod, workload
from tests.unit.daemon.page.looks import ALL, desk, entry, ledger, listed, look, rounds, state
from tests.unit.daemon.plans import plan, reference, report, result

PLAN = replace(plan("a-1"), placements=(PlannedPlacement(reference("big"), "n1", 1),))
PLANNED = state(RoundEnded(NOW, report(1, plan_id="first", plan=PLAN)))


def test_a_plan_is_shown_move_by_move_with_the_state_of_each() -> None:
    """And its nodes before and after, as long as it was not carried out."""
    change = MoveChange("", reference("a-1"), MoveState.BOUND, "n1", "n2")
    (row,) = listed(look(PLANNED.after(MoveChanged(NOW, "run", change))), "plan").rows
    assert tuple(row) == ("1", "default/a-1", "n1", "n2", "Evict", "makes room", "bound", "MakeRoom")
    rows = [tuple(row) for row in listed(look(PLANNED), "nodes").rows]
    assert rows[0][:2] == ("n1", "1 of 110")
    assert rows[1][:3] == ("n2", "1 to 2 of 110", "1 to 2 of 4")
    done = state(RoundEnded(NOW, report(1, plan=PLAN, result=result(PLAN))))
    assert listed(look(done), "nodes").rows == ()


@pytest.mark.parametrize("method", MoveMethod)
def test_each_move_says_how_the_pod_leaves(method: MoveMethod) -> None:
    """Evicted, after its replacement, or by whoever owns it."""
    made = replace(PLAN, moves=tuple(replace(move, method=method) for move in PLAN.moves))
    (row,) = listed(look(state(RoundEnded(NOW, report(1, plan=made)))), "plan").rows
    assert row[4] == method.value


def test_moves_under_way_are_listed_until_they_are_at_rest() -> None:
    """What failed stays."""
    found = state()
    for name, stage in (("a-1", MoveState.EVICTED), ("a-2", MoveState.SETTLED), ("a-3", MoveState.FAILED)):
        found = found.after(MoveChanged(NOW, "run", MoveChange("", reference(name), stage, "n1", "n2")))
    table = listed(look(found), "moves")
    assert [tuple(row) for row in table.rows] == [("default/a-1", "evicted"), ("default/a-3", "failed")]
    assert table.notes == ["Run run: 1 evicted, 1 settled, 1 failed."]


def test_rounds_are_a_timeline_of_two_hundred() -> None:
    """The newest first, with what was helped, emptied, evicted and refused by which rule."""
    table = listed(look(state(*rounds(range(1, 251)))), "rounds")
    assert (len(table.rows), table.rows[0][0], table.rows[-1][0]) == (200, "250", "51")
    row = dict(zip(table.headings, table.rows[0], strict=True))
    assert row["Evicted"] == "1 of 1"
    assert row["Refused"] == "8: Rule0 1, Rule1 1, Rule2 1, Rule3 1, ..."
    assert row["When"] == "2027-01-15 08:00:00 UTC, 1s"
    assert row["Outcome"] == "carried out"


def test_rounds_of_the_process_before_stand_before_ours() -> None:
    """As they were read from its audit log, hostile texts cut and without effect, times without a calendar in words."""
    (told,) = state(*rounds([7])).past
    hostile = told._replace(
        number=8,
        triggers=("<script>\x1b[2J" + "x" * 500,),
        reason="</td>" * 200,
        started_at=1e300,
        ended_at=NOW - 10**6,
    )
    found = replace_state(state(), past=(told, hostile)).after(*rounds([1]))
    table = listed(look(found), "rounds")
    assert [row[0] for row in table.rows] == ["1", "8", "7"]
    assert table.rows[1][1] == "a time beyond the calendar, 0s"
    assert all(len(cell) < 300 for row in table.rows for cell in row)
    page = desk(found).page(ALL)
    assert "<script>\x1b" not in page
    assert "</td></td>" not in page
    assert "\x1b" not in page


def test_evictions_of_the_ledger_outlast_a_restart() -> None:
    """They are shown though this process has run no round."""
    table = listed(look(ledger=ledger(entry(1, "x", 7200), entry(2, "y", failure="CrashLoopBackOff"))), "evictions")
    assert [row[1] for row in table.rows] == ["default/y", "default/x"]
    assert table.rows[0][-1] == "CrashLoopBackOff"


def test_pods_that_wait_are_listed_with_their_time() -> None:
    """Those beyond the first are counted."""
    seen = cluster(node("n1"), *(pod(f"big-{at}", created_at=NOW - 90) for at in range(300)))
    table = listed(look(state(seen=seen)), "pending")
    assert table.title == "Pods without a node: 300"
    assert (len(table.rows), table.left_out) == (200, 100)
    assert table.rows[0][1] == "1m 30s"


def test_budgets_stand_with_what_is_left_and_without_names_for_who_may_not_see_them() -> None:
    """The least first."""
    found = ledger(entry(1, "x"), entry(2, "y"))
    names = [row[0] for row in listed(look(ledger=found), "budgets").rows]
    assert {"disruption.rampUp", "disruption.rates.perHour", "disruption.rates.perDay"} <= set(names)
    assert any(name.startswith("disruption.rates.perWorkloadPerHour of") for name in names)
    hidden = [row[0] for row in listed(look(ledger=found, rights=Rights()), "budgets").rows]
    assert not any(" of " in name for name in hidden)


def test_nodes_that_are_not_believed_are_named_with_the_reason() -> None:
    """The others are not."""
    trust = NodeTrust({"n1": Trust(TrustState.TRUSTED), "n2": Trust(TrustState.STALE, "400s old")})
    assert [tuple(row) for row in listed(look(trust=trust), "trust").rows] == [("n2", "Stale", "400s old")]


def test_faults_and_replicas_are_told() -> None:
    """The newest fault first."""
    found = look(state(Fault(NOW - 60, "loop", "first"), Fault(NOW, "api", "second")))
    assert [row[1] for row in listed(found, "faults").rows] == ["api", "loop"]
    assert listed(found, "replicas").notes[0] == "This replica leads."
    assert "is no pod of the cluster" in listed(found, "replicas").none


@pytest.mark.parametrize(("is_leader", "holder"), [(True, "daemon-a_7_0f"), (False, "daemon-b_9_3c")])
def test_replicas_are_listed_with_who_leads_and_who_waits(is_leader: bool, holder: str) -> None:
    """Pods of the workload that this process is a pod of; who may not list pods sees none of them."""
    space = "rescheduler-system"
    seen = cluster(
        node("n1"), node("n2"), workload("daemon", 3, namespace=space), pod("daemon-a", node="n1", namespace=space),
        pod("daemon-b", node="n2", namespace=space), pod("daemon-c", namespace=space), pod("other-a", namespace=space),
        pod("daemon-a", node="n2"),
    )  # fmt: skip
    known = state(seen=seen, is_leader=is_leader, holder=holder)
    selection = Selection(own=OwnIdentity(space, "daemon-a"))
    parts = {"daemon-a": "leads", "daemon-b": "waits"} if is_leader else {"daemon-a": "waits", "daemon-b": "leads"}
    assert [tuple(row) for row in listed(look(known, selection=selection), "replicas").rows] == [
        ("daemon-a", "n1", "yes", parts["daemon-a"]),
        ("daemon-b", "n2", "yes", parts["daemon-b"]),
        ("daemon-c", "none yet", "no", "waits"),
    ]
    hidden = listed(look(known, selection=selection, rights=Rights()), "replicas")
    assert (len(hidden.rows), "may not list refusals" in hidden.notes[-1]) == (0, True)
