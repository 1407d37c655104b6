"""What keeps the daemon from acting: why, since when, and what lets it go on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rescheduler.daemon.page.hindrances import hindrances
from rescheduler.daemon.rounds.vigilance import HealthFreeze
from rescheduler.daemon.steering.pausing import Pause, Switch
from rescheduler.disruption.gate.health import Finding
from rescheduler.model.daemon.ledger import Breaker
from rescheduler.model.daemon.notices import LeadershipChanged, PolicyHeld, PolicyKept, RoundEnded, SyncChanged
from rescheduler.model.objects.annotations import STOP
from rescheduler.model.objects.cluster import Cluster
from rescheduler.model.objects.workload import Namespace
from tests.builders import NOW, cluster, node
from tests.unit.daemon.page.looks import answer, ledger, look, state, words
from tests.unit.daemon.plans import report

OPEN = Breaker(opened_at=NOW - 600, openings=1, reason="2 of the last 3 evictions came to nothing")

RESTED = Breaker(opened_at=NOW - 86400, openings=1, reason="2 of the last 3 evictions came to nothing")


def stopped() -> Cluster:
    """A cluster with the kill switch on."""
    return cluster(node("n1"), namespaces=(Namespace("rescheduler-holds", annotations={STOP: "night shift"}),))


def test_a_daemon_that_works_is_not_stuck() -> None:
    """And says when it last did something."""
    found = look(state(RoundEnded(NOW - 30, report(1, ended_at=NOW - 30))))
    assert hindrances(found) == []
    assert words(answer(found, "stuck")).startswith("No The last round ended")
    assert "30s ago" in words(answer(found, "stuck"))


def test_a_pause_is_meant_and_tells_who() -> None:
    """With its reason, and how to end it."""
    (found,) = hindrances(look(state(switch=Switch(Pause("jane", "lunch", NOW - 60)))))
    assert (found.since, found.is_meant) == (NOW - 60, True)
    assert "paused by jane: lunch" in found.why
    assert "Resume" in found.commands[0]


def test_the_kill_switch_names_its_annotation_and_the_command_that_removes_it() -> None:
    """As it stands in the newest snapshot."""
    (found,) = hindrances(look(state(seen=stopped())))
    assert "night shift" in found.why
    assert found.commands == (f"kubectl annotate namespace rescheduler-holds {STOP}-",)


def test_a_policy_that_is_held_names_the_line_that_says_yes() -> None:
    """For the file, beside the request that does the same."""
    (found,) = hindrances(look(state(PolicyHeld(NOW, "p1", "3f1c0a92b7de", ("mode: Execute",)))))
    assert found.commands[0].startswith('metadata: {acknowledged: "3f1c0a92b7de"}')
    assert found.commands[1] == 'POST /v1/policy/acknowledge {"heldId": "3f1c0a92b7de"}'


def test_a_breaker_that_tries_again_by_itself_asks_nobody() -> None:
    """One that has opened twice wants an operator."""
    (first,) = hindrances(look(ledger=ledger(breaker=OPEN)))
    assert (first.since, first.commands) == (NOW - 600, ())
    rested = look(state(RoundEnded(NOW - 30, report(1, ended_at=NOW - 30))), ledger=ledger(breaker=RESTED))
    assert hindrances(rested) == []
    assert "one eviction is tried" in words(answer(rested, "stuck"))
    twice = Breaker(opened_at=NOW - 600, openings=2, reason="again")
    (second,) = hindrances(look(ledger=ledger(breaker=twice)))
    assert "rescheduler.dev/breaker-closed=" in second.commands[0]
    assert "configmap rescheduler-ledger" in second.commands[0]


def test_a_freeze_tells_its_reasons_and_since_when() -> None:
    """The field of the policy that asks for it is named."""
    freeze = HealthFreeze(NOW - 7200, (Finding("notReady", "5 of 20 nodes are not ready"),))
    found = look(freeze=freeze)
    told = words(answer(found, "stuck"))
    assert told.startswith("Yes, it is frozen")
    assert (
        "5 of 20 nodes are not ready (policy: health.notReady); it goes on by itself 10m after that has passed" in told
    )
    assert "2h ago" in told


@pytest.mark.parametrize(
    ("notice", "text"),
    [
        (PolicyKept(NOW, "p1", "mode: unknown"), "cannot be used, the one before stays in force: mode: unknown"),
        (PolicyHeld(NOW, "p1", "h1", ("mode: Execute",)), "waits to be acknowledged (mode: Execute)"),
        (SyncChanged(NOW, "pods", False, "403 Forbidden"), "pods are not watched: 403 Forbidden"),
        (RoundEnded(NOW, report(1, is_held=True, reason="the ledger is gone")), "the ledger is gone"),
    ],
)
def test_whatever_else_holds_it_back_is_told(notice: object, text: str) -> None:
    """In its own words."""
    (found,) = hindrances(look(state(notice)))  # type: ignore[arg-type]
    assert text in found.why


def test_rounds_that_are_held_one_after_another_tell_since_when() -> None:
    """Since the first of them; a lost ledger names the command that accepts it."""
    held = [
        RoundEnded(NOW, report(at, is_held=at > 1, reason="run ledger accept-loss", started_at=NOW - 100 + at))
        for at in range(1, 5)
    ]
    (found,) = hindrances(look(state(*held)))
    assert found.since == NOW - 98
    assert found.commands == ("kubectl reschedule ledger accept-loss",)


def test_what_held_the_process_before_is_told_once_a_round_of_ours_meets_it_too() -> None:
    """Since when it stood before the restart; a replica that only looks on runs none, and is not stuck."""
    (held,) = state(RoundEnded(NOW, report(7, is_held=True, reason="the ledger is gone", started_at=NOW - 900))).past
    before = replace(state(), past=(held,))
    assert hindrances(look(before)) == []
    (found,) = hindrances(look(before.after(RoundEnded(NOW, report(1, is_held=True, reason="the ledger is gone")))))
    assert found.since == NOW - 900


def test_a_loop_without_a_sign_of_life_is_the_first_thing_told() -> None:
    """Whatever else is said may be old."""
    found = hindrances(look(state(switch=Switch(Pause("jane", "lunch", NOW))), silent=600.0))
    assert "no sign of life for 10m" in found[0].why
    assert hindrances(look(silent=30.0)) == []


def test_a_replica_that_does_not_lead_waits() -> None:
    """It is not stuck, and names who leads."""
    found = look(state(LeadershipChanged(NOW, False, "pod-b"), RoundEnded(NOW, report(1))))
    assert words(answer(found, "stuck")) == "No, it waits pod-b leads; this replica looks on."
