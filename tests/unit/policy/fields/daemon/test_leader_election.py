"""``leaderElection`` of a policy: what is taken, what is refused, and when there is an election at all."""

from __future__ import annotations

import pytest

from rescheduler.daemon.plugins import parse_policy
from rescheduler.policy.fields.policy import Policy, elects_leader
from rescheduler.policy.reading.errors import PolicyError
from rescheduler.policy.reading.named_files import named_files, policy_id

HEAD = "apiVersion: rescheduler/v1alpha1\nkind: ReschedulerPolicy\n"


def policy(text: str) -> Policy:
    """A policy with these fields."""
    return parse_policy(HEAD + text)


def test_the_defaults_are_those_of_kubernetes() -> None:
    """15, 10 and 2 seconds, in the namespace of deploy/."""
    rules = policy("").leader_election
    assert (rules.lease_duration, rules.renew_deadline, rules.retry_period) == (15.0, 10.0, 2.0)
    assert (rules.namespace, rules.name, rules.enabled) == ("rescheduler-system", "rescheduler", None)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ("{renewDeadline: 15s}", "renewDeadline 15s must be shorter than leaseDuration 15s"),
        ("{leaseDuration: 5s}", "renewDeadline 10s must be shorter than leaseDuration 5s"),
        ("{retryPeriod: 9s}", "retryPeriod 9s, a fifth longer, must be shorter than renewDeadline 10s"),
        ("{leaseDuration: 1s, renewDeadline: 300ms, retryPeriod: 100ms}", "leaseDuration 1s is out of range"),
        ("{leaseDuration: 2h, renewDeadline: 1h}", "leaseDuration 2h is out of range; write 2s to 1h"),
        ("{retryPeriod: 0s}", "0s' leaves no time at all"),
        ("{leaseDuration: 15}", "15 is not a duration"),
        ("{enabled: 'true'}", "true or false, without quotes"),
        ("{name: Not_A_Name}", "Not_A_Name"),
        ("{namespace: a/b}", "a/b"),
        ("{leaseDurations: 15s}", "did you mean leaseDuration?"),
        ("true", "leaderElection"),
    ],
)
def test_what_cannot_work_is_refused(fields: str, said: str) -> None:
    """With the numbers that do not fit, and what to write."""
    with pytest.raises(PolicyError) as caught:
        policy(f"leaderElection: {fields}\n")
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "elects"),
    [
        ("", False),
        ("mode: Execute", True),
        ("mode: Approve", True),
        ("{mode: Execute, guidance: Predict}", False),
        ("{mode: Execute, guidance: Predict, leaderElection: {enabled: true}}", True),
        ("{mode: Execute, leaderElection: {enabled: false}}", False),
        ("{mode: DryRun, leaderElection: {enabled: true}}", False),
    ],
)
def test_a_lease_is_written_only_where_something_may_be_written(text: str, elects: bool) -> None:
    """A dry run writes nothing at all, whatever else it says."""
    fields = text[1:-1].replace(", leader", "\nleader").replace(", guidance", "\nguidance") if text[:1] == "{" else text
    assert elects_leader(policy(f"{fields}\n")) is elects


@pytest.mark.parametrize("text", ['"0123456789ab"', "abcdef012345"])
def test_an_acknowledgement_is_a_number_of_a_policy(text: str) -> None:
    """Twelve digits, as they were told."""
    assert policy(f"metadata: {{acknowledged: {text}}}\n").metadata.acknowledged == text.strip('"')


@pytest.mark.parametrize("text", ["123456789012", "yes", '"ABCDEF012345"', '"abc"', '""', "true", "[a]"])
def test_anything_else_is_none(text: str) -> None:
    """Without quotes YAML may read it as a number."""
    with pytest.raises(PolicyError, match=r"metadata\.acknowledged"):
        policy(f"metadata: {{acknowledged: {text}}}\n")


def test_the_number_of_a_policy_is_that_of_what_it_says() -> None:
    """However it is written; its acknowledgement is no part of it, its name is, and so are the files that it names."""
    number = policy_id(policy("limits: {maxEvictions: 5}\n"))
    assert len(number) == 12
    assert int(number, 16) >= 0
    assert policy_id(policy('metadata: {acknowledged: "0123456789ab"}\nlimits:\n  maxEvictions: 5  # few\n')) == number
    others = [
        policy_id(policy("limits: {maxEvictions: 6}\n")),
        policy_id(policy("limits: {maxEvictions: 5}\nmetadata: {name: a}\n")),
        policy_id(policy("limits: {maxEvictions: 5}\n"), {"a": b"1"}),
        policy_id(policy("limits: {maxEvictions: 5}\n"), {"a": b"2"}),
        policy_id(policy("limits: {maxEvictions: 5}\n"), {"b": b"1"}),
    ]
    assert len({number, *others}) == 6


def test_files_of_schedulers_are_named_once() -> None:
    """Those are read as part of the policy."""
    found = policy("schedulers: [{file: /a}, {configMap: x/y}, {file: /a}, {file: /b}]\n")
    assert named_files(found) == ("/a", "/b")
