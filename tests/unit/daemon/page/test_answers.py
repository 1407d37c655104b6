"""The ten answers: what moved, who is affected, why pods wait, what comes next, who approved, what is used up."""

from __future__ import annotations

from dataclasses import replace as replace_state
from typing import Any

import pytest
from msgspec.structs import replace

from rescheduler.daemon.page.hindrances import DOCTOR
from rescheduler.daemon.page.outlook import Rights, lasting, utc
from rescheduler.daemon.page.page_desk import view_of
from rescheduler.daemon.rounds.vigilance import HealthFreeze
from rescheduler.daemon.steering.approvals import Approval, Approvals, Proposal
from rescheduler.daemon.steering.daemon_state import DaemonState
from rescheduler.disruption.gate.health import Finding
from rescheduler.model.daemon.ledger import EntryState
from rescheduler.model.daemon.notices import EvictionNoted, MoveChanged, PolicyKept, RoundEnded
from rescheduler.model.plan.cost import Cost
from rescheduler.model.plan.move_change import MoveChange, MoveState
from rescheduler.model.plan.plan import OutcomeKind, PlannedPlacement, Refusal
from rescheduler.model.usage.trust import NodeTrust, Trust, TrustState
from rescheduler.policy.fields.policy import Policy
from tests.builders import NOW
from tests.unit.daemon.page.looks import SMALL, answer, counted, entry, ledger, listed, look, rounds, state, words
from tests.unit.daemon.plans import plan, reference, report, result

PLAN = plan("a-2")
WAITING = Approvals(Proposal("second", PLAN, NOW - 60, NOW + 3540))
QUESTIONS = {
    "Is it stuck?", "How to stop it", "What will it do next?", "What moved in the last hour?", "Who is affected?",
    "Why is a pod still waiting?", "Who approved?", "Can its load data be believed?", "Which budget is used up?",
    "Did the last plan keep its promise?",
}  # fmt: skip


def test_all_ten_questions_are_answered_in_any_state() -> None:
    """Before anything is known too."""
    for found in (state(), state(seen=None)):
        outlook = look(found)
        view = view_of(outlook, None if found.cluster is None else counted(outlook))
        assert {one.question for one in view.answers} == QUESTIONS
        assert all(one.word for one in view.answers)


def test_what_holds_it_back_is_told_as_far_as_it_fits_and_listed_whole() -> None:
    """With the commands of what is told; one that is too long stands there all the same."""
    freeze = HealthFreeze(NOW - 60, (Finding("notReady", "5 of 20 nodes are not ready"),))
    outlook = look(state(PolicyKept(NOW, "p1", "not YAML " * 40)), silent=600.0, freeze=freeze)
    told = answer(outlook, "stuck")
    assert (len(told.sentences), told.sentences[-1]) == (3, "and 1 more, listed below")
    assert told.commands == ["kubectl -n rescheduler-system rollout restart deployment/rescheduler", DOCTOR]
    rows = listed(outlook, "held").rows
    assert [row[1] for row in rows] == [*told.commands, "kubectl reschedule check FILE"]
    endless = HealthFreeze(NOW - 60, (Finding("notReady", "x" * 900),))
    only, more = answer(look(silent=0.0, freeze=endless, found=outlook.state), "stuck").sentences
    assert ("xxx" in only, more) == (True, "and 1 more, listed below")


def test_what_moved_is_counted_from_the_ledger() -> None:
    """Of the last hour alone; what failed is told apart, and what is older names its time."""
    entries = (
        entry(1, "old", 7200), entry(2, "a-1"), entry(3, "a-2", state=EntryState.OPEN),
        entry(4, "a-3", state=EntryState.FAILED), entry(5, "a-4", state=EntryState.REFUSED),
    )  # fmt: skip
    told = words(answer(look(ledger=ledger(*entries)), "moved"))
    assert told.startswith("3 pods 1 replaced, 1 on the way, 1 failed")
    assert "default/a-1 from n1" in told
    assert "2h ago" in words(answer(look(ledger=ledger(entries[0])), "moved"))
    assert words(answer(look(ledger=ledger()), "moved")) == "Nothing"
    assert "not read yet" in words(answer(look(), "moved"))


