"""What the daemon's API shows: state, rounds, plans, refusals, explanations."""

from __future__ import annotations

from typing import Any

import pytest

from rescheduler.model.daemon.notices import Fault, MoveChanged, RoundEnded, SyncChanged
from rescheduler.model.plan.move_change import MoveChange, MoveState
from rescheduler.model.plan.plan import PodReference
from tests.builders import NOW
from tests.unit.daemon.api.daemon_bench import REFUSALS, DaemonBench, bench, refused
from tests.unit.daemon.plans import plan, report, result


def pages(found: DaemonBench, path: str, limit: int) -> list[Any]:
    """All items, page by page; clients of different rates would have to wait, so each page has its own."""
    items: list[Any] = []
    token = ""
    for _ in range(100):
        found.clock.time += 1
        separator = "&" if "?" in path else "?"
        answer = found.ask(f"{path}{separator}limit={limit}" + (f"&continue={token}" if token else ""))
        assert answer.status == 200, answer.body
        assert len(answer.json["items"]) <= limit
        items += answer.json["items"]
        token = answer.json["continue"]
        if not token:
            return items
    raise AssertionError("pages without end")


def test_the_state_tells_how_everything_stands() -> None:
    """Whatever was told last."""
    found = bench()
    found.tell(Fault(NOW, "loop", "KeyError: \x1b"))
    found.tell(SyncChanged(NOW, "Pod", False, "403"))
    change = MoveChange("", PodReference("default", "web-0", "u"), MoveState.BOUND, "n1", "n2", "n2")
    found.tell(MoveChanged(NOW, "r-1", change))
    state = found.ask("/v1/state").json
    assert (state["apiVersion"], state["kind"], state["version"]) == ("rescheduler/v1alpha1", "State", "1.0")
    assert state["leader"] == {"isLeader": True, "holder": ""}
    policy = {"name": "quiet", "policyId": "p1", "mode": "Approve", "problem": "", "held": None}
    assert state["policy"] == policy
    assert (state["waiting"], state["lastRound"]) == ("second", 2)
    assert (state["snapshot"]["nodes"], state["snapshot"]["pods"], state["snapshot"]["pendingPods"]) == (2, 3, 1)
    assert state["outOfSync"] == {"Pod": "403"}
    assert [fault["where"] for fault in state["faults"]] == ["loop"]
    assert (state["runId"], {word for word, number in state["moves"].items() if number}) == ("r-1", {"bound"})


def test_a_daemon_that_has_just_begun_has_an_empty_state() -> None:
    """And empty lists: nothing fails for want of something to show."""
    found = DaemonBench()
    state = found.ask("/v1/state").json
    assert (state["snapshot"], state["waiting"], state["lastRound"], state["startedAt"]) == (None, None, None, None)
    for path in ("/v1/rounds", "/v1/plans", "/v1/refusals"):
        answer = found.ask(path).json
        assert (answer["items"], answer["continue"]) == ([], "")
    assert found.ask("/v1/refusals").json["round"] is None
    refused(found.ask("/v1/explain/nodes/n1"), 503, "not known yet")


def test_rounds_are_listed_newest_first_and_shown_whole_by_number() -> None:
    """A list has no plans in it."""
    found = bench()
    listed = found.ask("/v1/rounds").json
    assert [item["number"] for item in listed["items"]] == [2, 1]
    assert "plan" not in listed["items"][0]
    one = found.ask("/v1/rounds/1").json
    assert (one["planId"], one["planned"], one["landed"], one["approvedBy"]) == ("first", 1, 1, "joe")
    assert one["occasions"][0]["trigger"] == "PendingPods"
    assert (one["plan"]["kind"], one["result"]["kind"], one["seconds"]) == ("Plan", "PlanResult", {"plan": 0.5})
    assert found.ask("/v1/rounds/2").json["result"] is None


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_together_are_the_whole_list(limit: int) -> None:
    """Each item once, in order."""
    found = bench()
    for number in range(3, 10):
        found.tell(RoundEnded(NOW, report(number, plan_id=f"plan-{number}", plan=plan(f"p{number}"))))
    assert [item["number"] for item in pages(found, "/v1/rounds", limit)] == list(range(9, 0, -1))
    numbers = ["second", *(f"plan-{number}" for number in range(9, 2, -1)), "first"]
    assert [item["id"] for item in pages(found, "/v1/plans", limit)] == numbers


def test_rounds_that_come_meanwhile_do_not_shift_pages() -> None:
    """The next page goes on where the one before ended, or says that it cannot."""
    found = bench()
    for number in range(3, 8):
        found.tell(RoundEnded(NOW, report(number)))
    first = found.ask("/v1/rounds?limit=2").json
    found.tell(RoundEnded(NOW, report(8)))
    second = found.ask(f"/v1/rounds?limit=2&continue={first['continue']}").json
    assert [item["number"] for item in first["items"] + second["items"]] == [7, 6, 5, 4]
    for number in range(9, 80):
        found.tell(RoundEnded(NOW, report(number)))
    refused(found.ask(f"/v1/rounds?limit=2&continue={first['continue']}"), 400, "too old")


