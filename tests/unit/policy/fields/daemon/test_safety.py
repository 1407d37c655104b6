"""Tests of what stops the daemon, as policies write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rescheduler.daemon.plugins import load_policy
from rescheduler.policy.fields.daemon.safety import BackOffPolicy, BreakerPolicy, RampUpPolicy, remembered_seconds
from rescheduler.policy.fields.policy import Permission, with_unrest
from tests.unit.policy.policies import policy, problem


def test_every_number_can_be_written() -> None:
    """Names are camelCase, times durations, shares percentages."""
    found = policy(
        "disruption:\n  unsettled: Deny\n  quiet: 10m\n"
        "  breaker: {failures: 3, of: 20, repayWithin: 4m, oldest: 20m, rest: 2h}\n"
        "  backOff: {first: 30m, longest: 12h, rest: 1h, perDay: 4}\n"
        "  rampUp: {start: 2, window: 30m, doubleEvery: 12h}\n"
        "health: {settle: 1m, changedNodes: 20%, headRoom: 0.1, unreadyNodes: 10%, unreadyInZone: 30%,"
        " pendingRising: 2m, apiErrors: 1%, apiLatency: 1s, watchAge: 30s, clockOffset: 10s, schedulerSilent: 2m,"
        " replacedWithin: 90s, calm: 5m}\n"
        "stop: {file: /run/stop}"
    )
    rules, health = found.disruption, found.health
    assert (rules.unsettled, rules.quiet) == (Permission.DENY, 600.0)
    assert rules.breaker == BreakerPolicy(failures=3, of=20, repay_within=240.0, oldest=1200.0, rest=7200.0)
    assert rules.back_off == BackOffPolicy(first=1800.0, longest=43200.0, rest=3600.0, per_day=4)
    assert rules.ramp_up == RampUpPolicy(start=2, window=1800.0, double_every=43200.0)
    assert (health.settle, health.changed_nodes, health.head_room, health.unready_in_zone) == (60.0, 0.2, 0.1, 0.3)
    assert (health.pending_rising, health.api_errors, health.calm) == (120.0, 0.01, 300.0)
    assert found.stop.file == "/run/stop"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("health: {settle: 5}", "health.settle: 5 is not a duration; write it like 90s, 5m or 1h30m"),
        ("health: {headRoom: 101%}", "health.headRoom: found '101%'; write a share such as 0.7 or 70%"),
        ("health: {headRoom: -5%}", "health.headRoom: found '-5%'; write a share"),
        ("health: {headRoom: 5}", "health.headRoom: found 5; write a share"),
        ("health: {headroom: 5%}", "health.headroom: unknown field; did you mean headRoom?"),
        ("health: 5m", "health: found '5m'; wanted fields below it"),
        ("headRoom: 5%", "headRoom: unknown field here; it belongs under health"),
        ("disruption: {unsettled: deny}", "disruption.unsettled: found 'deny'; there are Deny, Allow; did you mean"),
        ("disruption: {unsettled: no}", "disruption.unsettled: YAML reads no as a boolean; there are Deny, Allow"),
        ("disruption: {quiet: -1m}", "disruption.quiet: '-1m' is not a duration"),
        ("disruption: {breaker: {failures: 11}}",
         "disruption.breaker: failures 11 can never be reached among the last 10; write of: 11 or more"),
        ("disruption: {breaker: {of: 0}}", "disruption.breaker.of: found 0; wanted 1 or more"),
        ("disruption: {breaker: {repayWithin: 0s}}", "disruption.breaker.repayWithin: '0s' leaves no time at all"),
        ("disruption: {backOff: {first: 25h}}", "disruption.backOff: first 25h is longer than longest 24h"),
        ("disruption: {backOff: {perDay: -1}}", "disruption.backOff.perDay: found -1; wanted 0 or more"),
        ("disruption: {rampUp: {start: 0}}", "disruption.rampUp.start: found 0; wanted 1 or more"),
        ("disruption: {rampUp: none}", "disruption.rampUp: found 'none'; wanted fields below it"),
        ("disruption: {rampup: {}}", "disruption.rampup: unknown field; did you mean rampUp?"),
        ("stop: {file: ''}", "stop.file: found ''; wanted a text that is not empty"),
        ("stop: {file: [a]}", "stop.file: found a list; wanted a text"),
        ("stop: true", "stop: found true; wanted fields below it"),
    ],
)  # fmt: skip
def test_each_mistake_is_told_with_its_place_and_what_to_write(body: str, text: str) -> None:
    """As everywhere in a policy."""
    assert text in problem(body)


def test_zero_turns_health_off() -> None:
    """Of settle, headRoom and the like; an empty value takes a field back to its default, and a word turns it off."""
    found = policy("health: {settle: 0s, headRoom: 0%, watchAge: 0}\ndisruption: {rampUp: }")
    assert (found.health.settle, found.health.head_room, found.health.watch_age) == (0.0, 0.0, 0.0)
    assert found.disruption.ramp_up == RampUpPolicy(start=1, window=3600.0, double_every=86400.0)
    assert policy("disruption: {rampUp: unlimited}").disruption.ramp_up is None


def test_the_kill_switch_is_found_beside_its_policy(tmp_path: Path) -> None:
    """A relative path is relative to the policy file, whose folder may differ from ours."""
    file = tmp_path / "p.yaml"
    file.write_text("apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\nstop: {file: stop}\n", encoding="utf-8")
    assert load_policy([file]).stop.file == str(tmp_path / "stop")


def test_a_ledger_remembers_as_long_as_any_rule_looks_back() -> None:
    """The longest back-off twice over, so that a wait which follows another is still known to follow it."""
    assert remembered_seconds(BackOffPolicy(), BreakerPolicy(), None) == 48 * 3600.0
    short = BackOffPolicy(first=60.0, longest=60.0, rest=60.0)
    assert remembered_seconds(short, BreakerPolicy(), None) == 24 * 3600.0
    assert remembered_seconds(short, BreakerPolicy(), RampUpPolicy(window=48 * 3600.0)) == 48 * 3600.0


def test_unrest_can_be_left_to_the_gate() -> None:
    """Only this one field changes."""
    strict = policy("disruption: {unsettled: Deny, ownerless: Allow}")
    loose = with_unrest(strict)
    assert (loose.disruption.unsettled, loose.disruption.ownerless) == (Permission.ALLOW, Permission.ALLOW)
    assert with_unrest(loose) == loose