def test_what_was_told_since_the_ledger_was_read_counts_too() -> None:
    """A plan's own evictions, before the next round reads the ledger; what the ledger knows to be over stays over."""
    read = ledger(entry(1, "a-1"), entry(2, "a-2", state=EntryState.OPEN))
    told = [entry(1, "a-1", state=EntryState.OPEN), entry(2, "a-2"), entry(3, "a-3", state=EntryState.OPEN)]
    found = look(state(*(EvictionNoted(NOW, one) for one in told)), ledger=read)
    assert words(answer(found, "moved")).startswith("3 pods 2 replaced, 1 on the way, 0 failed")
    assert answer(look(state(EvictionNoted(NOW, told[2]))), "moved").word == "1 pod"


def test_who_is_affected_is_told_by_workload_and_namespace() -> None:
    """With what is not replaced yet."""
    found = ledger(entry(1, "a-1"), entry(2, "b-1", state=EntryState.OPEN, workload_key="default/db"))
    told = words(answer(look(ledger=found), "affected"))
    assert told == "2 workloads in 1 namespace 1 pod not replaced yet default/db, default/web"
    assert answer(look(ledger=ledger()), "affected").word == "Nobody"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (replace(PLAN, placements=(PlannedPlacement(reference("big"), "n1", 1),)), "the plan gives it n1"),
        (replace(PLAN, refusals=(Refusal("Gated", "it waits at a gate", pod=reference("big")),)), "Gated: it waits at"),
        (PLAN, "no plan helps it"),
    ],
)
def test_why_a_pod_waits_is_told_by_the_newest_plan(made: object, text: str) -> None:
    """Place, rule, or that nothing helps; and the command that tells more."""
    told = words(answer(look(state(RoundEnded(NOW, report(1, plan=made)))), "waiting"))
    assert f"default/big: {text}" in told.replace("not scheduled yet; ", "")
    assert told.endswith("kubectl reschedule explain pod default/big")


def test_what_comes_next_is_the_plan_that_waits_or_the_one_under_way() -> None:
    """Else what the triggers wait for; under DryRun nothing."""
    assert words(answer(look(state(approvals=WAITING)), "next")).startswith("Wait for a person Plan second waits until")
    change = MoveChange("", reference("a-2"), MoveState.EVICTED, "n1", "n2")
    under_way = state(MoveChanged(NOW, "run-1", change))
    assert words(answer(look(under_way), "next")) == "Go on with a plan Moves: 1 evicted."
    dry = state(RoundEnded(NOW, report(1, plan=PLAN, reason="the policy's mode is DryRun")), mode="DryRun")
    told = words(answer(look(dry), "next"))
    assert told.startswith("Nothing: DryRun evicts nothing Its newest plan: 1 eviction")
    assert "Not carried out: the policy's mode is DryRun." in told


def test_money_is_told_where_prices_are_known() -> None:
    """Of the plan that waits, and of the newest one; without prices no amount stands there."""
    priced = replace(PLAN, cost=Cost("EUR", 900.0, 600.0, 300.0, complete=True))
    waiting = Approvals(Proposal("second", priced, NOW - 60, NOW + 3540))
    for found in (state(approvals=waiting), state(RoundEnded(NOW, report(1, plan=priced)))):
        assert "900.00 EUR a month before, 600.00 after: 300.00 saved" in words(answer(look(found), "next"))
    assert "a month" not in words(answer(look(state(approvals=WAITING)), "next"))


def test_who_approved_is_named_with_plan_and_way() -> None:
    """The newest of them; nobody where nobody has to."""
    given = Approvals(given=(Approval("first", "joe", "REST", NOW - 60), Approval("second", "jane", "REST", NOW - 30)))
    assert words(answer(look(state(approvals=given)), "approved")).startswith("jane Plan second by REST")
    assert answer(look(state(mode="Approve")), "approved").word == "Nobody yet"
    assert words(answer(look(), "approved")) == "Nobody Mode Execute asks nobody."


def test_load_is_believed_node_by_node_or_not_at_all() -> None:
    """A freeze of everything is told with its reason."""
    by_node = {"n1": Trust(TrustState.TRUSTED), "n2": Trust(TrustState.STALE, "400s old")}
    told = words(answer(look(trust=NodeTrust(by_node), load_age=12.0), "load"))
    assert told == "Of 1 of 2 nodes 1 Trusted, 1 Stale The newest sample is 12s old."
    frozen = answer(look(trust=NodeTrust(by_node, "only 50% of the nodes are measured")), "load")
    assert (frozen.word, frozen.tone) == ("No", "bad")
    assert answer(look(trust=NodeTrust({"n1": by_node["n1"]})), "load").word == "Yes"
    assert answer(look(), "load").word == "Nothing is measured"