def test_plans_tell_what_became_of_them() -> None:
    """Carried out, waiting, approved, being carried out, ended, or never meant to be."""
    found = bench()

    def status(number: str) -> tuple[str, str]:
        item = found.ask(f"/v1/plans/{number}").json
        return item["status"], item["approvedBy"]

    assert status("first") == ("CarriedOut", "")
    assert status("second") == ("Waiting", "")
    found.post("/v1/plans/second/approve")
    assert status("second") == ("Approved", "jane")
    found.controls.approved_plan()
    assert status("second") == ("Approved", "jane")
    second = plan("a-2", refusals=REFUSALS)
    done = report(3, plan_id="second", plan=second, result=result(second), approved_by="jane")
    found.tell(RoundEnded(NOW, done))
    assert status("second") == ("CarriedOut", "jane")
    for number, name in ((4, "third"), (5, "fourth")):
        found.tell(RoundEnded(NOW, report(number, plan_id=name, plan=plan(name))))
        found.controls.propose(name, plan(name), NOW)
    item = found.ask("/v1/plans/third").json
    assert (item["status"], item["newerPlan"]) == ("Ended", "fourth")
    found.tell(RoundEnded(NOW, report(6, mode="DryRun", plan_id="dry", plan=plan("x"), reason="mode is DryRun")))
    item = found.ask("/v1/plans/dry").json
    assert (item["status"], item["reason"], item["round"]) == ("NotCarriedOut", "mode is DryRun", 6)


def test_a_plan_that_was_approved_and_then_refused_by_the_gate_says_so() -> None:
    """It is not left as if it were still under way."""
    found = bench()
    found.post("/v1/plans/second/approve")
    found.controls.approved_plan()
    why = "the cluster has changed"
    found.tell(RoundEnded(NOW, report(3, plan_id="second", plan=plan("a-2"), reason=why, approved_by="jane")))
    item = found.ask("/v1/plans/second").json
    assert (item["status"], item["reason"], item["approvedBy"]) == ("NotCarriedOut", why, "jane")


def test_a_waiting_plan_tells_until_when() -> None:
    """Whole, with its moves."""
    item = bench().ask("/v1/plans/second").json
    assert item["proposedAt"] < item["expiresAt"]
    assert (item["moves"], len(item["plan"]["moves"]), item["result"]) == (1, 1, None)


def test_refusals_are_those_of_the_newest_plan_by_namespace_and_rule() -> None:
    """A later round without a plan does not hide them."""
    found = bench()
    found.tell(RoundEnded(NOW, report(3)))
    everything = found.ask("/v1/refusals").json
    assert (everything["round"], len(everything["items"])) == (2, 5)
    assert [item["pod"]["name"] for item in pages(found, "/v1/refusals?namespace=other", 2)] == ["p2", "p3", "p4"]
    both = found.ask("/v1/refusals?namespace=other&rule=Scope").json["items"]
    assert [(item["rule"], item["message"]) for item in both] == [("Scope", "why 2"), ("Scope", "why 4")]
    assert found.ask("/v1/refusals?namespace=none").json["items"] == []
    refused(found.ask(f"/v1/refusals?namespace={'a' * 64}"), 400, "namespace: wanted 1 to 63 characters")


def test_pages_of_refusals_stay_with_their_round() -> None:
    """A newer plan does not mix its own into them."""
    found = bench()
    first = found.ask("/v1/refusals?limit=2").json
    found.tell(RoundEnded(NOW, report(3, plan_id="third", plan=plan("x"))))
    second = found.ask(f"/v1/refusals?limit=2&continue={first['continue']}").json
    assert (second["round"], [item["message"] for item in second["items"]]) == (2, ["why 2", "why 3"])


def test_pods_and_nodes_are_explained_on_the_newest_snapshot() -> None:
    """As the command explains them."""
    found = bench()
    pod = found.ask("/v1/explain/pods/default/a-2").json
    assert (pod["kind"], pod["verdict"], pod["pod"]["name"]) == ("Explanation", "Moves", "a-2")
    waiting = found.ask("/v1/explain/pods/default/big").json
    assert (waiting["verdict"], len(waiting["nodes"])) == ("Waits", 2)
    assert found.ask("/v1/explain/nodes/n2").json["node"] == "n2"


def test_a_name_that_is_near_another_is_not_told_the_other() -> None:
    """Who may look into one namespace does not learn what stands in others."""
    for target in ("/v1/explain/pods/other/a-1", "/v1/explain/pods/default/a-3", "/v1/explain/nodes/n3"):
        answer = refused(bench().ask(target), 404)
        assert "did you mean" not in answer.json["message"]


def test_head_is_get_without_a_body() -> None:
    """With the same length."""
    found = bench()
    whole, head = found.ask("/v1/plans"), found.ask("/v1/plans", "HEAD")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == whole.headers["content-length"]
    assert found.ask("/v1/state", "HEAD", who=None).body == b""


def test_nobody_keeps_what_is_answered() -> None:
    """Neither a browser nor a proxy."""
    for answer in (bench().ask("/v1/state"), bench().ask("/v1/none"), bench().ask("/v1/state", who=None)):
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["x-content-type-options"] == "nosniff"
