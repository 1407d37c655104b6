"""Triggering, pausing, approving, acknowledging; by the numbers of the safety map (R11 to R14, R20)."""

from __future__ import annotations

import threading

import pytest

from rescheduler.daemon.steering.inbox import Inbox
from rescheduler.daemon.steering.steering_errors import ObjectionError, UnknownHeldPolicyError
from rescheduler.model.daemon.notices import ApprovalGiven, LeadershipChanged, Paused, PolicyHeld, Resumed, RoundEnded
from tests.builders import NOW
from tests.unit.daemon.api.daemon_bench import LOOP, bench, refused
from tests.unit.daemon.plans import plan, report

APPROVE = "/v1/plans/second/approve"


def test_a_round_is_asked_for_and_the_loop_learns_by_whom() -> None:
    """Accepted, not done: 202."""
    found = bench()
    answer = found.post("/v1/trigger", {"reason": "after the upgrade"})
    assert (answer.status, answer.json["who"], answer.json["kind"]) == (202, "jane", "TriggerOutcome")
    (request,) = found.controls.take_requests()
    assert (request.how, request.who, request.reason) == ("REST", "jane", "after the upgrade")


def test_a_trigger_sent_again_with_its_key_asks_once() -> None:
    """The same key with another reason is a fault."""
    found = bench()
    key = {"Idempotency-Key": "k1"}
    first = found.post("/v1/trigger", {"reason": "x"}, headers=key)
    assert found.post("/v1/trigger", {"reason": "x"}, headers=key).body == first.body
    assert len(found.controls.take_requests()) == 1
    refused(found.post("/v1/trigger", {"reason": "y"}, headers=key), 422)


def test_pausing_and_resuming_name_who_did_it() -> None:
    """In the answer, in the state and in notices."""
    found = bench()
    answer = found.post("/v1/pause", {"reason": "upgrade", "seconds": 60})
    assert answer.json["paused"] is True
    assert (answer.json["who"], answer.headers["etag"]) == ("jane", f'"{answer.json["etag"]}"')
    assert found.ask("/v1/state").json["switch"] == answer.json
    assert found.post("/v1/resume", who="joe").json["paused"] is False
    assert found.told == [Paused(NOW, "jane", "upgrade", NOW + 60), Resumed(NOW, "joe")]


def test_r14_a_stale_tag_is_412_and_changes_nothing() -> None:
    """For the switch and for a plan; the tag that was told is good, and so is *."""
    found = bench()
    old = found.ask("/v1/state").json["switch"]["etag"]
    tag = found.post("/v1/pause", {"reason": "x"}, headers={"If-Match": f'"{old}"'}).headers["etag"]
    refused(found.post("/v1/resume", headers={"If-Match": f'"{old}"'}), 412)
    refused(found.post("/v1/resume", headers={"If-Match": f"W/{tag}"}), 412)
    assert found.post("/v1/resume", headers={"If-Match": f'"other", {tag}'}).status == 200
    seen = found.ask("/v1/plans/second").headers["etag"]
    refused(found.post(APPROVE, headers={"If-Match": '"second-approved"'}), 412)
    assert found.controls.approved("second") is None
    assert found.post(APPROVE, headers={"If-Match": seen}).status == 200
    assert found.ask("/v1/plans/second").headers["etag"] != seen


@pytest.mark.parametrize("tag", ["second", '"a', "W/", '"a" "b"', ","])
def test_a_tag_that_is_none_is_400(tag: str) -> None:
    """Rather than to be taken for none at all."""
    refused(bench().post(APPROVE, headers={"If-Match": tag}), 400, "If-Match")


@pytest.mark.parametrize("key", ["", "a b", "x" * 129, "\xe4"])
def test_a_key_that_is_none_is_400(key: str) -> None:
    """Rather than to be taken for none at all."""
    refused(bench().post(APPROVE, headers={"Idempotency-Key": key}), 400, "Idempotency-Key")