def test_a_budget_that_is_used_up_is_called_as_in_the_policy() -> None:
    """With its numbers; others tell the least that is left."""
    policy = Policy.model_validate({"disruption": {"rates": {"perHour": 2}, "rampUp": "unlimited"}})
    used = look(policy=policy, ledger=ledger(entry(1, "x"), entry(2, "y")))
    told = words(answer(used, "budgets"))
    assert "disruption.rates.perHour: used up, 2 of 2 evictions in 1h are used" in told
    free = answer(look(policy=policy, ledger=ledger(entry(1, "x"))), "budgets")
    assert (free.word, free.tone) == ("None", "good")
    assert "1 of 2 evictions in 1h are used" in words(free)


@pytest.mark.parametrize(("outcome", "word"), [(OutcomeKind.LANDED, "Yes"), (OutcomeKind.REFUSED, "No")])
def test_whether_the_last_plan_kept_its_promise(outcome: OutcomeKind, word: str) -> None:
    """By what became of each move."""
    done = result(PLAN)
    done = replace(done, moves=tuple(replace(move, outcome=outcome) for move in done.moves))
    found = look(state(RoundEnded(NOW, report(1, plan_id="first", plan=PLAN, result=done))))
    assert answer(found, "promise").word == word
    assert "Plan first" in words(answer(found, "promise"))
    assert answer(look(), "promise").word == "No plan was carried out"


@pytest.mark.parametrize(("fields", "word"), [({}, "Yes"), ({"landed": 0}, "No"), ({"reason": "stopped"}, "No")])
def test_a_plan_of_the_process_before_is_judged_by_what_is_remembered_of_it(fields: dict[str, Any], word: str) -> None:
    """Until this one carries out one of its own."""
    (told,) = state(*rounds([7])).past
    found = replace_state(state(), past=(told._replace(**fields),))
    answered = answer(look(found), "promise")
    assert answered.word == word
    assert "before this replica started" in words(answered)
    assert "before" not in words(answer(look(found.after(*rounds([1]))), "promise"))


def test_who_approved_a_plan_of_the_process_before() -> None:
    """The newest of its rounds that bears a name; what is approved since comes first."""
    (told,) = state(*rounds([7])).past
    found = replace_state(state(mode="Approve"), past=(told._replace(approved_by="jane"), told))
    assert answer(look(found), "approved").word == "jane"
    assert "Plan plan-7" in words(answer(look(found), "approved"))
    assert answer(look(replace_state(found, past=(told,))), "approved").word == "Nobody yet"


def test_it_is_starting_though_rounds_are_remembered() -> None:
    """What a process before has done says nothing of this one."""
    (told,) = state(*rounds([7])).past
    assert answer(look(DaemonState(cluster=SMALL, past=(told,))), "stuck").word == "It is starting"


def test_what_the_caller_may_not_list_is_not_shown() -> None:
    """Each answer names the right that is missing; names of pods stand nowhere."""
    made = state(RoundEnded(NOW, report(1, plan_id="first", plan=PLAN, result=result(PLAN))), approvals=WAITING)
    outlook = look(made, rights=Rights(), ledger=ledger(entry(1, "a-1")))
    view = view_of(outlook, counted(outlook))
    told = repr(view)
    assert "a-1" not in told
    assert "a-2" not in told
    assert "Your account may not list rounds in API group rescheduler.dev." in told
    assert (view.controls.may_pause, view.controls.may_resume, view.controls.plan) == (False, False, "")


def test_times_are_told_for_people() -> None:
    """In two units, and in UTC; those that no calendar has are said to be so."""
    assert [lasting(each) for each in (0, 59, 60, 3661, 90_000, -5, 1e300)][:6] == [
        "0s", "59s", "1m", "1h 1m", "1d 1h", "0s",
    ]  # fmt: skip
    assert utc(NOW) == "2027-01-15 08:00:00 UTC"
    assert utc(1e300) == "a time beyond the calendar"