def test_r12_an_approval_sent_again_has_the_same_answer_and_one_plan_is_carried_out() -> None:
    """Before and after the loop has taken the plan."""
    found = bench()
    key = {"Idempotency-Key": "k1"}
    first = found.post(APPROVE, headers=key)
    assert (first.status, first.json["who"], first.json["how"]) == (200, "jane", "REST")
    assert found.post(APPROVE, headers=key).body == first.body
    taken = found.controls.approved_plan()
    assert taken is not None
    assert (taken[0], taken[2]) == ("second", "jane")
    found.clock.time += 1
    assert found.post(APPROVE, headers=key).body == first.body
    assert found.controls.approved_plan() is None
    assert found.told == [ApprovalGiven(NOW, "second", "jane", "REST")]


def test_r12_a_stale_tag_does_not_spoil_a_request_sent_again() -> None:
    """The client did not hear the first answer."""
    found = bench()
    headers = {"Idempotency-Key": "k1", "If-Match": found.ask("/v1/plans/second").headers["etag"]}
    first = found.post(APPROVE, headers=headers)
    assert found.post(APPROVE, headers=headers).body == first.body


def test_r11_a_superseded_plan_is_409_with_the_newer_plans_number() -> None:
    """In words and as data."""
    found = bench()
    found.controls.propose("third", plan("big"), NOW)
    answer = refused(found.post(APPROVE), 409, "plan third waits now")
    assert answer.json["details"]["newerPlan"] == "third"
    assert found.controls.approved("third") is None


def test_r11_an_expired_plan_is_409() -> None:
    """With the newer one, if there is any by then."""
    found = bench()
    found.clock.time += 3600
    answer = refused(found.post(APPROVE), 409, "it has expired")
    assert "newerPlan" not in answer.json["details"]
    found.controls.propose("third", plan("big"), found.clock.time)
    assert refused(found.post(APPROVE), 409).json["details"]["newerPlan"] == "third"


def test_a_plan_that_never_waited_is_409_and_an_unknown_one_404() -> None:
    """A plan of a dry run is for looking at."""
    found = bench()
    found.tell(RoundEnded(NOW, report(3, mode="DryRun", plan_id="dry", plan=plan("big"))))
    answer = refused(
        found.post("/v1/plans/dry/approve"), 409, "does not wait for approval; it was made under mode DryRun"
    )
    assert answer.json["details"]["newerPlan"] == "second"
    refused(found.post("/v1/plans/none/approve"), 404)


def test_a_key_of_another_plan_is_422() -> None:
    """It would be a yes to something else."""
    found = bench()
    key = {"Idempotency-Key": "k1"}
    found.post(APPROVE, headers=key)
    found.controls.approved_plan()
    found.controls.propose("third", plan("big"), NOW)
    refused(found.post("/v1/plans/third/approve", headers=key), 422, "came with plan second before")
    assert found.controls.approved("third") is None


def test_a_second_person_is_told_who_was_first() -> None:
    """One yes is enough."""
    found = bench()
    found.post(APPROVE)
    refused(found.post(APPROVE, who="joe"), 409, "approved already, by jane")


@pytest.mark.parametrize(
    ("target", "body"),
    [
        ("/v1/trigger", {}), ("/v1/pause", {"reason": "x"}), ("/v1/resume", {}), (APPROVE, {}),
        ("/v1/policy/acknowledge", {"heldId": "h"}),
    ],
)  # fmt: skip
def test_r13_a_follower_names_the_leader_and_redirects_nobody(target: str, body: object) -> None:
    """Looking still works."""
    found = bench()
    found.tell(LeadershipChanged(NOW, False, "rescheduler-7d9f-abcde"))
    found.told.clear()
    answer = refused(found.post(target, body), 503, "rescheduler-7d9f-abcde leads; ask there")
    assert answer.json["details"]["leader"] == "rescheduler-7d9f-abcde"
    assert "location" not in answer.headers
    assert int(answer.headers["retry-after"]) > 0
    assert found.told == []
    assert found.ask("/v1/state").json["leader"] == {"isLeader": False, "holder": "rescheduler-7d9f-abcde"}


@pytest.mark.parametrize(
    ("error", "until"),
    [
        (ObjectionError("frozen: 3 of 9 nodes are not ready (policy: health.unreadyNodes)"), None),
        (ObjectionError("the circuit breaker is open: 2 failed", 86400.0), "1970-01-02T00:00:00.000Z"),
        (
            ObjectionError("budget night, which default/a counts in, is outside of its windows", 1e300),
            "9999-12-31T23:59:59.999Z",
        ),
    ],
)
def test_r20_approving_while_nothing_may_be_carried_out_is_409_with_the_reason(
    error: ObjectionError, until: str | None
) -> None:
    """And with when that may end, where it is known."""
    found = bench(objection=lambda _: error)
    answer = refused(found.post(APPROVE), 409, str(error)[:40])
    assert answer.json["details"].get("until") == until
    assert found.controls.approved("second") is None


def test_r20_so_it_is_while_somebody_has_paused() -> None:
    """Until the pause runs out."""
    found = bench()
    found.post("/v1/pause", {"reason": "upgrade", "seconds": 60})
    answer = refused(found.post(APPROVE, who="joe"), 409, "paused by jane: upgrade")
    assert answer.json["details"]["until"].endswith("Z")
    found.clock.time += 60
    assert found.post(APPROVE, who="joe").status == 200


def test_a_held_policy_is_acknowledged_by_its_number() -> None:
    """Who said yes is handed on; any other number is 404."""
    said: list[tuple[str, str]] = []
    found = bench(acknowledge=lambda number, who: said.append((number, who)))
    refused(found.post("/v1/policy/acknowledge", {"heldId": "abc"}), 404)
    found.tell(PolicyHeld(NOW, "p1", "abc", ("+412 pods in 3 namespaces",)))
    assert found.ask("/v1/state").json["policy"]["held"]["widening"] == ["+412 pods in 3 namespaces"]
    answer = found.post("/v1/policy/acknowledge", {"heldId": "abc"})
    assert (answer.status, answer.json["heldId"], answer.json["who"]) == (200, "abc", "jane")
    assert said == [("abc", "jane")]


def test_a_held_policy_that_is_gone_meanwhile_is_404() -> None:
    """The files may change at any time."""

    def gone(_number: str, _who: str) -> None:
        raise UnknownHeldPolicyError("no policy of this number waits to be acknowledged")

    found = bench(acknowledge=gone)
    found.tell(PolicyHeld(NOW, "p1", "abc", ()))
    refused(found.post("/v1/policy/acknowledge", {"heldId": "abc"}), 404)


def test_no_operation_takes_a_pod_to_evict() -> None:
    """Whoever has every right can still only ask for what the gate allows."""
    found = bench()
    description = found.ask("/openapi.json").json
    acting = {path for path, item in description["paths"].items() if set(item) - {"get", "parameters"}}
    assert acting == {
        "/v1/trigger", "/v1/pause", "/v1/resume", "/v1/plans/{number}/approve", "/v1/policy/acknowledge",
    }  # fmt: skip
    for path in ("/v1/evict", "/v1/pods/default/a-1/eviction", "/v1/explain/pods/default/a-1"):
        assert found.post(path).status in (404, 405)


def test_what_touches_more_than_the_state_is_done_by_the_loops_own_thread() -> None:
    """Health, gate and policies have no locks: approving and acknowledging wait for their turn, and are answered."""
    threads: list[int | None] = []

    def note(*_given: object) -> None:
        threads.append(threading.get_ident())

    found = bench(objection=note, acknowledge=note)
    held = PolicyHeld(NOW, "now", "wide", ("reaches further",))
    found.tell(held)
    assert found.post(APPROVE).status == 200
    assert found.post("/v1/policy/acknowledge", {"heldId": "wide"}).status == 200
    assert threads == [LOOP.thread.ident] * 2
    assert threading.get_ident() not in threads


def test_a_loop_that_is_busy_is_told_and_nothing_is_done_later() -> None:
    """A pause does not wait for it."""
    asked: list[object] = []
    busy = Inbox(wait_seconds=0.0)
    found = bench(objection=asked.append, inbox=busy)
    answer = refused(found.post(APPROVE), 503, "the daemon is busy, and nothing was done")
    assert answer.headers["retry-after"] == "5"
    assert found.post("/v1/pause", {"reason": "rack 7"}).status == 200
    busy.answer()
    assert asked == []
    assert found.controls.approved("second") is None
